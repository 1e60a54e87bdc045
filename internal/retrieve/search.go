package retrieve

import (
	"context"
	"errors"
	"fmt"
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
	vector  []float32 // of the question; nil before it is embedded
	trace   *Trace    // nil = the search is not to be explained

	mu    sync.Mutex
	usage Usage
}

// run goes through the stages of the search.
func (s *search) run(ctx context.Context) (Result, error) {
	pool, retrieved, err := s.gather(ctx)
	if err != nil {
		return Result{}, err
	}
	ranked, reranking, err := s.rerank(ctx, pool)
	if err != nil {
		return Result{}, err
	}
	chosen := s.choose(ranked)
	s.trace.keep(chosen)
	return Result{Contexts: chosen, Retrieved: retrieved, Trace: s.trace, Reranking: reranking, Usage: s.usage}, nil
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

// candidates runs the legs concurrently and fuses their hits. full is true if a
// leg reached the limit, so that there may be more.
func (s *search) candidates(ctx context.Context, limit int) (fused []knowledge.Hit, full bool, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	q := index.Query{Principal: s.request.Principal, Projects: s.request.Projects, Documents: s.request.Documents,
		Filter: s.request.Filter, Limit: limit}
	var dense, words []knowledge.Hit
	var denseErr, wordsErr error
	var legs sync.WaitGroup
	leg := func(hits *[]knowledge.Hit, err *error, find func(context.Context, index.Query) ([]knowledge.Hit, error)) {
		legs.Go(func() {
			if *hits, *err = find(ctx, q); *err != nil {
				cancel() // the other leg is not needed any more
			}
		})
	}
	if s.request.Config.Strategy != knowledge.StrategyBM25 {
		leg(&dense, &denseErr, s.dense)
	}
	if s.request.Config.Strategy != knowledge.StrategyDense {
		leg(&words, &wordsErr, s.words)
	}
	legs.Wait()
	if err := firstCause(denseErr, wordsErr); err != nil {
		return nil, false, err
	}
	fused = fuse(dense, words, s.request.Config, s.weights(dense, words))
	s.trace.legs(dense, words)
	s.trace.fused(fused)
	return fused, len(dense) == limit || len(words) == limit, nil
}

func (s *search) dense(ctx context.Context, q index.Query) ([]knowledge.Hit, error) {
	if err := q.Check(); err != nil {
		return nil, err // before the model is called
	}
	if s.vector == nil {
		stop := s.clock.start("embed")
		vectors, err := s.embed.Embed(ctx, []string{truncate(s.request.Query, maxEmbeddedRunes)})
		stop()
		if err != nil {
			return nil, fmt.Errorf("embed the question: %w", err)
		}
		if len(vectors) != 1 || len(vectors[0]) == 0 {
			return nil, fmt.Errorf("embed the question: %d vectors for one text, or one of no length", len(vectors))
		}
		s.vector = vectors[0]
	}
	defer s.clock.start("dense")()
	return s.index.Dense(ctx, q, s.vector)
}

func (s *search) words(ctx context.Context, q index.Query) ([]knowledge.Hit, error) {
	defer s.clock.start("bm25")()
	return s.index.BM25(ctx, q, s.request.Query)
}

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
