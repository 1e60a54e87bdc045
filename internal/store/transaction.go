package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/uptrace/bun"
)

// write runs work in a transaction in which what it reads is still true when it
// writes, as if no other one ran beside it. Errors are wrapped with doing. work must
// use the store through tx alone. It may run several times before one run is
// committed, and must begin each time from the same values.
func (s *Store) write(ctx context.Context, doing string, work func(ctx context.Context, tx transaction) error) error {
	var woken []WebhookQueue
	err := s.engine.transact(ctx, s.writer, func(ctx context.Context, tx bun.Tx) error {
		woken = nil
		return work(ctx, transaction{tx, s.writer, &woken})
	})
	if err != nil {
		return fmt.Errorf("%s: %w", doing, failure(err))
	}
	for _, q := range woken {
		select {
		case s.woken <- q:
		default: // RestlessQueues lists it
		}
	}
	s.writer.prepareWanted(ctx)
	return nil
}

// changed reports whether a statement touched a row.
func changed(result sql.Result, err error) (bool, error) {
	if err != nil {
		return false, err
	}
	n, err := result.RowsAffected()
	return n > 0, err
}

// found returns false for the error "no rows".
func found(err error) (bool, error) {
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	return err == nil, err
}

// micros is t as it is stored, 0 for the zero time.
func micros(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMicro()
}

// bound is the column of a time before which rows are listed: all rows for the zero time.
func bound(before time.Time) int64 {
	if before.IsZero() {
		return math.MaxInt64
	}
	return before.UnixMicro()
}

// fromMicros is the time that micros stored.
func fromMicros(us int64) time.Time {
	if us == 0 {
		return time.Time{}
	}
	return time.UnixMicro(us).UTC()
}

// maxSkew is by how much the clocks of processes may differ. A time that is further ahead
// than that was written by a clock that was wrong.
const maxSkew = 5 * time.Minute

// now is the time of the clock.
func (s *Store) now() time.Time { return s.clock().UTC() }

// orNow returns t, or the time of the clock for the zero time.
func (s *Store) orNow(t time.Time) time.Time {
	if t.IsZero() {
		return s.now()
	}
	return t.UTC()
}
