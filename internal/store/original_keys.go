package store

import (
	"context"
	"database/sql"
	"fmt"
)

// originalKeyStore has the keys of originals, sealed with the key of the instance.
type originalKeyStore struct{ *database }

// OriginalKey implements blob.OriginalKeys.
func (s *originalKeyStore) OriginalKey(ctx context.Context, original string) (sealed string, err error) {
	_, err = first(ctx, s.reader, []any{&sealed}, "SELECT sealed FROM original_keys WHERE original = ?", original)
	if err != nil {
		return "", fmt.Errorf("read the key of original %s: %w", original, failure(err))
	}
	return sealed, nil
}

// AddOriginalKey implements blob.OriginalKeys.
func (s *originalKeyStore) AddOriginalKey(ctx context.Context, original, sealed string) (stored string, err error) {
	err = s.write(ctx, "store the key of original "+original, func(ctx context.Context, tx transaction) error {
		if _, err := tx.exec(ctx, "INSERT INTO original_keys (original, sealed) VALUES (?, ?) ON CONFLICT (original) DO NOTHING", original, sealed); err != nil {
			return err
		}
		_, err := first(ctx, tx, []any{&stored}, "SELECT sealed FROM original_keys WHERE original = ?", original)
		return err
	})
	return stored, err
}

// OriginalsWithKeys implements blob.OriginalKeys.
func (s *originalKeyStore) OriginalsWithKeys(ctx context.Context, prefix string) (list []string, err error) {
	behind := prefix[:len(prefix)-1] + "0" // '0' follows '/', with which a prefix ends
	err = each(ctx, s.reader, "SELECT original FROM original_keys WHERE original > ? AND original < ?", []any{prefix, behind}, func(rows *sql.Rows) error {
		var one string
		err := rows.Scan(&one)
		list = append(list, one)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("list the keys of originals: %w", failure(err))
	}
	return list, nil
}

// DropOriginalKeys implements blob.OriginalKeys.
func (s *originalKeyStore) DropOriginalKeys(ctx context.Context, originals []string) error {
	return s.write(ctx, "delete keys of originals", func(ctx context.Context, tx transaction) error {
		for _, original := range originals {
			if _, err := tx.exec(ctx, "DELETE FROM original_keys WHERE original = ?", original); err != nil {
				return err
			}
		}
		return nil
	})
}
