package retrieve_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/retrieve"
)

// engine is a Web with some pages.
type engine struct {
	pages []retrieve.Page
	err   error
	hangs bool // until ctx ends
	asked []string
}

func (e *engine) FindPages(ctx context.Context, query string, c knowledge.WebSearchConfig) ([]retrieve.Page, error) {
	e.asked = append(e.asked, query+" "+strings.Join(c.WhitelistedDomains, ","))
	if e.hangs {
		<-ctx.Done()
		return nil, context.Cause(ctx)
	}
	return e.pages, e.err
}

func page(name string, score float64) retrieve.Page {
	return retrieve.Page{URL: "https://" + name + ".org/", Title: name, Snippet: "what " + name + " says", Score: score}
}

// sourced returns passages with their sources, and the address of a page for its id.
func sourced(contexts []retrieve.Context) (list []string) {
	for i, c := range contexts {
		if c.Rank != i+1 || i > 0 && c.Score > contexts[i-1].Score {
			list = append(list, fmt.Sprintf("rank %d, score %v:", c.Rank, c.Score))
		}
		list = append(list, c.Source()+" "+c.ID)
	}
	return list
}

// showingFile returns a ChunkReader in which one document is a file of a conversation.
func showingFile(file string, ids ...string) chunks {
	c := showing(append(ids, file)...)
	view := c[file]
	view.Document.ConversationID = "talk"
	c[file] = view
	return c
}

func TestWebSource(t *testing.T) {
	t.Parallel()
	words := hits("a", 9.0, "b", 8.0, "f", 7.0, "c", 6.0)
	pages := []retrieve.Page{page("one", 1), page("two", .5)}
	search := func(t *testing.T, web retrieve.Web, change ...func(*retrieve.Request)) retrieve.Result {
		t.Helper()
		request := retrieve.Request{
			Principal: asker, Query: "q", Web: &knowledge.WebSearchConfig{WhitelistedDomains: []string{"x.org"}}, Explain: true,
			Config: knowledge.RetrievalConfig{Strategy: "bm25", Reranker: knowledge.RerankerNone},
		}
		for _, c := range change {
			c(&request)
		}
		r, err := retrieve.New(&scripted{words: words}, showingFile("f", "a", "b", "c"), &counting{}).
			Using(retrieve.Models{Web: web, Reranker: byName{}, RerankerName: "names"}).Retrieve(t.Context(), request)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	documents := []string{"documents a", "documents b", "files f", "documents c"}
	alone := func(t *testing.T, r retrieve.Result, failure retrieve.Failure) {
		t.Helper()
		if diff := cmp.Diff(documents, sourced(r.Contexts)); diff != "" || r.Choices.Failures["web"] != failure {
			t.Errorf("failures %v, found %s", r.Choices.Failures, diff)
		}
	}

	t.Run("pages stand among passages of documents and files by their ranks", func(t *testing.T) {
		t.Parallel()
		web := &engine{pages: pages}
		r := search(t, web)
		want := []string{"documents a", "documents b", "web https://one.org/", "files f", "documents c", "web https://two.org/"}
		if diff := cmp.Diff(want, sourced(r.Contexts)); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff(&retrieve.Sources{Documents: []int{1, 2, 5}, Files: []int{4}, Web: []int{3, 6}}, r.Choices.Sources); diff != "" {
			t.Errorf("readers are shown: %s", diff)
		}
		if web.asked[0] != "q x.org" {
			t.Errorf("the web was asked %q", web.asked)
		}
		if got := r.Trace.Rankings["https://two.org/"]; got == nil || got.Web.Rank != 2 || got.Web.Score != .5 || got.Fused == nil {
			t.Errorf("explained as %+v", got)
		}
	})
	t.Run("a reranker ranks all sources together", func(t *testing.T) {
		t.Parallel()
		r := search(t, &engine{pages: pages}, func(r *retrieve.Request) { r.Config.Reranker, r.Config.NumberOfChunks = "names", 3 })
		want := []string{"web https://two.org/", "web https://one.org/", "files f"}
		if diff := cmp.Diff(want, sourced(r.Contexts)); diff != "" {
			t.Error(diff)
		}
		if d := r.Trace.Dropped; len(d) != 3 || d[0].Reason != retrieve.DropNumber || d[0].URL() != "" {
			t.Errorf("dropped %v", d)
		}
	})
	t.Run("a page with the words of a document is the document", func(t *testing.T) {
		t.Parallel()
		same := page("same", 1)
		same.Text = "passage " + strings.Repeat("a ", 10)
		r := search(t, &engine{pages: []retrieve.Page{same, pages[0], pages[0], {URL: "https://silent.org/"}}})
		want := []string{"documents a", "documents b", "web https://one.org/", "files f", "documents c"}
		if diff := cmp.Diff(want, sourced(r.Contexts)); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("without documents there is the web", func(t *testing.T) {
		t.Parallel()
		r, err := retrieve.New(&scripted{}, chunks{}, &counting{}).Using(retrieve.Models{Web: &engine{pages: pages}}).
			Retrieve(t.Context(), retrieve.Request{Principal: asker, Query: "q", Web: &knowledge.WebSearchConfig{}})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]string{"web https://one.org/", "web https://two.org/"}, sourced(r.Contexts)); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("a question of chosen documents asks no web", func(t *testing.T) {
		t.Parallel()
		web := &engine{pages: pages}
		alone(t, search(t, web, func(r *retrieve.Request) { r.Documents = []string{"a"} }), "")
		alone(t, search(t, web, func(r *retrieve.Request) { r.Filter = knowledge.AnyTag([]string{"x"}) }), "")
		if len(web.asked) > 0 {
			t.Errorf("it asked %q", web.asked)
		}
	})
	t.Run("a search engine that fails is left out", func(t *testing.T) {
		t.Parallel()
		alone(t, search(t, &engine{err: errors.New("status 500")}), retrieve.FailureProvider)
		alone(t, search(t, nil), retrieve.FailureNotConfigured)
	})
}

func TestSlowWeb(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r, err := retrieve.New(&scripted{words: hits("a", 1.0)}, showing("a"), &counting{}).Using(retrieve.Models{Web: &engine{hangs: true}}).
			Retrieve(t.Context(), retrieve.Request{Principal: asker, Query: "q", Web: &knowledge.WebSearchConfig{}, Config: knowledge.RetrievalConfig{Strategy: "bm25", Reranker: knowledge.RerankerNone}})
		if err != nil || len(r.Contexts) != 1 || r.Choices.Failures["web"] != retrieve.FailureTimeout {
			t.Errorf("found %v, failures %v, %v; want the document, and that the web took too long", r.Contexts, r.Choices.Failures, err)
		}
		if spent := r.Timings["total"]; spent.Seconds() > 6 {
			t.Errorf("the documents waited for %v", spent)
		}
	})
}

// byName is a Reranker that prefers texts whose first word comes late in the alphabet.
type byName struct{}

func (byName) Rerank(_ context.Context, _ string, texts []string) ([]float64, error) {
	var scores []float64
	for _, text := range texts {
		name := strings.TrimPrefix(text, "passage ")
		scores = append(scores, float64(name[0]-'a')/26)
	}
	return scores, nil
}
