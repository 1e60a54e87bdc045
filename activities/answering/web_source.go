package answering

import (
	"context"
	"fmt"
	"time"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/retrieve"
	"github.com/cairn-rag/cairn/internal/scrape"
	"github.com/cairn-rag/cairn/internal/websearch"
)

// WebSource searches the web beside the documents. It implements retrieve.Web.
type WebSource struct {
	Web   Web
	Pages PageReader // nil = pages are not read
}

// sourceReserve is how long before the end of a search its pages are no longer read, so that
// the search returns in time.
const sourceReserve = 500 * time.Millisecond

// FindPages implements retrieve.Web. Pages that cannot be read in time have their snippets.
func (w WebSource) FindPages(ctx context.Context, query string, c knowledge.WebSearchConfig) ([]retrieve.Page, error) {
	rules, err := websearch.RulesOf(c, nil)
	if err != nil {
		return nil, err
	}
	results, err := rules.Find(ctx, w.Web, websearch.Query{Text: query, Type: knowledge.WebType(c.Type), Since: c.Since(), Count: c.NumberOfResults})
	if err != nil {
		return nil, fmt.Errorf("search the web: %w", err)
	}
	pages := make([]retrieve.Page, 0, len(results))
	addresses := make([]string, 0, len(results))
	for _, r := range results {
		pages = append(pages, retrieve.Page{URL: r.URL, Title: r.Title, Snippet: r.Snippet, Score: r.Score})
		addresses = append(addresses, r.URL)
	}
	if !c.Scrape || w.Pages == nil || len(pages) == 0 {
		return pages, nil
	}
	if end, ok := ctx.Deadline(); ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, end.Add(-sourceReserve))
		defer cancel()
	}
	read := w.Pages.Read(ctx, addresses, rules.AllowURL)
	var kept []retrieve.Page
	for i, p := range pages {
		if read[i].Refused {
			continue
		}
		if read[i].Text != "" {
			p.URL, p.Text = read[i].URL, scrape.Excerpt(query, read[i].Text)
		}
		kept = append(kept, p)
	}
	return kept, nil
}
