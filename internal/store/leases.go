package store

import (
	"context"
	"fmt"
	"time"
)

// leaseStore has what processes hold for a time: keys of idempotency, uploads, the
// allowances of limits, and turns.
type leaseStore struct{ *database }

// DailyTurn reports whether it is the caller's turn to do something that is done once a
// day: nobody has had the turn of that name for a day. Of several callers at once one has
// it. A turn that was taken in the future, by a clock that was wrong, does not count.
func (s *leaseStore) DailyTurn(ctx context.Context, name string) (turn bool, err error) {
	now := s.now()
	err = s.write(ctx, "take the daily turn of "+name, func(ctx context.Context, tx transaction) error {
		turn, err = changed(tx.exec(ctx, `INSERT INTO settings (name, value) VALUES (?, ?)
			ON CONFLICT (name) DO UPDATE SET value = excluded.value WHERE settings.value < ? OR settings.value > ?`,
			"turn/"+name, now.Format(time.RFC3339), now.Add(-24*time.Hour).Format(time.RFC3339), now.Add(maxSkew).Format(time.RFC3339)))
		return err
	})
	if err != nil {
		return false, fmt.Errorf("daily turn: %w", err)
	}
	return turn, nil
}
