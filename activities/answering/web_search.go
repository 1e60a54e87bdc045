package answering

import (
	"context"
	"fmt"
	"log/slog"
	"net/url"
	"strings"

	"github.com/cairn-rag/cairn/activities/step"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/record"
	"github.com/cairn-rag/cairn/internal/retrieve"
	"github.com/cairn-rag/cairn/internal/scrape"
	"github.com/cairn-rag/cairn/internal/tool"
	"github.com/cairn-rag/cairn/internal/websearch"
)

// web searches the web.
type web struct {
	Blobs     step.Blobs
	Web       Web
	Pages     PageReader
	Retriever Retriever
	Log       *slog.Logger
}

// webSearch is one search of the web, in steps. The result of each is stored, so that
// none is repeated.
type webSearch struct {
	*web
	knowledge.RunRef
	turn, call int
	key        string // of the record.Search
	request    knowledge.Request
	query      string
	since      string
	rules      websearch.Rules
	readOnly   bool // the pages are read in any case, and those that could not be are left out
}

// newWebSearch returns a search with the settings of the project.
func (a *web) newWebSearch(run knowledge.RunRef, r knowledge.Request, query string, asked knowledge.WebRequest) (*webSearch, error) {
	if a.Web == nil {
		return nil, record.NoWebSearch()
	}
	var config knowledge.WebSearchConfig
	if c := r.Config.Tools.WebSearch; c != nil {
		config = *c
	}
	w := &webSearch{web: a, RunRef: run, request: r, query: query, since: asked.Since}
	if w.since == "" {
		w.since = config.Since()
	}
	var err error
	w.rules, err = websearch.RulesOf(config, asked.Only)
	return w, err
}

func (w *webSearch) foundKey() string { return w.WebKey("found", w.turn, w.call) }

// find asks the search engine, and keeps the results that may be used.
func (w *webSearch) find(ctx context.Context) (record.WebFound, error) {
	return step.Stored(ctx, w.Blobs, w.foundKey(), func() (record.WebFound, error) {
		var kind knowledge.WebType
		count := 0
		if c := w.request.Config.Tools.WebSearch; c != nil {
			kind, count = knowledge.WebType(c.Type), c.NumberOfResults
		}
		var found record.WebFound
		for _, only := range w.rules.Only {
			found.Only = append(found.Only, only...)
		}
		var err error
		found.Results, err = w.rules.Find(ctx, w.Web, websearch.Query{Text: w.query, Type: kind, Since: w.since, Count: count})
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
func (w *webSearch) read(ctx context.Context, found record.WebFound) ([]scrape.Page, error) {
	if !w.scrapes() || len(found.Results) == 0 {
		return nil, nil
	}
	return step.Stored(ctx, w.Blobs, w.WebKey("pages", w.turn, w.call), func() ([]scrape.Page, error) {
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
func (w *webSearch) rank(ctx context.Context, found record.WebFound, pages []scrape.Page) (record.Search, error) {
	return step.Stored(ctx, w.Blobs, w.key, func() (record.Search, error) {
		passages := w.passages(found, pages)
		search := record.Search{Retrieved: len(found.Results), Passages: passages}
		search.Web = &record.WebCounts{Total: len(found.Results), Reranker: knowledge.RerankerNone}
		texts, byID := make([]retrieve.Text, 0, len(passages)), map[string]record.Passage{}
		for _, p := range passages {
			texts = append(texts, retrieve.Text{ID: p.ID(), Text: p.Page.Title + "\n" + p.Page.Context(p).Text})
			byID[p.ID()] = p
		}
		ids, scores, done, usage, err := w.Retriever.RerankTexts(ctx, retrieve.Request{
			Principal: w.request.Principal, Query: w.query, Config: w.request.Config.AI.Retrieval, Model: w.request.Config.AI.Model, Failover: w.request.Config.AI.Failover, Memory: searchMemory{w.Blobs, w.key},
			Privacy: w.request.Config.Privacy,
		}, texts)
		if err != nil {
			return search, err
		}
		search.Reranking, search.Usage = done, usage
		if done != nil {
			if done.Failure != "" {
				w.Log.WarnContext(ctx, "pages keep their order without the reranker", "reranker", done.Reranker, "failure", done.Failure, "error", done.Cause)
			} else {
				search.Web.Reranker = done.Reranker
				search.Passages = make([]record.Passage, 0, len(ids))
				for _, id := range ids {
					p := byID[id]
					p.Score = w.rules.Score(id, scores[id])
					search.Passages = append(search.Passages, p)
				}
				sortByScore(search.Passages, func(p record.Passage) float64 { return p.Score })
			}
		}
		search.Web.Kept = len(search.Passages)
		return search, nil
	})
}

// passages returns the pages, those once that several addresses redirect to.
func (w *webSearch) passages(found record.WebFound, pages []scrape.Page) []record.Passage {
	list, seen := []record.Passage{}, map[string]bool{}
	for i, r := range found.Results {
		page := record.WebPage{URL: r.URL, Title: r.Title, Snippet: r.Snippet}
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
			list = append(list, record.Passage{Page: &page, Score: r.Score})
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
func (a *web) searchWebForTool(ctx context.Context, c tool.Call, q tool.WebQuery) (tool.Output, error) {
	w, err := a.newWebSearch(c.RunRef, c.Request, q.Query, knowledge.WebRequest{Since: knowledge.WebSince(q.Since), Only: q.Only})
	if err != nil {
		return tool.Output{}, err
	}
	w.turn, w.call, w.key = c.Turn, c.Number, c.SearchKey(c.Turn, c.Number)
	c.Show(toolUpdate, record.WebUpdate{Phase: record.PhaseWebSearch, Status: "started", Query: q.Query})
	found, err := w.find(ctx)
	if err != nil {
		return tool.Output{}, err
	}
	c.Show(toolUpdate, found.Update())
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
	c.Show(toolUpdate, record.WebUpdate{Phase: record.PhaseReranking, Status: "started"})
	search, err := w.rank(ctx, found, pages)
	if err != nil {
		return tool.Output{}, err
	}
	c.Show(toolUpdate, Reranked(search.Ranked()))
	if len(search.Passages) == 0 {
		return tool.Output{Words: nothingFound(found.Only), Usage: search.Usage}, nil
	}
	return tool.Output{Search: w.key, Found: len(search.Passages), Usage: search.Usage}, nil
}
