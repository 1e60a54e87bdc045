package store

import (
	"context"
	"fmt"
	"time"
)

// ClaimSecretCheck reports whether the service of a connection is to be asked when the secret
// expires, because nobody has asked since a time. It notes that somebody does now.
func (s *syncStore) ClaimSecretCheck(ctx context.Context, c Connection, since, now time.Time) (claimed bool, err error) {
	err = s.write(ctx, "note the check of the secret of connection "+c.ID, func(ctx context.Context, tx transaction) error {
		claimed, err = changed(tx.exec(ctx, "UPDATE connections SET secret_asked_at = ? WHERE id = ? AND workspace = ? AND sealed = ? AND secret_asked_at < ?", micros(now), c.ID, c.Workspace, c.Sealed, micros(since)))
		return err
	})
	return claimed, err
}

// SetSecretEnds stores when the secret of a connection expires, zero = it is not known, unless
// the connection has another secret by now.
func (s *syncStore) SetSecretEnds(ctx context.Context, c Connection, ends time.Time) error {
	return s.write(ctx, "store the end of the secret of connection "+c.ID, func(ctx context.Context, tx transaction) error {
		_, err := tx.exec(ctx, "UPDATE connections SET secret_ends = ? WHERE id = ? AND workspace = ? AND sealed = ?", micros(ends), c.ID, c.Workspace, c.Sealed)
		return err
	})
}

// EndsOfSecrets returns when the secrets of connections expire, of all workspaces and of those whose
// services tell it, by the ids of the connections.
func (s *syncStore) EndsOfSecrets(ctx context.Context) (map[string]time.Time, error) {
	rows, err := connectionTable.all(ctx, s.reader, "c.secret_ends > 0 ORDER BY c.secret_ends, c.id LIMIT ?", maxConnections)
	if err != nil {
		return nil, fmt.Errorf("read the ends of the secrets of connections: %w", failure(err))
	}
	ends := make(map[string]time.Time, len(rows))
	for _, r := range rows {
		ends[r.ID] = fromMicros(r.SecretEnds)
	}
	return ends, nil
}
