package api

import (
	"sync/atomic"
	"time"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// streams counts the event streams that are open.
type streams struct {
	limit   int64
	count   atomic.Int64
	metrics Metrics
}

func newStreams(limit int, m Metrics) *streams { return &streams{limit: int64(limit), metrics: m} }

// open counts a stream that opens, or refuses it (CodeRateLimited); release
// counts it as closed, and is called once.
func (s *streams) open() (release func(), err error) {
	n := s.count.Add(1)
	if n > s.limit {
		s.count.Add(-1)
		e := knowledge.Errorf(knowledge.CodeRateLimited, "%d event streams are open, which is the limit of this server; try again shortly", s.limit)
		e.RetryAfter = time.Second
		return nil, e
	}
	s.metrics.OpenStreams(int(n))
	return func() { s.metrics.OpenStreams(int(s.count.Add(-1))) }, nil
}
