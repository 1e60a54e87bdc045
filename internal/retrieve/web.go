package retrieve

import (
	"context"
	"slices"
	"time"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
)

const (
	// webTime bounds the search of the web, from the moment at which the question is known.
	webTime = 5 * time.Second
	// webStep is how many ranks of the documents a rank of the web counts: somebody chose
	// the documents, and nobody the web.
	webStep = 2
)

// Web finds pages of the web. It is safe for concurrent use.
type Web interface {
	// FindPages returns pages, best first, before ctx ends. It returns the errors of the
	// search engine, or the cause of ctx.
	FindPages(ctx context.Context, query string, settings knowledge.WebSearchConfig) ([]Page, error)
}

// Page is a page of the web that a search found.
type Page struct {
	URL     string  `json:"url"`
	Title   string  `json:"title"`
	Snippet string  `json:"snippet"`
	Text    string  `json:"text,omitempty"` // what was read of the page; "" = it was not
	Score   float64 `json:"score"`          // between 0 and 1, of the search engine
}

// Words returns what a model reads of the page.
func (p Page) Words() string {
	if p.Text == "" {
		return p.Snippet
	}
	return p.Text
}

// The sources of passages.
const (
	SourceDocuments = "documents" // of projects
	SourceFiles     = "files"     // of the conversation
	SourceWeb       = "web"
)

// Source returns where the passage is from.
func (c Context) Source() string {
	switch {
	case c.Page != nil:
		return SourceWeb
	case c.Document.ConversationID != "":
		return SourceFiles
	}
	return SourceDocuments
}

// container returns what the passage is a part of: the id of its document, or the address
// of the page.
func (c Context) container() string {
	if c.Page != nil {
		return c.Page.URL
	}
	return c.DocumentID
}

// onWeb is a search of the web that runs beside the search of the documents.
type onWeb struct {
	found  chan struct{} // closed when pages and err are set
	pages  []Page
	err    error
	ctx    context.Context // ends after webTime
	cancel context.CancelFunc
}

// SearchesWeb reports whether the question is for the web too. One of chosen documents, or
// with conditions that only documents meet, is not.
func (r Request) SearchesWeb() bool {
	return r.Web != nil && len(r.Documents) == 0 && len(r.Filter) == 0
}

// askWeb starts the search of the web, nil without one. The caller cancels it.
func (s *search) askWeb(ctx context.Context) *onWeb {
	if !s.request.SearchesWeb() {
		return nil
	}
	w := &onWeb{found: make(chan struct{})}
	w.ctx, w.cancel = context.WithTimeout(ctx, webTime)
	query, settings := s.request.Query, *s.request.Web
	go func() {
		defer close(w.found)
		defer s.clock.start("web")()
		if s.models.Web == nil {
			w.err = errNotConfigured
			return
		}
		w.pages, w.err = remembered(w.ctx, s, "web", func() ([]Page, error) { return s.models.Web.FindPages(w.ctx, query, settings) })
	}()
	return w
}

// end ends the search of the web if it still runs.
func (w *onWeb) end() {
	if w != nil {
		w.cancel()
	}
}

// wait returns the pages, or the error of the search when its time is over.
func (w *onWeb) wait() ([]Page, error) {
	select {
	case <-w.found:
		return w.pages, w.err
	case <-w.ctx.Done():
	}
	select {
	case <-w.found: // at the same moment
		return w.pages, w.err
	default:
		return nil, context.Cause(w.ctx)
	}
}

// withPages returns the passages of the documents and the pages of the web, best first. It
// waits for the web until its time is over, and then continues without it, which is noted.
func (s *search) withPages(ctx context.Context, w *onWeb, pool []Context) ([]Context, error) {
	if w == nil {
		return pool, nil
	}
	pages, err := w.wait()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if err != nil {
		failure := failureOf(w.ctx, err)
		if failure == FailureModel {
			failure = FailureProvider
		}
		s.failed("web", failure, err)
		return pool, nil
	}
	beside := pagesBeside(pool, pages)
	s.trace.web(beside)
	fused := fuseSources(pool, beside)
	s.trace.placed(fused)
	return fused, nil
}

// pagesBeside returns the pages as passages, without those that have nearly the same text
// as a document or a better page, or that a document was made of.
func pagesBeside(pool []Context, pages []Page) []Context {
	var texts duplicates
	known := map[string]bool{}
	for _, c := range pool {
		texts.seen(c.Text)
		known[c.Document.ExternalID] = true
	}
	var list []Context
	for _, p := range pages {
		if p.URL == "" || p.Words() == "" || known[p.URL] || texts.seen(p.Words()) {
			continue
		}
		known[p.URL] = true
		list = append(list, Context{Page: &p, Score: p.Score, ChunkView: store.ChunkView{
			Chunk: knowledge.Chunk{ID: p.URL, Header: p.Title, Text: p.Words()}, Document: knowledge.Document{Name: p.Title},
		}})
	}
	return list
}

// fuseSources makes one list of passages of documents and pages of the web, both best
// first. Their scores cannot be compared, so the ranks are: the page of rank n stands
// behind the passage of rank n × webStep. Its score becomes one between the scores of
// its neighbours.
func fuseSources(documents, pages []Context) []Context {
	fused := slices.Clone(documents)
	for i, page := range pages {
		at := min((i+1)*webStep+i, len(fused))
		if at > 0 {
			page.Score = min(page.Score, fused[at-1].Score)
		}
		if at < len(fused) {
			page.Score = max(page.Score, fused[at].Score)
		}
		fused = slices.Insert(fused, at, page)
	}
	return fused
}

// Sources are the ranks of the passages by where they are from.
type Sources struct {
	Documents []int `json:"documents,omitempty"`
	Files     []int `json:"files,omitempty"`
	Web       []int `json:"web,omitempty"`
}

// sourcesOf returns the sources of the passages that were chosen.
func sourcesOf(chosen []Context) *Sources {
	var s Sources
	of := map[string]*[]int{SourceDocuments: &s.Documents, SourceFiles: &s.Files, SourceWeb: &s.Web}
	for _, c := range chosen {
		list := of[c.Source()]
		*list = append(*list, c.Rank)
	}
	return &s
}
