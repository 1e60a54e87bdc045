package record

import (
	"github.com/cairn-rag/cairn/internal/citation"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/websearch"
)

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

// Update returns the event that shows the results.
func (f WebFound) Update() WebUpdate {
	u := WebSearched(len(f.Results))
	u.Data["sources"] = f.Sources()
	return u
}

// WebSearched returns the event of a search that found so many results, without them.
func WebSearched(results int) WebUpdate {
	return WebUpdate{Phase: PhaseWebSearch, Status: "completed", Data: map[string]any{"results_count": results}, OutputKey: "sources"}
}

// WebRanked is the result of RankPages. Key is the key of the Search.
type WebRanked struct {
	Key     string          `json:"key"`
	Ranked  int             `json:"ranked"` // without a reranker all pages; 0 if it failed
	Kept    int             `json:"kept"`
	Failure string          `json:"failure,omitempty"`
	Usage   knowledge.Usage `json:"usage,omitzero"`
}

// Ranked returns what the workflow learns of a ranking.
func (r Search) Ranked() WebRanked {
	ranked := WebRanked{Ranked: len(r.Passages), Kept: len(r.Passages), Usage: r.Usage}
	if r.Reranking != nil {
		ranked.Ranked, ranked.Failure = r.Reranking.Ranked, string(r.Reranking.Failure)
	}
	return ranked
}

// WebFound is the stored answer of the search engine.
type WebFound struct {
	Results []websearch.Result `json:"results"`
	// Only are the domains to which the results are restricted.
	Only []string `json:"only,omitempty"`
}

// WebPage is a page of the web that a search found.
type WebPage struct {
	URL     string `json:"url"` // after redirects, if the page was read
	Title   string `json:"title"`
	Snippet string `json:"snippet"`
	Text    string `json:"text,omitempty"` // what the model reads of the page; "" = the snippet
}

// WebCounts counts what a search of the web found and kept.
type WebCounts struct {
	Total    int    `json:"total"` // results of the search engine that may be used
	Kept     int    `json:"kept"`
	Reranker string `json:"reranker"` // knowledge.RerankerNone without one
}

// Context returns the page as the model reads it.
func (p WebPage) Context(x Passage) citation.Context {
	text := p.Text
	if text == "" {
		text = p.Snippet
	}
	return citation.Context{Rank: x.Rank, URL: p.URL, Title: p.Title, Text: text, Score: x.Score}
}

// NoWebSearch returns the error of an instance that searches no web.
func NoWebSearch() *knowledge.Error {
	return knowledge.Errorf(knowledge.CodeNeedsComponent,
		"this instance has no search engine: an operator sets web_search.provider (searxng, brave, serper or google) with its url or key")
}
