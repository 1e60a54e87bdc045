package store

import (
	"hash/fnv"
	"time"
)

// Phase returns the time after a multiple of Every at which the runs of a sync start, so
// that those of many syncs do not start together.
func (y Sync) Phase() time.Duration {
	h := fnv.New64a()
	_, _ = h.Write([]byte(y.ID)) // it never fails
	seconds := uint64(max(y.Every/time.Second, 1))
	return time.Duration(h.Sum64()%seconds) * time.Second
}

// NextRun returns when the schedule starts the next run of a sync after a time.
func (y Sync) NextRun(after time.Time) time.Time {
	every, phase := int64(max(y.Every/time.Second, 1)), int64(y.Phase()/time.Second)
	next := (after.Unix()-phase)/every*every + phase
	for next <= after.Unix() {
		next += every
	}
	return time.Unix(next, 0).UTC()
}
