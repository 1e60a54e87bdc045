package question

import (
	"context"
	"fmt"
	"math"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/quota"
)

// maxRates bounds the buckets that are kept before idle ones are dropped.
const maxRates = 10_000

// limiter counts questions against limits. Safe for concurrent use.
type limiter interface {
	// take takes one of perMinute. It returns what remains of them, or how long the
	// caller has to wait for one.
	take(ctx context.Context, name string, perMinute int) (remaining int, wait time.Duration, err error)
}

// Allowance is what a limit of questions a minute still allows. The zero value means that
// there is no limit.
type Allowance struct {
	Limit     int // questions a minute
	Remaining int
	// Reset is the time until the limit allows another question, or, if some remain,
	// until it is whole again.
	Reset time.Duration
}

// newAllowance returns the allowance after a question that was allowed if wait is 0.
func newAllowance(perMinute, remaining int, wait time.Duration) Allowance {
	a := Allowance{Limit: perMinute, Remaining: remaining, Reset: wait}
	share := time.Minute / time.Duration(perMinute)
	switch {
	case wait > 0:
		a.Remaining = 0
	case remaining == 0:
		a.Reset = share
	default:
		a.Reset = time.Duration(perMinute-remaining) * share
	}
	return a
}

// tighter returns the allowance that is used up first.
func (a Allowance) tighter(b Allowance) Allowance {
	if a.Limit == 0 || b.Remaining < a.Remaining {
		return b
	}
	return a
}

// rates holds a token bucket for each key, project and user that has a limit, in the memory
// of the only process that starts questions.
type rates struct {
	now func() time.Time

	mu      sync.Mutex
	buckets map[string]*rate.Limiter
}

func newRates(now func() time.Time) *rates {
	return &rates{now: now, buckets: map[string]*rate.Limiter{}}
}

// take implements limiter.
func (r *rates) take(_ context.Context, name string, perMinute int) (remaining int, wait time.Duration, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now, limit := r.now(), rate.Limit(float64(perMinute)/60)
	bucket := r.buckets[name]
	if bucket == nil {
		if len(r.buckets) >= maxRates {
			r.forget(now)
		}
		bucket = rate.NewLimiter(limit, perMinute)
		r.buckets[name] = bucket
	}
	if bucket.Burst() != perMinute { // the limit was changed
		bucket.SetLimitAt(now, limit)
		bucket.SetBurstAt(now, perMinute)
	}
	taken := bucket.ReserveN(now, 1)
	wait = taken.DelayFrom(now)
	if wait > 0 {
		taken.CancelAt(now)
	}
	return int(max(math.Floor(bucket.TokensAt(now)), 0)), wait, nil
}

// forget drops the buckets that are full: a new one would be the same.
func (r *rates) forget(now time.Time) {
	for name, bucket := range r.buckets {
		if bucket.TokensAt(now) >= float64(bucket.Burst()) {
			delete(r.buckets, name)
		}
	}
}

// Allow counts a question that starts no run against the same limits.
func (s *Starter) Allow(ctx context.Context, p knowledge.Principal, project knowledge.Project) (Allowance, error) {
	return s.allow(ctx, p, project)
}

// allow counts a question against the limits of the key, the user and the project, and
// refuses it above them (CodeRateLimited). A refusal by the limit of one caller does not
// count against the project, which others share.
func (s *Starter) allow(ctx context.Context, p knowledge.Principal, project knowledge.Project) (Allowance, error) {
	type limit struct {
		name, whose string
		perMinute   int
	}
	var allowance Allowance
	limits := []limit{{"k\n" + p.KeyID(), "this key", s.keyLimit(p)}}
	for _, maker := range p.KeyMakers() { // so that a key cannot multiply its own limit
		limits = append(limits, limit{"k\n" + maker.ID, "the key that made this key", maker.QueriesPerMinute})
	}
	for _, l := range append(limits,
		limit{"u\n" + p.Workspace() + "\n" + p.Owner(), "one user", s.cfg.UserQueriesPerMinute},
		limit{"p\n" + project.Workspace + "\n" + project.ID, "this project", project.Config.Limits.QueriesPerMinute},
	) {
		if l.perMinute <= 0 {
			continue
		}
		remaining, wait, err := s.rates.take(ctx, l.name, l.perMinute)
		if err != nil {
			return Allowance{}, fmt.Errorf("count a question: %w", err)
		}
		left := newAllowance(l.perMinute, remaining, wait)
		if wait > 0 {
			e := knowledge.Errorf(knowledge.CodeRateLimited, "%s may ask %d questions a minute; wait and ask again", l.whose, l.perMinute)
			e.RetryAfter, e.Retryable = wait, true
			return left, e
		}
		allowance = allowance.tighter(left)
	}
	return allowance, quota.CheckDay(ctx, p, project.ID)
}

// keyLimit returns how many questions a minute the principal's key may ask, 0 = no bound.
func (s *Starter) keyLimit(p knowledge.Principal) int {
	switch own := p.KeyQueriesPerMinute(); {
	case p.KeyID() == "":
		return 0
	case own > 0:
		return own
	}
	return s.cfg.KeyQueriesPerMinute
}
