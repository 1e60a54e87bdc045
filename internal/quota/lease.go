package quota

import (
	"context"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/cairn-rag/cairn/internal/store"
)

// maxLeases is how many leases are kept before old ones are dropped.
const maxLeases = 10_000

// LeaseConfig says how Leases lease.
type LeaseConfig struct {
	Share   int           // a lease has the limit divided by it
	Largest int           // the most of a lease
	Life    time.Duration // how long what was leased may be used
	// Take takes a lease of a limit that processes share.
	Take func(ctx context.Context, r store.TokenRequest) (store.Tokens, error)
}

// Leases counts against limits a minute that processes share. A process leases a part of a limit
// at a time, so that what is counted seldom costs a write. It is safe for concurrent use.
type Leases struct {
	cfg LeaseConfig

	mu   sync.Mutex
	held map[string]*lease
}

// NewLeases returns a Leases.
func NewLeases(cfg LeaseConfig) *Leases { return &Leases{cfg: cfg, held: map[string]*lease{}} }

// lease is what this process may still take of a limit.
type lease struct {
	turn      *semaphore.Weighted // of 1: of several callers at once the first one leases for all
	perMinute int
	tokens    int
	left      int       // what others could still take, when the tokens were leased
	until     time.Time // when the tokens expire
	refused   time.Time // before that time the limit has none
	refusals  int       // since one was taken
}

// Taken is the outcome of Take.
type Taken struct {
	Remaining int           // of the limit
	Wait      time.Duration // until the limit has one; 0 = one was taken
	Refusals  int           // since one was taken
}

// Take takes one of a limit.
func (l *Leases) Take(ctx context.Context, now time.Time, name string, perMinute int) (Taken, error) {
	held := l.of(name, now)
	if err := held.turn.Acquire(ctx, 1); err != nil {
		return Taken{}, fmt.Errorf("wait for a lease of a limit: %w", err)
	}
	defer held.turn.Release(1)
	wait, err := l.renew(ctx, held, now, name, perMinute)
	switch {
	case err != nil:
		return Taken{}, err
	case wait > 0:
		held.refusals++
		return Taken{Wait: wait, Refusals: held.refusals}, nil
	}
	held.tokens--
	held.refusals = 0
	return Taken{Remaining: held.tokens + held.left}, nil
}

// renew leases tokens if the lease has none. It returns how long the limit has none.
func (l *Leases) renew(ctx context.Context, held *lease, now time.Time, name string, perMinute int) (wait time.Duration, err error) {
	if held.perMinute != perMinute || held.until.Before(now) { // the limit was changed, or the lease is old
		held.perMinute, held.tokens, held.refused = perMinute, 0, time.Time{}
	}
	if held.tokens > 0 {
		return 0, nil
	}
	if held.refused.After(now) {
		return held.refused.Sub(now), nil
	}
	want := min(max(perMinute/l.cfg.Share, 1), l.cfg.Largest)
	got, err := l.cfg.Take(ctx, store.TokenRequest{Name: name, PerMinute: perMinute, Tokens: want, Now: now})
	if err != nil {
		return 0, fmt.Errorf("lease a part of a limit: %w", err)
	}
	held.tokens, held.left, held.until, held.refused = got.Taken, got.Left, now.Add(l.cfg.Life), now.Add(got.Wait)
	return got.Wait, nil
}

// of returns the lease of a limit, which may be empty.
func (l *Leases) of(name string, now time.Time) *lease {
	l.mu.Lock()
	defer l.mu.Unlock()
	held := l.held[name]
	if held == nil {
		if len(l.held) >= maxLeases {
			l.forget(now)
		}
		held = &lease{turn: semaphore.NewWeighted(1)}
		l.held[name] = held
	}
	return held
}

// forget drops the leases that are old. One that is in use now is not.
func (l *Leases) forget(now time.Time) {
	for name, held := range l.held {
		if held.turn.TryAcquire(1) {
			if held.until.Before(now) && held.refused.Before(now) {
				delete(l.held, name)
			}
			held.turn.Release(1)
		}
	}
}
