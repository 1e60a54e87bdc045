package question

import (
	"context"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/cairn-rag/cairn/internal/store"
)

const (
	// leasesPerMinute is how many leases use up a limit, so how many writes to SQL it
	// costs a minute. The last of the allowance may be refused to one process while
	// another has it leased.
	leasesPerMinute = 20
	// largestLease bounds the tokens of a lease.
	largestLease = 50
	// leaseLife is how long leased tokens count. After that time the limit has as many
	// again.
	leaseLife = time.Minute
)

// sharedRates counts against limits that several processes share. A process leases some
// tokens at a time from SQL, so that a question seldom costs a write.
type sharedRates struct {
	store Store
	now   func() time.Time

	mu     sync.Mutex
	leases map[string]*tokenLease
}

// tokenLease is what this process has of a limit.
type tokenLease struct {
	turn      *semaphore.Weighted // of 1: of several questions at once the first one leases for all
	perMinute int
	tokens    int
	left      int       // what others may still take, when the tokens were leased
	until     time.Time // when the tokens expire
	refused   time.Time // before that time the limit has none
}

func newSharedRates(s Store, now func() time.Time) *sharedRates {
	return &sharedRates{store: s, now: now, leases: map[string]*tokenLease{}}
}

// take implements limiter.
func (r *sharedRates) take(ctx context.Context, name string, perMinute int) (remaining int, wait time.Duration, err error) {
	now := r.now()
	l := r.lease(name, now)
	if err := l.turn.Acquire(ctx, 1); err != nil {
		return 0, 0, fmt.Errorf("wait for a lease of tokens: %w", err)
	}
	defer l.turn.Release(1)
	if l.perMinute != perMinute || l.until.Before(now) { // the project was changed, or the lease is old
		l.perMinute, l.tokens = perMinute, 0
	}
	if l.tokens == 0 && l.refused.After(now) {
		return 0, l.refused.Sub(now), nil
	}
	if l.tokens == 0 {
		want := min(max(perMinute/leasesPerMinute, 1), largestLease)
		taken, err := r.store.TakeTokens(ctx, store.TokenRequest{Name: name, PerMinute: perMinute, Tokens: want, Now: now})
		if err != nil {
			return 0, 0, fmt.Errorf("lease tokens: %w", err)
		}
		l.tokens, l.left, l.until, l.refused = taken.Taken, taken.Left, now.Add(leaseLife), now.Add(taken.Wait)
		if l.tokens == 0 {
			return 0, taken.Wait, nil
		}
	}
	l.tokens--
	return l.tokens + l.left, 0, nil
}

// lease returns the lease of a limit, which may be empty.
func (r *sharedRates) lease(name string, now time.Time) *tokenLease {
	r.mu.Lock()
	defer r.mu.Unlock()
	l := r.leases[name]
	if l == nil {
		if len(r.leases) >= maxRates {
			r.forget(now)
		}
		l = &tokenLease{turn: semaphore.NewWeighted(1)}
		r.leases[name] = l
	}
	return l
}

// forget drops the leases that are old. One that is in use now is not.
func (r *sharedRates) forget(now time.Time) {
	for name, l := range r.leases {
		if l.turn.TryAcquire(1) {
			if l.until.Before(now) && l.refused.Before(now) {
				delete(r.leases, name)
			}
			l.turn.Release(1)
		}
	}
}
