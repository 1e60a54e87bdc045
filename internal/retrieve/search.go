package retrieve

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

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
	// firstPause is half of the pause before the second repetition. Each further one is
	// twice as long.
	firstPause = 10 * time.Millisecond
)

// search is the state of one call of Retrieve.
type search struct {
	*Retriever
	request Request
	clock   *clock
	trace   *Trace // nil = the search is not to be explained

	probes  []*probe
	vectors map[string][][]float32 // of the probes, by generation
	several bool                   // the question is several in one
	foreign bool                   // the question is in another language than what it found
	placed  bool                   // scores are made of ranks or places, so nothing is added to them
	granted knowledge.Granted      // when the index was asked last
	unmet   bool                   // nothing meets the conditions, beside what is attached to the conversation

	mu      sync.Mutex
	usage   Usage
	choices Choices
	causes  []error // of the stages that failed
}

// run goes through the stages of the search.
func (s *search) run(ctx context.Context) (Result, error) {
	asked := s.searchAhead(ctx)
	defer asked.end()
	if err := s.enhanced(ctx); err != nil {
		return Result{}, err
	}
	web := s.askWeb(ctx)
	defer web.end()
	pool, retrieved, err := s.gathered(ctx, asked)
	if err == nil && (len(pool) == 0 || s.unmet) && len(s.choices.Filter) > 0 {
		s.choices.Widened = true
		pool, retrieved, err = s.gather(ctx)
	}
	if err == nil && retrieved == 0 {
		err = s.checkIndex(ctx)
	}
	if err != nil {
		return Result{}, err
	}
	fused, err := s.withPages(ctx, web, pool)
	if err != nil {
		return Result{}, err
	}
	retrieved += len(fused) - len(pool)
	ranked, reranking, err := s.rerank(ctx, fused)
	if err != nil {
		return Result{}, err
	}
	chosen, err := s.compress(ctx, s.choose(ranked))
	if err != nil {
		return Result{}, err
	}
	s.trace.keep(chosen)
	if s.request.Web != nil {
		s.choices.Sources = sourcesOf(chosen)
	}
	return Result{
		Contexts: chosen, Retrieved: retrieved, Trace: s.trace, Reranking: reranking, Choices: s.choices, Causes: s.causes, Usage: s.usage,
	}, nil
}

// gathered prepares the search and gathers. It takes what the search for the question as it
// was asked has found, if no other question is searched.
func (s *search) gathered(ctx context.Context, asked *ahead) (pool []Context, retrieved int, err error) {
	if asked != nil && s.choices.Question == "" {
		return asked.take(s)
	}
	asked.end()
	if err := s.prepare(ctx); err != nil {
		return nil, 0, err
	}
	return s.gather(ctx)
}

// gather returns the passages among which the later stages choose, best first, and the
// number of distinct candidates. It requests more candidates until enough of them pass
// the recheck or there are no more. It searches again if a version was published between the query
// of the index and the recheck: SQL no longer shows the old version, and the
// index did not have the new one yet. So it does if a project reads another generation by
// then.
func (s *search) gather(ctx context.Context) (pool []Context, retrieved int, err error) {
	limit := min(s.request.Config.Candidates, index.MaxLimit)
	for again := 0; ; {
		s.trace.reset()
		if s.granted, err = s.chunks.Granted(ctx, s.request.Principal); err != nil {
			return nil, 0, fmt.Errorf("read the grants: %w", err)
		}
		groups, err := s.groups(ctx)
		if err != nil {
			return nil, 0, err
		}
		candidates, full, err := s.candidates(ctx, groups, limit)
		if err != nil {
			return nil, 0, err
		}
		found, err := s.check(ctx, groups, candidates)
		if err != nil {
			return nil, 0, err
		}
		if !s.foreign && s.isForeign(groups, found.pool) {
			s.foreign = true
			continue // with other weights
		}
		enough := found.enough(s.request.Config.NumberOfChunks, s.request.Config.PerDocument)
		if !enough && full && limit < index.MaxLimit {
			limit = min(limit*moreCandidates, index.MaxLimit)
			continue
		}
		if again < maxLooks {
			changed, err := s.changed(ctx, groups, found.hidden, again)
			if err != nil {
				return nil, 0, err
			}
			if changed {
				again++
				continue
			}
		}
		return found.pool, len(candidates), nil
	}
}

