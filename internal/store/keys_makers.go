package store

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/uptrace/bun"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// UserMaker begins the maker of a key that a JWT made. The sub of the JWT follows.
const UserMaker = "user:"

// withinMakers holds a key to what the keys that made it may do now: their projects,
// scopes and ends. It lists them, the nearest first. A key whose maker has expired is not
// found. One whose maker was revoked without its children stays.
func (s *keyStore) withinMakers(ctx context.Context, k *Key) error {
	for id := k.CreatedBy; id != "" && !strings.HasPrefix(id, UserMaker); {
		var row keyRow
		there, err := keyTable.first(ctx, s.reader, &row, "k.id = ?", id)
		if err != nil || !there { // an earlier key of the instance, which has no bounds
			return err
		}
		maker, err := row.key()
		if err != nil {
			return err
		}
		if !k.holdTo(maker, s.now()) {
			return knowledge.Errorf(knowledge.CodeNotFound, "no such key")
		}
		id = maker.CreatedBy
	}
	return nil
}

// holdTo takes from a key what its maker may not do. It reports whether anything is left.
func (k *Key) holdTo(maker Key, now time.Time) bool {
	k.Makers = append(k.Makers, knowledge.KeyLimit{ID: maker.ID, QueriesPerMinute: maker.QueriesPerMinute, Limits: maker.Limits})
	if !maker.ExpiresAt.IsZero() {
		if !maker.ExpiresAt.After(now) {
			return false
		}
		if k.ExpiresAt.IsZero() || maker.ExpiresAt.Before(k.ExpiresAt) {
			k.ExpiresAt = maker.ExpiresAt
		}
	}
	if maker.Project != "" {
		if k.Project != "" && k.Project != maker.Project {
			return false
		}
		k.Project = maker.Project
	}
	if len(k.Scopes) == 0 || len(maker.Scopes) == 0 || maker.Member != "" { // package access compares them
		k.Bounds = append(k.Bounds, maker.Rights())
		return true
	}
	k.Scopes = slices.DeleteFunc(k.Scopes, func(scope knowledge.Scope) bool { return !knowledge.Includes(maker.Scopes, scope) })
	return len(k.Scopes) > 0
}

// RevokeKeyTree revokes a key and all keys that it and they have made, at once.
func (s *keyStore) RevokeKeyTree(ctx context.Context, p knowledge.Principal, id string) error {
	if err := requireWorkspace(p); err != nil {
		return err
	}
	return s.write(ctx, "revoke key "+id+" and its children", func(ctx context.Context, tx transaction) error {
		if err := revoke(ctx, tx, p, id, micros(s.now())); err != nil {
			return err
		}
		_, err := tx.NewUpdate().Model((*keyRow)(nil)).Set("revoked_at = ?", micros(s.now())).
			Where("revoked_at = 0 AND instance = FALSE AND workspace = ?", p.Workspace()).
			Where(`id IN (WITH RECURSIVE tree (id) AS (
				SELECT k.id FROM api_keys AS k WHERE k.id = ? UNION SELECT c.id FROM api_keys AS c JOIN tree ON c.created_by = tree.id
			) SELECT tree.id FROM tree)`, id).Exec(ctx)
		return err
	})
}

// maxKeysAsked is how many keys EndedKeys asks for in one statement.
const maxKeysAsked = 500

// EndedKeys returns which of these keys are no longer valid: revoked, deleted, or expired,
// themselves or a maker of theirs.
func (s *keyStore) EndedKeys(ctx context.Context, ids []string) ([]string, error) {
	var ended []string
	for some := range slices.Chunk(ids, maxKeysAsked) {
		var valid []string
		err := s.reader.NewRaw(`WITH RECURSIVE line (leaf, id) AS (
				SELECT k.id, k.id FROM api_keys AS k WHERE k.id IN (?) AND k.revoked_at = 0
				UNION SELECT line.leaf, k.created_by FROM line JOIN api_keys AS k ON k.id = line.id WHERE k.created_by <> ''
			) SELECT line.leaf FROM line LEFT JOIN api_keys AS k ON k.id = line.id
			GROUP BY line.leaf HAVING SUM(CASE WHEN k.expires_at > 0 AND k.expires_at <= ? THEN 1 ELSE 0 END) = 0`,
			bun.List(some), micros(s.now())).Scan(ctx, &valid)
		if err != nil {
			return nil, fmt.Errorf("look for ended keys: %w", failure(err))
		}
		for _, id := range some {
			if !slices.Contains(valid, id) {
				ended = append(ended, id)
			}
		}
	}
	return ended, nil
}
