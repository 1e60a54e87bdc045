package activities

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/cairn-rag/cairn/internal/citation"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/retrieve"
	"github.com/cairn-rag/cairn/internal/scrape"
	"github.com/cairn-rag/cairn/internal/tool"
	"github.com/cairn-rag/cairn/internal/websearch"
)

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

func (p WebPage) context(x Passage) citation.Context {
	text := p.Text
	if text == "" {
		text = p.Snippet
	}
	return citation.Context{Rank: x.Rank, URL: p.URL, Title: p.Title, Text: text, Score: x.Score}
}

// source returns the passage as an answer names it that cites the ranks in used.
func (p Passage) source(used []int) Source {
	s := Source{Rank: p.Rank, ChunkID: p.ChunkID, DocumentID: p.DocumentID, Version: p.Version, Score: p.Score, Given: p.Given}
	if p.Page != nil {
		page := *p.Page
		page.Text = ""
		s.Page, s.Used = &page, slices.Contains(used, p.Rank)
	}
	return s
}

// webSearch is one search of the web, in steps. The result of each is stored, so that
// none is repeated.
type webSearch struct {
	*Answering
	knowledge.RunRef
	turn, call int
	key        string // of the SearchRecord
	request    knowledge.Request
	query      string
	since      string
	rules      websearch.Rules
	readOnly   bool // the pages are read in any case, and those that could not be are left out
}

// newWebSearch returns a search with the settings of the project.
func (a *Answering) newWebSearch(run knowledge.RunRef, r knowledge.Request, query string, asked knowledge.WebRequest) (*webSearch, error) {
	if a.Web == nil {
		return nil, NoWebSearch()
	}
	var config knowledge.WebSearchConfig
	if c := r.Config.Tools.WebSearch; c != nil {
		config = *c
	}
	w := &webSearch{Answering: a, RunRef: run, request: r, query: query, since: asked.Since}
	if w.since == "" {
		w.since = config.Since()
	}
	var err error
	w.rules, err = websearch.RulesOf(config, asked.Only)
	return w, err
}

// NoWebSearch returns the error of an instance that searches no web.
func NoWebSearch() *knowledge.Error {
	return knowledge.Errorf(knowledge.CodeNeedsComponent,
		"this instance has no search engine: an operator sets web_search.provider (searxng, brave, serper or google) with its url or key")
}

func (w *webSearch) foundKey() string { return w.WebKey("found", w.turn, w.call) }

// find asks the search engine, and keeps the results that may be used.
func (w *webSearch) find(ctx context.Context) (WebFound, error) {
	return stored(ctx, w.Blobs, w.foundKey(), func() (WebFound, error) {
		var kind knowledge.WebType
		if c := w.request.Config.Tools.WebSearch; c != nil {
			kind = knowledge.WebType(c.Type)
		}
		var found WebFound
		for _, only := range w.rules.Only {
			found.Only = append(found.Only, only...)
		}
		var err error
		found.Results, err = w.rules.Find(ctx, w.Web, websearch.Query{Text: w.query, Type: kind, Since: w.since})
		if err != nil {
			return found, fmt.Errorf("search the web: %w", err)
		}
		return found, nil
	})
}

// scrapes reports whether the pages are read.
func (w *webSearch) scrapes() bool {
	c := w.request.Config.Tools.WebSearch
	return w.Pages != nil && (w.readOnly || c != nil && c.Scrape)
}

// read reads the pages that were found, nil if that is not wanted.
func (w *webSearch) read(ctx context.Context, found WebFound) ([]scrape.Page, error) {
	if !w.scrapes() || len(found.Results) == 0 {
		return nil, nil
	}
	return stored(ctx, w.Blobs, w.WebKey("pages", w.turn, w.call), func() ([]scrape.Page, error) {
		addresses := make([]string, 0, len(found.Results))
		for _, r := range found.Results {
			addresses = append(addresses, r.URL)
		}
		pages := w.Pages.Read(ctx, addresses, func(u *url.URL) bool { return w.rules.AllowURL(u) })
		return pages, ctx.Err()
	})
}

// countRead returns how many pages have a text.
func countRead(pages []scrape.Page) (n int) {
	for _, p := range pages {
		if p.Text != "" {
			n++
		}
	}
	return n
}

// countWithoutScripts returns how many pages seem to need scripts, which were not run.
func countWithoutScripts(pages []scrape.Page) (n int) {
	for _, p := range pages {
		if p.Scripts == scrape.ScriptsNotRun {
			n++
		}
	}
	return n
}

