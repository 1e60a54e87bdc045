package store

import (
	"database/sql"
	"errors"
	"math"
	"time"
)

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
