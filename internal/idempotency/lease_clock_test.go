package idempotency_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/cairn-rag/cairn/internal/idempotency"
)

// TestLeaseOfAWrongClock claims a key that a process holds whose clock is an hour ahead.
func TestLeaseOfAWrongClock(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		dies        bool
		least, most time.Duration // that the second request waits
	}{
		"a process that died is waited for as long as a lease is":   {dies: true, least: 10 * time.Second, most: 21 * time.Second},
		"a process that lives is waited for, however long it takes": {least: time.Minute, most: time.Minute + time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := newShared()
				ahead := func() time.Time { return time.Now().Add(time.Hour) }
				first := claim(t, idempotency.New(s, "a", ahead), request())
				s.dead["a"] = c.dies
				start := time.Now()
				go func() {
					time.Sleep(time.Minute)
					first.Leave()
				}()
				second := claim(t, idempotency.New(s, "b", time.Now), request())
				if waited := time.Since(start); waited < c.least || waited > c.most {
					t.Errorf("the second request waited for %v", waited)
				}
				if !second.Repeated || second.Run != first.Run {
					t.Errorf("%+v", second)
				}
				second.Leave()
				time.Sleep(time.Minute) // the first request has left too
			})
		})
	}
}
