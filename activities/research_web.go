package activities

import (
	"context"
	"fmt"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// SearchResearchWeb searches the web for a sub-question, as the project's web_search
// does, and reads the pages. It repeats no step whose result is stored. A report cites only
// what was read, so a page that could not be read is not among those that it found.
func (a *Answering) SearchResearchWeb(ctx context.Context, in ReadInput) (FoundResult, error) {
	defer heartbeat(ctx)()
	found, err := a.searchResearchWeb(ctx, in)
	if err != nil {
		return FoundResult{}, a.fail(ctx, in.RunRef, fmt.Errorf("search the web for question %d of round %d: %w", in.Question+1, in.Round, err))
	}
	return found, nil
}

func (a *Answering) searchResearchWeb(ctx context.Context, in ReadInput) (FoundResult, error) {
	return a.searchEach(ctx, in, maxWebQueries, func(request knowledge.Request, i int, query string) (string, SearchRecord, knowledge.Usage, error) {
		w, err := a.newWebSearch(in.RunRef, request, query, knowledge.WebRequest{})
		if err != nil {
			return "", SearchRecord{}, knowledge.Usage{}, err
		}
		w.turn, w.call, w.readOnly = in.Round, in.Question*maxWebQueries+i, true
		w.key = in.key(fmt.Sprintf("web-%d", i+1))
		record, err := w.all(ctx)
		return w.key, record, record.Usage, err
	})
}

// all takes every step of the search.
func (w *webSearch) all(ctx context.Context) (SearchRecord, error) {
	found, err := w.find(ctx)
	if err != nil {
		return SearchRecord{}, err
	}
	pages, err := w.read(ctx, found)
	if err != nil {
		return SearchRecord{}, err
	}
	return w.rank(ctx, found, pages)
}
