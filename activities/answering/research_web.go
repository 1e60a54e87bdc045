package answering

import (
	"context"
	"fmt"

	"github.com/cairn-rag/cairn/activities/step"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/record"
)

// SearchResearchWeb searches the web for a sub-question, as the project's web_search
// does, and reads the pages. It repeats no step whose result is stored. A report cites only
// what was read, so a page that could not be read is not among those that it found.
func (a *TakingNotes) SearchResearchWeb(ctx context.Context, in ReadInput) (FoundResult, error) {
	defer step.Heartbeat(ctx)()
	found, err := a.searchResearchWeb(ctx, in)
	if err != nil {
		return FoundResult{}, a.fail(ctx, in.RunRef, fmt.Errorf("search the web for question %d of round %d: %w", in.Question+1, in.Round, err))
	}
	return found, nil
}

func (a *TakingNotes) searchResearchWeb(ctx context.Context, in ReadInput) (FoundResult, error) {
	return a.searchEach(ctx, in, maxWebQueries, func(request knowledge.Request, i int, query string) (string, record.Search, knowledge.Usage, error) {
		w, err := a.web.newWebSearch(in.RunRef, request, query, knowledge.WebRequest{})
		if err != nil {
			return "", record.Search{}, knowledge.Usage{}, err
		}
		w.turn, w.call, w.readOnly = in.Round, in.Question*maxWebQueries+i, true
		w.key = in.key(fmt.Sprintf("web-%d", i+1))
		found, err := w.all(ctx)
		return w.key, found, found.Usage, err
	})
}

// all takes every step of the search.
func (w *webSearch) all(ctx context.Context) (record.Search, error) {
	found, err := w.find(ctx)
	if err != nil {
		return record.Search{}, err
	}
	pages, err := w.read(ctx, found)
	if err != nil {
		return record.Search{}, err
	}
	return w.rank(ctx, found, pages)
}