// rank reranks what was found by the words of the pages, or by the snippets of those that
// were not read, and stores it as a search.
func (w *webSearch) rank(ctx context.Context, found WebFound, pages []scrape.Page) (SearchRecord, error) {
	return stored(ctx, w.Blobs, w.key, func() (SearchRecord, error) {
		passages := w.passages(found, pages)
		record := SearchRecord{Retrieved: len(found.Results), Passages: passages}
		record.Web = &WebCounts{Total: len(found.Results), Reranker: knowledge.RerankerNone}
		texts, byID := make([]retrieve.Text, 0, len(passages)), map[string]Passage{}
		for _, p := range passages {
			texts = append(texts, retrieve.Text{ID: p.id(), Text: p.Page.Title + "\n" + p.Page.context(p).Text})
			byID[p.id()] = p
		}
		ids, scores, done, usage, err := w.Retriever.RerankTexts(ctx, retrieve.Request{
			Principal: w.request.Principal, Query: w.query, Config: w.request.Config.AI.Retrieval, Model: w.request.Config.AI.Model, Failover: w.request.Config.AI.Failover, Memory: searchMemory{w.Blobs, w.key},
		}, texts)
		if err != nil {
			return record, err
		}
		record.Reranking, record.Usage = done, usage
		if done != nil {
			record.Web.Reranker = done.Reranker
			if done.Failure != "" {
				w.Log.WarnContext(ctx, "pages keep their order without the reranker", "reranker", done.Reranker, "failure", done.Failure, "error", done.Cause)
			} else {
				record.Passages = make([]Passage, 0, len(ids))
				for _, id := range ids {
					p := byID[id]
					p.Score = w.rules.Score(id, scores[id])
					record.Passages = append(record.Passages, p)
				}
				sortByScore(record.Passages, func(p Passage) float64 { return p.Score })
			}
		}
		record.Web.Kept = len(record.Passages)
		return record, nil
	})
}

// passages returns the pages, those once that several addresses redirect to.
func (w *webSearch) passages(found WebFound, pages []scrape.Page) []Passage {
	list, seen := []Passage{}, map[string]bool{}
	for i, r := range found.Results {
		page := WebPage{URL: r.URL, Title: r.Title, Snippet: r.Snippet}
		if w.readOnly && (i >= len(pages) || pages[i].Text == "") {
			continue
		}
		if i < len(pages) {
			if pages[i].Refused {
				continue
			}
			if pages[i].Text != "" {
				page.URL, page.Text = pages[i].URL, scrape.Excerpt(w.query, pages[i].Text)
			}
		}
		if !seen[page.URL] {
			seen[page.URL] = true
			list = append(list, Passage{Page: &page, Score: r.Score})
		}
	}
	return list
}

// nothingFound returns what the model reads if there is no page.
func nothingFound(only []string) string {
	if len(only) == 0 {
		return "The web search found no page."
	}
	return "The web search found no page on " + strings.Join(only, ", ") + ". Pages of other domains were not to be used."
}

// searchWebForTool is the search of web_search.
func (a *Answering) searchWebForTool(ctx context.Context, c tool.Call, q tool.WebQuery) (tool.Output, error) {
	w, err := a.newWebSearch(c.RunRef, c.Request, q.Query, knowledge.WebRequest{Since: knowledge.WebSince(q.Since), Only: q.Only})
	if err != nil {
		return tool.Output{}, err
	}
	w.turn, w.call, w.key = c.Turn, c.Number, c.SearchKey(c.Turn, c.Number)
	c.Show(toolUpdate, WebUpdate{Phase: PhaseWebSearch, Status: "started", Query: q.Query})
	found, err := w.find(ctx)
	if err != nil {
		return tool.Output{}, err
	}
	c.Show(toolUpdate, found.update())
	if w.scrapes() && len(found.Results) > 0 {
		c.Show(toolUpdate, ScrapeStarted(len(found.Results)))
	}
	pages, err := w.read(ctx, found)
	if err != nil {
		return tool.Output{}, err
	}
	if pages != nil {
		c.Show(toolUpdate, ScrapeCompleted(countRead(pages), countWithoutScripts(pages)))
	}
	c.Show(toolUpdate, WebUpdate{Phase: PhaseReranking, Status: "started"})
	record, err := w.rank(ctx, found, pages)
	if err != nil {
		return tool.Output{}, err
	}
	c.Show(toolUpdate, Reranked(record.ranked()))
	if len(record.Passages) == 0 {
		return tool.Output{Words: nothingFound(found.Only), Usage: record.Usage}, nil
	}
	return tool.Output{Search: w.key, Found: len(record.Passages), Usage: record.Usage}, nil
}
