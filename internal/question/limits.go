package question

import (
	"context"
	"fmt"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// maxRates bounds the buckets that are kept before idle ones are dropped.
const maxRates = 10_000

// limiter counts questions against limits. Safe for concurrent use.
type limiter interface {
	// take takes one of perMinute, or returns how long the caller has to wait for it.
	take(ctx context.Context, name string, perMinute int) (wait time.Duration, err error)
}

// rates holds a token bucket for each project and user that has a limit, in the memory
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
func (r *rates) take(_ context.Context, name string, perMinute int) (wait time.Duration, err error) {
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
	if bucket.Burst() != perMinute { // the project was changed
		bucket.SetLimitAt(now, limit)
		bucket.SetBurstAt(now, perMinute)
	}
	taken := bucket.ReserveN(now, 1)
	wait = taken.DelayFrom(now)
	if wait > 0 {
		taken.CancelAt(now)
	}
	return wait, nil
}

// forget drops the buckets that are full: a new one would be the same.
func (r *rates) forget(now time.Time) {
	for name, bucket := range r.buckets {
		if bucket.TokensAt(now) >= float64(bucket.Burst()) {
			delete(r.buckets, name)
		}
	}
}

// allow counts a question against the limits of the user and of the project, and
// refuses it above them (CodeRateLimited). A refusal by the user's limit does not
// count against the project, which others share.
func (s *Starter) allow(ctx context.Context, p knowledge.Principal, project knowledge.Project) error {
	type limit struct {
		name, whose string
		perMinute   int
	}
	for _, l := range []limit{
		{"u\n" + p.Workspace() + "\n" + p.Owner(), "one user", s.cfg.UserQueriesPerMinute},
		{"p\n" + project.Workspace + "\n" + project.ID, "this project", project.Config.Limits.QueriesPerMinute},
	} {
		if l.perMinute <= 0 {
			continue
		}
		wait, err := s.rates.take(ctx, l.name, l.perMinute)
		if err != nil {
			return fmt.Errorf("count a question: %w", err)
		}
		if wait > 0 {
			e := knowledge.Errorf(knowledge.CodeRateLimited, "%s may ask %d questions a minute; wait and ask again", l.whose, l.perMinute)
			e.RetryAfter, e.Retryable = wait, true
			return e
		}
	}
	return nil
}
