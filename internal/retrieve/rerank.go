package retrieve

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"
	"time"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

const (
	// maxReranked bounds the passages that a reranker reads.
	maxReranked = 100
	// defaultRerankTime bounds the wait for a reranker, judgeTime that for the chat model
	// as a judge.
	defaultRerankTime = 5 * time.Second
	judgeTime         = 20 * time.Second
)

// settingReranker names the failure of the reranker.
const settingReranker = "reranker"

// errNotConfigured is the error of a stage whose model is not configured.
var errNotConfigured = errors.New("no such model is configured")

// Reranking says what the reranker did.
type Reranking struct {
	Reranker string  `json:"reranker"`
	Ranked   int     `json:"ranked"` // passages that it scored, 0 = the fused order stands
	Failure  Failure `json:"failure,omitempty"`
	Cause    error   `json:"-"` // of the failure, for logs
}

// Failure says why an optional stage left the search as it was.
type Failure string

// The failures of optional stages.
const (
	FailureTimeout       Failure = "timeout"         // the model took longer than the stage waits
	FailureModel         Failure = "model_failed"    // the endpoint refused, failed, or its answer cannot be read
	FailureProvider      Failure = "provider_failed" // the search engine refused, failed, or its answer cannot be read
	FailureNotConfigured Failure = "not_configured"  // the instance has no such model
)

func failureOf(ctx context.Context, err error) Failure {
	switch {
	case errors.Is(err, errNotConfigured):
		return FailureNotConfigured
	case ctx.Err() != nil, errors.Is(err, context.DeadlineExceeded):
		return FailureTimeout
	default:
		return FailureModel
	}
}

// reranks reports whether the search has a reranker.
func (s *search) reranks() bool {
	r := s.request.Config.Reranker
	return r != "" && r != knowledge.RerankerNone
}

// rerank sorts the passages by the scores of the reranker. If that fails or takes too
// long, it returns them as they are and the reason. Its error is the caller's cancellation
// or an error of the memory.
func (s *search) rerank(ctx context.Context, pool []Context) ([]Context, *Reranking, error) {
	if !s.reranks() {
		return pool, nil, nil
	}
	done := &Reranking{Reranker: s.request.Config.Reranker}
	if len(pool) == 0 {
		return pool, done, nil
	}
	defer s.clock.start("rerank")()
	score, limit := s.scorer()
	bounded, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	scores, err := remembered(bounded, s, "rerank", func() (map[string]float64, error) { return score(bounded, pool) })
	if err == nil && !covers(scores, pool) { // the index has changed since the earlier attempt
		scores, err = score(bounded, pool)
	}
	if ctx.Err() != nil {
		return nil, nil, context.Cause(ctx)
	}
	if err != nil {
		done.Failure, done.Cause = failureOf(bounded, err), err
		s.failed(settingReranker, done.Failure, err)
		s.request.Config.MinScore = 0 // it is a score of the reranker
		return pool, done, nil
	}
	done.Ranked = len(pool)
	return s.byScore(pool, scores), done, nil
}

// scorer returns the function that scores passages, and how long the search waits for it.
func (s *search) scorer() (score func(context.Context, []Context) (map[string]float64, error), limit time.Duration) {
	if s.request.Config.Reranker == knowledge.RerankerJudge {
		return s.judge, judgeTime
	}
	return s.endpointScores, cmp.Or(s.models.RerankTime, defaultRerankTime)
}

// endpointScores returns the scores of the configured reranker by chunk id.
func (s *search) endpointScores(ctx context.Context, pool []Context) (map[string]float64, error) {
	if s.models.Reranker == nil || s.request.Config.Reranker != s.models.RerankerName {
		return nil, errNotConfigured
	}
	texts := make([]string, len(pool))
	for i, c := range pool {
		texts[i] = withHeader(c.Chunk)
	}
	scores, err := s.countedRerank(ctx, texts)
	if err != nil {
		return nil, err
	}
	inRange := !slices.ContainsFunc(scores, func(score float64) bool { return score < 0 || score > 1 })
	byID := make(map[string]float64, len(pool))
	for i, c := range pool {
		byID[c.ID] = scores[i]
		if !inRange { // the endpoint returns the model's own numbers
			byID[c.ID] = 1 / (1 + math.Exp(-scores[i]))
		}
	}
	return byID, nil
}

func covers(scores map[string]float64, pool []Context) bool {
	return !slices.ContainsFunc(pool, func(c Context) bool { _, ok := scores[c.ID]; return !ok })
}

// byScore returns the passages with new scores, best first, equal ones in their order.
func (s *search) byScore(pool []Context, scores map[string]float64) []Context {
	sorted := slices.Clone(pool)
	for i, c := range sorted {
		sorted[i].Score = scores[c.ID]
		s.trace.reranked(c.ID, scores[c.ID])
	}
	slices.SortStableFunc(sorted, func(a, b Context) int { return cmp.Compare(b.Score, a.Score) })
	return sorted
}
