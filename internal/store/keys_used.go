package store

import (
	"context"
	"fmt"
	"time"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// UsedStep is by how much the last use of a key is later than the stored one before it is
// stored anew.
const UsedStep = time.Minute

// MarkKeysUsed stores when keys were used last, in one transaction. It leaves a key as it is
// whose stored time is less than UsedStep before.
func (s *keyStore) MarkKeysUsed(ctx context.Context, used map[string]time.Time) error {
	return s.write(ctx, "store when keys were used", func(ctx context.Context, tx transaction) error {
		for id, at := range used {
			if _, err := tx.exec(ctx, `UPDATE api_keys SET last_used_at = ? WHERE id = ? AND last_used_at <= ?`, micros(at), id, micros(at.Add(-UsedStep))); err != nil {
				return err
			}
		}
		return nil
	})
}

// KeysOfMember lists the keys of a service account of the principal's workspace that are not
// revoked, newest first, 100 at most.
func (s *keyStore) KeysOfMember(ctx context.Context, p knowledge.Principal, name string) ([]Key, error) {
	if err := requireWholeWorkspace(p, "members"); err != nil {
		return nil, err
	}
	rows, err := keyTable.all(ctx, s.reader, "k.workspace = ? AND k.member = ? AND k.revoked_at = 0 ORDER BY k.created_at DESC, k.id DESC LIMIT 100", p.Workspace(), name)
	if err != nil {
		return nil, fmt.Errorf("list the keys of member %s: %w", name, failure(err))
	}
	list, err := decodeRows(rows, (*keyRow).key)
	return list, err
}
