package activities_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/activities"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/retrieve"
	"github.com/cairn-rag/cairn/internal/store"
)

// found returns the names of the documents that a search found.
func (f *fixture) found(result activities.SearchResult) []string {
	f.Helper()
	record := activities.SearchRecord{}
	if result.Found != nil {
		record = *result.Found
	} else {
		f.must(f.blobs.GetJSON(f.ctx, result.Key, &record))
	}
	names := []string{}
	for i, p := range record.Passages {
		d, err := f.store.Document(f.ctx, manager(), p.DocumentID)
		f.must(err)
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
		f.publish(f.upload("apples.txt", "Apples are picked in autumn."))
		run := f.ask("when are apples picked?", func(r *knowledge.Request) { r.Config.AI.Retrieval.NumberOfChunks = 21 })
		in := activities.SearchInput{RunRef: run}
		first, err := do(f, f.answering.SearchKnowledge, in)
		f.must(err)
		asked := f.server.Totals().Embeddings.Asked
		f.publish(f.upload("more.txt", "More apples are picked in winter.")) // the snapshot of a search stays
		published := f.server.Totals().Embeddings.Asked
		again, err := do(f, f.answering.SearchKnowledge, in)
		f.must(err)
		if diff := cmp.Diff(first, again); diff != "" || first.Kept != 1 || first.Retrieved != 1 {
			t.Errorf("first %+v, then %s", first, diff)
		}
		if diff := cmp.Diff([]string{"apples.txt"}, f.found(first)); diff != "" {
			t.Error(diff)
		}
		if n := f.server.Totals().Embeddings.Asked; n != published || published != asked+1 {
			t.Errorf("a question was embedded again: %d, %d, %d requests", asked, published, n)
		}
	})

	t.Run("a search finds what the principal may see, in the requested documents", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		of := func(user string) func(*store.NewVersion) {
			return func(nv *store.NewVersion) { nv.Access = &knowledge.Access{Users: []string{user}} }
		}
		f.publish(f.upload("everyone.txt", "apples for everyone"))
		mine := f.upload("ann.txt", "apples for ann", of("ann"))
		f.publish(mine)
		f.publish(f.upload("bob.txt", "apples for bob", of("bob")))
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
			result, err := do(f, f.answering.SearchKnowledge, activities.SearchInput{RunRef: f.ask("apples", tc.change)})
			f.must(err)
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
		f.publish(f.upload("apples.txt", "Apples are picked in autumn."))
		f.answering.Retriever = retrieve.New(f.index, f.store, nil).Across(f.store, func(string) (retrieve.Embedder, error) {
			return nil, retrieve.ErrCannotBeAsked
		})
		result, err := do(f, f.answering.SearchKnowledge, activities.SearchInput{RunRef: f.ask("when are apples picked?")})
		f.must(err)
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
		run := f.ask("apples", func(r *knowledge.Request) { r.Principal = knowledge.Principal{} })
		_, err := do(f, f.answering.SearchKnowledge, activities.SearchInput{RunRef: run})
		f.failed(err, knowledge.CodeForbidden, false)
	})

	t.Run("a run without a request is a defect", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		_, err := do(f, f.answering.SearchKnowledge, activities.SearchInput{RunRef: knowledge.RunRef{Workspace: "w", Run: "none"}})
		f.failed(err, knowledge.CodeInternal, true)
	})
}
