package answering

import (
	"cmp"
	"context"
	"slices"

	"github.com/cairn-rag/cairn/activities/step"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/record"
)

// toolUpdate is the name of the events of a tool that searches the web.
const toolUpdate = "tool_update"

// ScrapeStarted returns the event before pages are read.
func ScrapeStarted(urls int) record.WebUpdate {
	return record.WebUpdate{Phase: record.PhaseScraping, Status: "started", Data: map[string]any{"url_count": urls}}
}

// ScrapeCompleted returns the event after pages were read.
// withoutScripts counts those whose scripts could not be run.
func ScrapeCompleted(read, withoutScripts int) record.WebUpdate {
	data := map[string]any{"scraped_count": read}
	if withoutScripts > 0 {
		data["without_scripts"] = withoutScripts
	}
	return record.WebUpdate{Phase: record.PhaseScraping, Status: "completed", Data: data}
}

// Reranked returns the event after a reranking.
func Reranked(r record.WebRanked) record.WebUpdate {
	data := map[string]any{"reranked_count": r.Ranked}
	if r.Failure != "" {
		data["failure"] = r.Failure
	}
	return record.WebUpdate{Phase: record.PhaseReranking, Status: "completed", Data: data}
}

// SearchingWeb holds the activities of a run that is a search of the web.
type SearchingWeb struct {
	stepLog

	Blobs step.Blobs
	web   *web
}

// WebInput names the run of a search of the web.
type WebInput struct {
	knowledge.RunRef
}

// WebStep is the result of SearchWeb and ReadPages: the blob with the results, and how
// many there are.
type WebStep struct {
	Key    string `json:"key,omitempty"`
	Count  int    `json:"count"`
	Scrape bool   `json:"scrape,omitempty"` // the pages are to be read
	// WithoutScripts is the number of pages that seem to need scripts, which could not be
	// run.
	WithoutScripts int `json:"without_scripts,omitempty"`
}

// SearchWeb asks the search engine for the query of a run.
func (a *SearchingWeb) SearchWeb(ctx context.Context, in WebInput) (WebStep, error) {
	defer step.Heartbeat(ctx)()
	w, found, err := a.webOfRun(ctx, in)
	if err != nil {
		return WebStep{}, a.fail(ctx, in.RunRef, err)
	}
	return WebStep{Key: w.foundKey(), Count: len(found.Results), Scrape: w.scrapes()}, nil
}

// ReadPages reads the pages that SearchWeb found.
func (a *SearchingWeb) ReadPages(ctx context.Context, in WebInput) (WebStep, error) {
	defer step.Heartbeat(ctx)()
	w, found, err := a.webOfRun(ctx, in)
	if err != nil {
		return WebStep{}, a.fail(ctx, in.RunRef, err)
	}
	pages, err := w.read(ctx, found)
	if err != nil {
		return WebStep{}, a.fail(ctx, in.RunRef, err)
	}
	return WebStep{Count: countRead(pages), WithoutScripts: countWithoutScripts(pages)}, nil
}

// RankPages reranks what SearchWeb and ReadPages found, and stores it as the search of the
// run.
func (a *SearchingWeb) RankPages(ctx context.Context, in WebInput) (record.WebRanked, error) {
	defer step.Heartbeat(ctx)()
	ranked, err := a.rankPages(ctx, in)
	if err != nil {
		return record.WebRanked{}, a.fail(ctx, in.RunRef, err)
	}
	return ranked, nil
}

func (a *SearchingWeb) rankPages(ctx context.Context, in WebInput) (record.WebRanked, error) {
	w, found, err := a.webOfRun(ctx, in)
	if err != nil {
		return record.WebRanked{}, err
	}
	pages, err := w.read(ctx, found)
	if err != nil {
		return record.WebRanked{}, err
	}
	search, err := w.rank(ctx, found, pages)
	if err != nil {
		return record.WebRanked{}, err
	}
	ranked := search.Ranked()
	ranked.Key = w.key
	return ranked, nil
}

// webOfRun returns the search of a run that is nothing else, and what it found.
func (a *SearchingWeb) webOfRun(ctx context.Context, in WebInput) (*webSearch, record.WebFound, error) {
	request, err := record.ReadRequest(ctx, a.Blobs, in.RunRef)
	if err != nil {
		return nil, record.WebFound{}, err
	}
	var asked knowledge.WebRequest
	if request.Web != nil {
		asked = *request.Web
	}
	w, err := a.web.newWebSearch(in.RunRef, request, request.Question, asked)
	if err != nil {
		return nil, record.WebFound{}, err
	}
	w.key = in.FirstSearchKey()
	found, err := w.find(ctx)
	return w, found, err
}

// withoutPages returns the answer to a search of the web that found nothing. The model is
// not asked: it could only guess.
func (a *CallingModels) withoutPages(ctx context.Context, in ModelCallInput, r knowledge.Request, p *publisher) (record.ModelCall, error) {
	var found record.WebFound
	if err := a.Blobs.GetJSON(ctx, in.WebKey("found", 0, 0), &found); err != nil {
		return record.ModelCall{}, err
	}
	text := nothingFound(found.Only)
	p.write(text)
	return record.ModelCall{Raw: text, Text: text, Model: cmp.Or(r.Config.AI.Model, a.chats.Chat.Endpoint().Model)}, nil
}

// sortByScore sorts a list by falling scores. Equal ones keep their order.
func sortByScore[T any](list []T, score func(T) float64) {
	slices.SortStableFunc(list, func(a, b T) int { return cmp.Compare(score(b), score(a)) })
}
