package retrieve

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/cairn-rag/cairn/internal/index"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

const (
	// maxEmbeddedRunes is the length to which a question is cut before it is
	// embedded. Models refuse texts above some thousand tokens, and the
	// beginning decides the meaning.
	maxEmbeddedRunes = 8000
	// moreCandidates is the factor by which the number of candidates grows if
	// too few of them are left.
	moreCandidates = 4
	// maxLooks is the largest number of repetitions of a search because a
	// document was published meanwhile.
	maxLooks = 5
)

// search is the state of one call of Retrieve.
type search struct {
	*Retriever
	request Request
	clock   *clock
	trace   *Trace // nil = the search is not to be explained

	probes  []*probe
	several bool // the question is several in one

	mu      sync.Mutex
	usage   Usage
	choices Choices
	causes  []error // of the stages that failed
}

// run goes through the stages of the search.
func (s *search) run(ctx context.Context) (Result, error) {
	if err := s.prepare(ctx); err != nil {
		return Result{}, err
	}
	pool, retrieved, err := s.gather(ctx)
	if err == nil && len(pool) == 0 && len(s.choices.Filter) > 0 {
		s.choices.Widened = true
		pool, retrieved, err = s.gather(ctx)
	}
	if err != nil {
		return Result{}, err
	}
	ranked, reranking, err := s.rerank(ctx, pool)
	if err != nil {
		return Result{}, err
	}
	chosen, err := s.compress(ctx, s.choose(ranked))
	if err != nil {
		return Result{}, err
	}
	s.trace.keep(chosen)
	return Result{
		Contexts: chosen, Retrieved: retrieved, Trace: s.trace, Reranking: reranking, Choices: s.choices, Causes: s.causes, Usage: s.usage,
	}, nil
}

// gather returns the passages among which the later stages choose, best first, and the
// number of distinct candidates. It requests more candidates until enough of them pass
// the recheck or there are no more. It searches again if a version was published between the query
// of the index and the recheck: SQL no longer shows the old version, and the
// index did not have the new one yet.
func (s *search) gather(ctx context.Context) (pool []Context, retrieved int, err error) {
	limit := min(s.request.Config.Candidates, index.MaxLimit)
	for again := 0; ; {
		s.trace.reset()
		candidates, full, err := s.candidates(ctx, limit)
		if err != nil {
			return nil, 0, err
		}
		found, err := s.check(ctx, candidates)
		if err != nil {
			return nil, 0, err
		}
		enough := len(found.pool) >= s.request.Config.NumberOfChunks || found.dropped == 0
		if !enough && full && limit < index.MaxLimit {
			limit = min(limit*moreCandidates, index.MaxLimit)
			continue
		}
		if again < maxLooks {
			superseded, err := s.superseded(ctx, found.hidden)
			if err != nil {
				return nil, 0, err
			}
			if superseded {
				again++
				continue
			}
		}
		return found.pool, len(candidates), nil
	}
}

// superseded reports whether SQL shows a newer version of one of the hits'
// documents.
func (s *search) superseded(ctx context.Context, hidden []knowledge.Hit) (bool, error) {
	if len(hidden) == 0 {
		return false, nil
	}
	yes, err := s.chunks.Superseded(ctx, s.request.Principal, s.request.Projects, hidden)
	if err != nil {
		return false, fmt.Errorf("check %d hidden passages: %w", len(hidden), err)
	}
	return yes, nil
}

// candidates runs the probes and merges their fused hits. full is true if a leg reached
// the limit, so that there may be more.
func (s *search) candidates(ctx context.Context, limit int) (fused []knowledge.Hit, full bool, err error) {
	q := index.Query{Principal: s.request.Principal, Projects: s.request.Projects, Documents: s.request.Documents,
		Filter: s.filter(), Limit: limit}
	var lists []found
	for _, p := range s.probes {
		dense, words, more, err := s.find(ctx, q, p)
		if err != nil {
			return nil, false, err
		}
		lists = append(lists, found{p, fuse(dense, words, s.request.Config, s.weights(p.words, dense, words))})
		s.trace.legs(dense, words)
		full = full || more
	}
	fused = merge(lists)
	s.trace.fused(fused)
	return fused, full, nil
}

// filter returns the conditions of the search: those of the caller, and those that a
// model chose unless nothing met them.
func (s *search) filter() knowledge.Filter {
	if s.choices.Widened {
		return s.request.Filter
	}
	return slices.Concat(s.request.Filter, s.choices.Filter)
}

// find runs the legs for a probe, concurrently where the strategy has both. full is true
// if a leg reached the limit.
func (s *search) find(ctx context.Context, q index.Query, p *probe) (dense, words []knowledge.Hit, full bool, err error) {
	switch s.request.Config.Strategy {
	case knowledge.StrategyDense:
		dense, err = s.dense(ctx, q, p)
		return dense, nil, len(dense) == q.Limit, err
	case knowledge.StrategyBM25:
		words, err = s.words(ctx, q, p)
		return nil, words, len(words) == q.Limit, err
	case knowledge.StrategyMultiStage:
		return s.multiStage(ctx, q, p)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var denseErr, wordsErr error
	var legs sync.WaitGroup
	legs.Go(func() {
		if dense, denseErr = s.dense(ctx, q, p); denseErr != nil {
			cancel() // the other leg is not needed any more
		}
	})
	legs.Go(func() {
		if words, wordsErr = s.words(ctx, q, p); wordsErr != nil {
			cancel()
		}
	})
	legs.Wait()
	return dense, words, len(dense) == q.Limit || len(words) == q.Limit, firstCause(denseErr, wordsErr)
}

func (s *search) dense(ctx context.Context, q index.Query, p *probe) ([]knowledge.Hit, error) {
	if err := q.Check(); err != nil {
		return nil, err // before the model is called
	}
	if p.vector == nil {
		if err := s.embedProbes(ctx); err != nil {
			return nil, fmt.Errorf("embed the question: %w", err)
		}
	}
	defer s.clock.start("dense")()
	return s.index.Dense(ctx, q, p.vector)
}

// embedProbes embeds all probes in one call.
func (s *search) embedProbes(ctx context.Context) error {
	defer s.clock.start("embed")()
	texts := make([]string, len(s.probes))
	for i, p := range s.probes {
		texts[i] = truncate(p.meaning, maxEmbeddedRunes)
	}
	vectors, err := s.embed.Embed(ctx, texts)
	if err != nil {
		return err
	}
	if len(vectors) != len(texts) || slices.ContainsFunc(vectors, func(v []float32) bool { return len(v) == 0 }) {
		return fmt.Errorf("%d vectors for %d texts, or one of no length", len(vectors), len(texts))
	}
	for i, p := range s.probes {
		p.vector = vectors[i]
	}
	return nil
}

func (s *search) words(ctx context.Context, q index.Query, p *probe) ([]knowledge.Hit, error) {
	defer s.clock.start("bm25")()
	return s.index.BM25(ctx, q, p.words)
}

// searchesByVector reports whether the strategy has the dense leg.
func (s *search) searchesByVector() bool { return s.request.Config.Strategy != knowledge.StrategyBM25 }

// firstCause returns the error that came first rather than the other leg's
// cancellation, which it caused.
func firstCause(a, b error) error {
	if a == nil || errors.Is(a, context.Canceled) && b != nil {
		return b
	}
	return a
}

func truncate(text string, runes int) string {
	for i := range text {
		if runes == 0 {
			return text[:i]
		}
		runes--
	}
	return text
}
