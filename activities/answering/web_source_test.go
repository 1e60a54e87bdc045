package answering_test

import (
	"context"
	"net/url"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/activities/activitytest"
	"github.com/cairn-rag/cairn/activities/answering"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/model"
	"github.com/cairn-rag/cairn/internal/record"
	"github.com/cairn-rag/cairn/internal/retrieve"
	"github.com/cairn-rag/cairn/internal/scrape"
)

// slowPages is a PageReader that reads no page in time.
type slowPages struct{}

func (slowPages) Read(ctx context.Context, addresses []string, _ func(*url.URL) bool) []scrape.Page {
	<-ctx.Done()
	return make([]scrape.Page, len(addresses))
}

func TestWebSource(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	w := f.web(result("Tea", "https://tea.org/", 1), result("Rum", "https://rum.org/", .5), result("Never", "https://never.org/", .4))
	w.pages["https://tea.org/"] = scrape.Page{URL: "https://tea.org/all", Text: "All about tea."}
	source := answering.WebSource{Web: w, Pages: w}
	settings := knowledge.WebSearchConfig{BlacklistedDomains: []string{"never.org"}, Type: "news", DateRange: "qdr:w"}
	tea := retrieve.Page{URL: "https://tea.org/", Title: "Tea", Snippet: "Tea in short", Score: 1}
	rum := retrieve.Page{URL: "https://rum.org/", Title: "Rum", Snippet: "Rum in short", Score: .5}

	t.Run("a_search_has_the_settings_of_the_project", func(t *testing.T) {
		got, err := source.FindPages(f.Ctx, "drinks", settings)
		f.Must(err)
		if diff := cmp.Diff([]retrieve.Page{tea, rum}, got); diff != "" {
			t.Error(diff)
		}
		if q := w.searched[len(w.searched)-1]; q.Text != "drinks" || q.Type != knowledge.WebNews || q.Since != "week" || w.read > 0 {
			t.Errorf("searched %+v and read %d times", q, w.read)
		}
	})
	t.Run("pages_are_read_where_the_project_wants_that", func(t *testing.T) {
		settings := settings
		settings.Scrape = true
		got, err := source.FindPages(f.Ctx, "drinks", settings)
		f.Must(err)
		read := tea
		read.URL, read.Text = "https://tea.org/all", "All about tea."
		if diff := cmp.Diff([]retrieve.Page{read, rum}, got); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("pages_that_are_slow_have_their_snippets", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
			defer cancel()
			settings := settings
			settings.Scrape = true
			got, err := answering.WebSource{Web: w, Pages: slowPages{}}.FindPages(ctx, "drinks", settings)
			if diff := cmp.Diff([]retrieve.Page{tea, rum}, got); diff != "" || err != nil || ctx.Err() != nil {
				t.Errorf("%v, %v: %s", err, ctx.Err(), diff)
			}
		})
	})
	t.Run("a_question_is_answered_from_documents_and_pages", func(t *testing.T) {
		f.AnswerWith(func(d *answering.Dependencies) {
			d.Retriever = retrieve.New(f.Index, f.Store, activitytest.QuestionEmbedder{Client: model.New(f.Server.Endpoint(), nil)}).Using(retrieve.Models{Web: source})
		})
		f.Publish(f.Upload("drinks.txt", "Drinks are sold in the cellar."))
		run := f.Ask("drinks", func(r *knowledge.Request) { r.Config.AI.Retrieval.Web = true })
		found, err := do(f, f.Answering.SearchKnowledge, answering.SearchInput{RunRef: run})
		f.Must(err)
		var passages record.Search
		f.Must(f.Blobs.GetJSON(f.Ctx, found.Key, &passages))
		if len(passages.Passages) != 4 || passages.Passages[0].ChunkID == "" || passages.Passages[1].Page == nil || passages.Passages[1].Page.URL != tea.URL || !found.Chosen {
			t.Errorf("found %+v, recorded %+v", found, passages.Passages)
		}
	})
}
