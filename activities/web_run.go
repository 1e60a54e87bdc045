package activities

import (
	"cmp"
	"context"
	"slices"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/websearch"
)

// toolUpdate is the name of the events of a tool that searches the web.
const toolUpdate = "tool_update"

// The phases of a search of the web.
const (
	PhaseWebSearch  = "WEB_SEARCH"
	PhaseScraping   = "SCRAPING_URLS"
	PhaseReranking  = "RERANKING"
	PhaseGeneration = "GENERATION"
)

// WebUpdate is the data of a tool_update event of web_search. In the log of a run it has
// neither query nor sources, which are in the blob that the event names.
type WebUpdate struct {
	Phase    string         `json:"phase,omitempty"`
	Status   string         `json:"status,omitempty"`
	Query    string         `json:"query,omitempty"`
	Data     map[string]any `json:"data,omitempty"`
	Reranked *int           `json:"reranked_results,omitempty"`
	Sources  any            `json:"sources,omitempty"`
	// OutputKey is the key of the output object that the event tells in advance.
	OutputKey string `json:"output_key,omitempty"`
}

// RankedResult is a result of the search engine as WEB_SEARCH shows it.
type RankedResult struct {
	Rank int `json:"rank"`
	websearch.Result
}

// Sources returns the results of the search engine with their ranks.
func (f WebFound) Sources() []RankedResult {
	list := make([]RankedResult, 0, len(f.Results))
	for i, r := range f.Results {
		list = append(list, RankedResult{i + 1, r})
	}
	return list
}

func (f WebFound) update() WebUpdate {
	u := WebSearched(len(f.Results))
	u.Data["sources"] = f.Sources()
	return u
}

// WebSearched returns the event of a search that found so many results, without them.
func WebSearched(results int) WebUpdate {
	return WebUpdate{Phase: PhaseWebSearch, Status: "completed", Data: map[string]any{"results_count": results}, OutputKey: "sources"}
}

// ScrapeStarted returns the event before pages are read.
func ScrapeStarted(urls int) WebUpdate {
	return WebUpdate{Phase: PhaseScraping, Status: "started", Data: map[string]any{"url_count": urls}}
}

// ScrapeCompleted returns the event after pages were read.
// withoutScripts counts those whose scripts could not be run.
func ScrapeCompleted(read, withoutScripts int) WebUpdate {
	data := map[string]any{"scraped_count": read}
	if withoutScripts > 0 {
		data["without_scripts"] = withoutScripts
	}
	return WebUpdate{Phase: PhaseScraping, Status: "completed", Data: data}
}

// Reranked returns the event after a reranking.
func Reranked(r WebRanked) WebUpdate {
	data := map[string]any{"reranked_count": r.Ranked}
	if r.Failure != "" {
		data["failure"] = r.Failure
	}
	return WebUpdate{Phase: PhaseReranking, Status: "completed", Data: data}
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

// WebRanked is the result of RankPages. Key is that of the SearchRecord.
type WebRanked struct {
	Key     string          `json:"key"`
	Ranked  int             `json:"ranked"` // without a reranker all pages; 0 if it failed
	Kept    int             `json:"kept"`
	Failure string          `json:"failure,omitempty"`
	Usage   knowledge.Usage `json:"usage,omitzero"`
}

// ranked returns what the workflow learns of a ranking.
func (r SearchRecord) ranked() WebRanked {
	ranked := WebRanked{Ranked: len(r.Passages), Kept: len(r.Passages), Usage: r.Usage}
	if r.Reranking != nil {
		ranked.Ranked, ranked.Failure = r.Reranking.Ranked, string(r.Reranking.Failure)
	}
	return ranked
}

// SearchWeb asks the search engine for the query of a run.
func (a *Answering) SearchWeb(ctx context.Context, in WebInput) (WebStep, error) {
	defer heartbeat(ctx)()
	w, found, err := a.webOfRun(ctx, in)
	if err != nil {
		return WebStep{}, a.fail(ctx, in.RunRef, err)
	}
	return WebStep{Key: w.foundKey(), Count: len(found.Results), Scrape: w.scrapes()}, nil
}

// ReadPages reads the pages that SearchWeb found.
func (a *Answering) ReadPages(ctx context.Context, in WebInput) (WebStep, error) {
	defer heartbeat(ctx)()
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
func (a *Answering) RankPages(ctx context.Context, in WebInput) (WebRanked, error) {
	defer heartbeat(ctx)()
	ranked, err := a.rankPages(ctx, in)
	if err != nil {
		return WebRanked{}, a.fail(ctx, in.RunRef, err)
	}
	return ranked, nil
}

func (a *Answering) rankPages(ctx context.Context, in WebInput) (WebRanked, error) {
	w, found, err := a.webOfRun(ctx, in)
	if err != nil {
		return WebRanked{}, err
	}
	pages, err := w.read(ctx, found)
	if err != nil {
		return WebRanked{}, err
	}
	record, err := w.rank(ctx, found, pages)
	if err != nil {
		return WebRanked{}, err
	}
	ranked := record.ranked()
	ranked.Key = w.key
	return ranked, nil
}

// webOfRun returns the search of a run that is nothing else, and what it found.
func (a *Answering) webOfRun(ctx context.Context, in WebInput) (*webSearch, WebFound, error) {
	request, err := ReadRequest(ctx, a.Blobs, in.RunRef)
	if err != nil {
		return nil, WebFound{}, err
	}
	var asked knowledge.WebRequest
	if request.Web != nil {
		asked = *request.Web
	}
	w, err := a.newWebSearch(in.RunRef, request, request.Question, asked)
	if err != nil {
		return nil, WebFound{}, err
	}
	w.key = in.FirstSearchKey()
	found, err := w.find(ctx)
	return w, found, err
}

// withoutPages returns the answer to a search of the web that found nothing. The model is
// not asked: it could only guess.
func (a *Answering) withoutPages(ctx context.Context, in ModelCallInput, r knowledge.Request, p *publisher) (TurnRecord, error) {
	var found WebFound
	if err := a.Blobs.GetJSON(ctx, in.WebKey("found", 0, 0), &found); err != nil {
		return TurnRecord{}, err
	}
	text := nothingFound(found.Only)
	p.write(text)
	return TurnRecord{Raw: text, Text: text, Model: cmp.Or(r.Config.AI.Model, a.Chat.Endpoint().Model)}, nil
}

// sortByScore sorts a list by falling scores. Equal ones keep their order.
func sortByScore[T any](list []T, score func(T) float64) {
	slices.SortStableFunc(list, func(a, b T) int { return cmp.Compare(score(b), score(a)) })
}