// pause waits before a search is repeated: not the first time, because an index mostly has
// the new version by then, and later ever longer, because another process may be writing it.
func pause(ctx context.Context, again int) error {
	if again == 0 {
		return nil
	}
	select {
	case <-time.After(firstPause << again):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// changed reports whether the search has to be repeated. It waits before it says so, but
// for the first time.
func (s *search) changed(ctx context.Context, groups []*group, hidden []knowledge.Hit, again int) (bool, error) {
	yes, err := s.superseded(ctx, hidden)
	if !yes && err == nil {
		yes, err = s.moved(ctx, groups)
	}
	if !yes || err != nil {
		return false, err
	}
	return true, pause(ctx, again)
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

// candidates searches each generation and fuses the hits. full is true if a leg reached
// the limit, so that there may be more.
func (s *search) candidates(ctx context.Context, groups []*group, limit int) (fused []knowledge.Hit, full bool, err error) {
	var lists [][]knowledge.Hit
	for _, g := range groups {
		hits, more, err := s.inGroup(ctx, g, limit)
		if err != nil {
			return nil, false, err
		}
		lists, full = append(lists, hits), full || more
	}
	if len(lists) == 1 {
		fused = lists[0]
	} else {
		fused = across(lists)
	}
	s.unmet = len(fused) == 0
	attached, err := s.attachments(ctx, groups, limit)
	if err != nil {
		return nil, false, err
	}
	s.placed = len(lists) > 1 || len(attached) > 0 || s.request.Config.Fusion == knowledge.FusionRRF
	fused = withAttachments(fused, attached, s.request.Config.NumberOfChunks)
	s.trace.fused(fused)
	return fused, full, nil
}

// inGroup runs the probes in a generation and merges their fused hits.
func (s *search) inGroup(ctx context.Context, g *group, limit int) (fused []knowledge.Hit, full bool, err error) {
	q := index.Query{Principal: s.request.Principal, Granted: s.granted, Projects: s.request.Projects, Documents: s.request.Documents,
		Filter: s.filter(), Generation: g.Name, Limit: limit}
	if g.Projects != nil {
		q.Projects = g.Projects
	}
	var lists []found
	for i, p := range s.probes {
		dense, words, more, err := s.findOrWords(ctx, g, q, i)
		if err != nil {
			return nil, false, err
		}
		lists = append(lists, found{p, s.fused(g, p, dense, words)})
		s.trace.legs(dense, words)
		full = full || more
	}
	linked, err := s.linked(ctx, g, q)
	if err != nil {
		return nil, false, err
	}
	s.trace.linked(linked)
	return withLinks(merge(lists), linked), full, nil
}

// fused makes one list of the hits of both legs for a probe in a generation.
func (s *search) fused(g *group, p *probe, dense, words []knowledge.Hit) []knowledge.Hit {
	config := s.request.Config
	config.Strategy = s.strategy(g)
	fused := fuse(dense, words, config, s.weights(g, p.words, dense, words))
	if p.hypothesis && config.Weights == nil && len(dense) > 0 && len(words) > 0 && config.Strategy == knowledge.StrategyHybrid {
		return best(normalise(dense), fused) // the words of the question hold back nothing that the hypothesis found
	}
	return fused
}

// findOrWords is find, but by words alone if the generation's model cannot be asked, which
// is noted.
func (s *search) findOrWords(ctx context.Context, g *group, q index.Query, probe int) (dense, words []knowledge.Hit, full bool, err error) {
	dense, words, full, err = s.find(ctx, g, q, probe)
	if err == nil || g.byWords || !errors.Is(err, ErrCannotBeAsked) && !knowledge.IsCode(err, knowledge.CodeConflict) {
		return dense, words, full, err
	}
	g.byWords = true
	s.cannotBeAsked(ctx, err)
	return s.find(ctx, g, q, probe)
}

// find runs the legs for a probe, concurrently where the strategy has both. full is true
// if a leg reached the limit.
func (s *search) find(ctx context.Context, g *group, q index.Query, probe int) (dense, words []knowledge.Hit, full bool, err error) {
	p := s.probes[probe]
	switch s.strategy(g) {
	case knowledge.StrategyDense:
		dense, err = s.dense(ctx, g, q, probe)
		return dense, nil, len(dense) == q.Limit, err
	case knowledge.StrategyBM25:
		words, err = s.words(ctx, q, p)
		return nil, words, len(words) == q.Limit, err
	case knowledge.StrategyMultiStage:
		return s.multiStage(ctx, g, q, probe)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var denseErr, wordsErr error
	var legs sync.WaitGroup
	legs.Go(func() {
		if dense, denseErr = s.dense(ctx, g, q, probe); denseErr != nil {
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

func (s *search) dense(ctx context.Context, g *group, q index.Query, probe int) ([]knowledge.Hit, error) {
	if err := q.Check(); err != nil {
		return nil, err // before the model is called
	}
	if g.vectors == nil {
		if err := s.embedProbes(ctx, g); err != nil {
			return nil, fmt.Errorf("embed the question: %w", err)
		}
	}
	defer s.clock.start("dense")()
	return s.index.Dense(ctx, q, g.vectors[probe])
}

// embedProbes embeds all probes in one call.
func (s *search) embedProbes(ctx context.Context, g *group) error {
	defer s.clock.start("embed")()
	texts := make([]string, len(s.probes))
	for i, p := range s.probes {
		texts[i] = truncate(p.meaning, maxEmbeddedRunes)
	}
	vectors, err := s.countedEmbed(ctx, g.embed, texts)
	if err != nil {
		return err
	}
	if len(vectors) != len(texts) || slices.ContainsFunc(vectors, func(v []float32) bool { return len(v) == 0 }) {
		return fmt.Errorf("%d vectors for %d texts, or one of no length", len(vectors), len(texts))
	}
	g.vectors, s.vectors[g.Name] = vectors, vectors
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
