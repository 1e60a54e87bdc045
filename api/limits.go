package api

import (
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// maxRates is how many callers are remembered before idle ones are forgotten.
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

// take takes one of perMinute, or says how long to wait for it.
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

// forget drops the buckets that are full, which is what a new one would be.
func (r *rates) forget(now time.Time) {
	for name, bucket := range r.buckets {
		if bucket.TokensAt(now) >= float64(bucket.Burst()) {
			delete(r.buckets, name)
		}
	}
}

// allowQuery counts a question against the limits of the user and of the
// project, and refuses it above them. What a user is refused does not count
// against the project, which others share.
func (s *Server) allowQuery(p knowledge.Principal, project knowledge.Project) error {
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

// streams counts the event streams that are open.
type streams struct {
	limit   int64
	open    atomic.Int64
	metrics Metrics
}

func newStreams(limit int, m Metrics) *streams { return &streams{limit: int64(limit), metrics: m} }

// openStream counts one more stream, or refuses it; release counts it off.
func (s *Server) openStream() (release func(), err error) {
	n := s.streams.open.Add(1)
	if n > s.streams.limit {
		s.streams.open.Add(-1)
		e := knowledge.Errorf(knowledge.CodeRateLimited, "%d event streams are open, which is the limit of this server; try again shortly", s.streams.limit)
		e.RetryAfter = time.Second
		return nil, e
	}
	s.streams.metrics.OpenStreams(int(n))
	return sync.OnceFunc(func() { s.streams.metrics.OpenStreams(int(s.streams.open.Add(-1))) }), nil
}
