package answering_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/activities/activitytest"
	"github.com/cairn-rag/cairn/activities/answering"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/record"
	"github.com/cairn-rag/cairn/internal/retrieve"
	"github.com/cairn-rag/cairn/internal/store"
)

// found returns the names of the documents that a search found.
func (f *fixture) found(result record.SearchResult) []string {
	f.Helper()
	passages := record.Search{}
	if result.Found != nil {
		passages = *result.Found
	} else {
		f.Must(f.Blobs.GetJSON(f.Ctx, result.Key, &passages))
	}
	names := []string{}
	for i, p := range passages.Passages {
		d, err := f.Store.Document(f.Ctx, activitytest.Manager(), p.DocumentID)
		f.Must(err)
		if p.ChunkID == "" || p.Version != d.Version || p.Span.End == 0 || p.Score == 0 {
			f.Errorf("passage %d: %+v", i, p)
		}
		names = append(names, d.Name)
	}
	return names
}

func TestSearchKnowledge(t *testing.T) {
	t.Parallel()

	t.Run("a search for many passages is stored and not repeated", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		f.Publish(f.Upload("apples.txt", "Apples are picked in autumn."))
		run := f.Ask("when are apples picked?", func(r *knowledge.Request) { r.Config.AI.Retrieval.NumberOfChunks = 21 })
		in := answering.SearchInput{RunRef: run}
		first, err := do(f, f.Answering.SearchKnowledge, in)
		f.Must(err)
		asked := f.Server.Totals().Embeddings.Asked
		f.Publish(f.Upload("more.txt", "More apples are picked in winter.")) // the snapshot of a search stays
		published := f.Server.Totals().Embeddings.Asked
		again, err := do(f, f.Answering.SearchKnowledge, in)
		f.Must(err)
		if diff := cmp.Diff(first, again); diff != "" || first.Kept != 1 || first.Retrieved != 1 {
			t.Errorf("first %+v, then %s", first, diff)
		}
		if diff := cmp.Diff([]string{"apples.txt"}, f.found(first)); diff != "" {
			t.Error(diff)
		}
		if n := f.Server.Totals().Embeddings.Asked; n != published || published != asked+1 {
			t.Errorf("a question was embedded again: %d, %d, %d requests", asked, published, n)
		}
	})

	t.Run("a search finds what the principal may see, in the requested documents", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		of := func(user string) func(*store.NewVersion) {
			return func(nv *store.NewVersion) { nv.Access = &knowledge.Access{Users: []string{user}} }
		}
		f.Publish(f.Upload("everyone.txt", "apples for everyone"))
		mine := f.Upload("ann.txt", "apples for ann", of("ann"))
		f.Publish(mine)
		f.Publish(f.Upload("bob.txt", "apples for bob", of("bob")))
		for name, tc := range map[string]struct {
			change func(*knowledge.Request)
			want   []string
		}{
			"all":        {func(*knowledge.Request) {}, []string{"ann.txt", "everyone.txt"}},
			"a document": {func(r *knowledge.Request) { r.Documents = []string{mine.Document} }, []string{"ann.txt"}},
			"a filter": {func(r *knowledge.Request) {
				r.Filter = knowledge.Filter{{Field: "name", Type: "eq", Value: "everyone.txt"}}
			}, []string{"everyone.txt"}},
			"one passage": {func(r *knowledge.Request) { r.Config.AI.Retrieval.NumberOfChunks = 1; r.Question = "apples ann" }, []string{"ann.txt"}},
			"no project":  {func(r *knowledge.Request) { r.Projects = []string{"another"} }, []string{}},
		} {
			result, err := do(f, f.Answering.SearchKnowledge, answering.SearchInput{RunRef: f.Ask("apples", tc.change)})
			f.Must(err)
			if result.Found == nil {
				t.Errorf("%s: the passages are not in the result", name)
			}
			got := f.found(result)
			if len(got) > 1 && got[0] > got[1] {
				got[0], got[1] = got[1], got[0]
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s: %s", name, diff)
			}
		}
	})

	t.Run("a search that goes on without the embedding model is stored, because its event names the blob", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		f.Publish(f.Upload("apples.txt", "Apples are picked in autumn."))
		f.AnswerWith(func(d *answering.Dependencies) {
			d.Retriever = retrieve.New(f.Index, f.Store, nil).Across(f.Store, func(string) (retrieve.Embedder, error) {
				return nil, retrieve.ErrCannotBeAsked
			})
		})
		result, err := do(f, f.Answering.SearchKnowledge, answering.SearchInput{RunRef: f.Ask("when are apples picked?")})
		f.Must(err)
		if !result.Chosen || result.Key == "" || result.Found != nil {
			t.Fatalf("the result is %+v, want a key", result)
		}
		if diff := cmp.Diff([]string{"apples.txt"}, f.found(result)); diff != "" {
			t.Error(diff)
		}
	})

	t.Run("a principal without tokens is refused without retries", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		run := f.Ask("apples", func(r *knowledge.Request) { r.Principal = knowledge.Principal{} })
		_, err := do(f, f.Answering.SearchKnowledge, answering.SearchInput{RunRef: run})
		f.FailedWith(err, knowledge.CodeForbidden, false)
	})

	t.Run("a run without a request is a defect", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		_, err := do(f, f.Answering.SearchKnowledge, answering.SearchInput{RunRef: knowledge.RunRef{Workspace: "w", Run: "none"}})
		f.FailedWith(err, knowledge.CodeInternal, true)
	})
}
