package question

import (
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// maxRates bounds the buckets that are kept before idle ones are dropped.
const maxRates = 10_000

// rates holds a token bucket for each project and user that has a limit.
type rates struct {
	now func() time.Time

	mu      sync.Mutex
	buckets map[string]*rate.Limiter
}

func newRates(now func() time.Time) *rates {
	return &rates{now: now, buckets: map[string]*rate.Limiter{}}
}

// take takes one of perMinute, or returns how long the caller has to wait for it.
func (r *rates) take(name string, perMinute int) (wait time.Duration) {
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
	return wait
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
func (s *Starter) allow(p knowledge.Principal, project knowledge.Project) error {
	refuse := func(whose string, limit int, wait time.Duration) error {
		e := knowledge.Errorf(knowledge.CodeRateLimited, "%s may ask %d questions a minute; wait and ask again", whose, limit)
		e.RetryAfter, e.Retryable = wait, true
		return e
	}
	if limit := s.cfg.UserQueriesPerMinute; limit > 0 {
		if wait := s.rates.take("u\n"+p.Workspace()+"\n"+p.Owner(), limit); wait > 0 {
			return refuse("one user", limit, wait)
		}
	}
	if limit := project.Config.Limits.QueriesPerMinute; limit > 0 {
		if wait := s.rates.take("p\n"+project.Workspace+"\n"+project.ID, limit); wait > 0 {
			return refuse("this project", limit, wait)
		}
	}
	return nil
}
