package retrieve

import (
	"context"
	"maps"
)

// ahead is the search for a question as it was asked, while the chat model decides whether
// another one is searched.
type ahead struct {
	search    *search
	cancel    context.CancelFunc
	done      chan struct{}
	pool      []Context
	retrieved int
	err       error
}

// searchAhead starts to search for the question as it was asked, nil if the model is not
// going to rewrite it, or if other stages ask models, which would be asked twice.
func (s *search) searchAhead(ctx context.Context) *ahead {
	c := s.request.Config
	if !s.request.Enhance || s.request.Explain || s.request.SelfQuery || c.Decomposes() || c.HyDE || c.Phrasings > 0 || c.Translate || c.Entities || c.Route {
		return nil
	}
	a := &ahead{search: &search{Retriever: s.Retriever, request: s.request, clock: s.clock}, done: make(chan struct{})}
	ctx, a.cancel = context.WithCancel(ctx)
	go func() {
		defer close(a.done)
		if a.err = a.search.prepare(ctx); a.err == nil {
			a.pool, a.retrieved, a.err = a.search.gather(ctx)
		}
	}()
	return a
}

// take waits for what the search finds and makes it the result of s.
func (a *ahead) take(s *search) ([]Context, int, error) {
	<-a.done
	s.probes, s.vectors, s.foreign, s.unmet = a.search.probes, a.search.vectors, a.search.foreign, a.search.unmet
	if s.choices.Failures == nil {
		s.choices.Failures = a.search.choices.Failures
	} else {
		maps.Copy(s.choices.Failures, a.search.choices.Failures)
	}
	s.causes = append(s.causes, a.search.causes...)
	s.use(a.search.usage)
	return a.pool, a.retrieved, a.err
}

// end stops the search and waits for its end. It may be called again, and on nil.
func (a *ahead) end() {
	if a != nil {
		a.cancel()
		<-a.done
	}
}
