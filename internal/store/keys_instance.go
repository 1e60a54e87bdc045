package store

import (
	"context"
	"fmt"
)

// HasInstanceKey reports whether there is an admin key of the instance.
func (s *keyStore) HasInstanceKey(ctx context.Context) (bool, error) {
	var row keyRow
	there, err := keyTable.first(ctx, s.reader, &row, "k.instance = TRUE AND k.revoked_at = 0")
	if err != nil {
		return false, fmt.Errorf("look up the instance's key: %w", failure(err))
	}
	return there, nil
}
