package quota

import (
	"context"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/cairn-rag/cairn/internal/store"
)

const (
	// leaseShare is the part of a limit that a process leases at a time: two processes that
	// hold a lease each differ from the limit by less than 5 % together.
	leaseShare = 50
	// largestLease bounds the requests of a lease.
	largestLease = 200
	// leaseLife is how long leased requests may be used. The limit has as many again sixty
	// seconds after they were leased.
	leaseLife = 30 * time.Second
	// maxLeases is how many leases are kept before old ones are dropped.
	maxLeases = 10_000
)

// leases counts requests against limits that processes share. A process leases some requests
// at a time, so that a request seldom costs a write.
type leases struct {
	store Store

	mu   sync.Mutex
	held map[string]*lease
}

// lease is what this process may still do of a limit.
type lease struct {
	turn      *semaphore.Weighted // of 1: of several requests at once the first one leases for all
	perMinute int
	requests  int
	left      int       // what others could still take, when the requests were leased
	until     time.Time // when the requests expire
	refused   time.Time // before that time the limit has none
	refusals  int       // since a request was allowed
}

// taken is the outcome of one request.
type taken struct {
	remaining int           // requests of the limit
	wait      time.Duration // until it has one; 0 = the request is allowed
	refusals  int           // since a request was allowed
}

// take takes one request of a limit.
func (l *leases) take(ctx context.Context, now time.Time, name string, perMinute int) (taken, error) {
	held := l.of(name, now)
	if err := held.turn.Acquire(ctx, 1); err != nil {
		return taken{}, fmt.Errorf("wait for a lease of requests: %w", err)
	}
	defer held.turn.Release(1)
	wait, err := l.renew(ctx, held, now, name, perMinute)
	switch {
	case err != nil:
		return taken{}, err
	case wait > 0:
		held.refusals++
		return taken{wait: wait, refusals: held.refusals}, nil
	}
	held.requests--
	held.refusals = 0
	return taken{remaining: held.requests + held.left}, nil
}

// renew leases requests if the lease has none. It returns how long the limit has none.
func (l *leases) renew(ctx context.Context, held *lease, now time.Time, name string, perMinute int) (wait time.Duration, err error) {
	if held.perMinute != perMinute || held.until.Before(now) { // the limit was changed, or the lease is old
		held.perMinute, held.requests, held.refused = perMinute, 0, time.Time{}
	}
	if held.requests > 0 {
		return 0, nil
	}
	if held.refused.After(now) {
		return held.refused.Sub(now), nil
	}
	want := min(max(perMinute/leaseShare, 1), largestLease)
	got, err := l.store.TakeRequests(ctx, store.TokenRequest{Name: name, PerMinute: perMinute, Tokens: want, Now: now})
	if err != nil {
		return 0, fmt.Errorf("lease requests: %w", err)
	}
	held.requests, held.left, held.until, held.refused = got.Taken, got.Left, now.Add(leaseLife), now.Add(got.Wait)
	if held.requests == 0 {
		return max(got.Wait, time.Second), nil
	}
	return 0, nil
}

// of returns the lease of a limit, which may be empty.
func (l *leases) of(name string, now time.Time) *lease {
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
func (l *leases) forget(now time.Time) {
	for name, held := range l.held {
		if held.turn.TryAcquire(1) {
			if held.until.Before(now) && held.refused.Before(now) {
				delete(l.held, name)
			}
			held.turn.Release(1)
		}
	}
}
