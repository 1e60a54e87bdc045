package retrieve_test

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/index"
	"github.com/cairn-rag/cairn/internal/index/embedded"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/knowledge/knowledgetest"
	"github.com/cairn-rag/cairn/internal/retrieve"
	"github.com/cairn-rag/cairn/internal/store"
)

// projects are projects of two generations. They switch to the later one after a number of
// reads.
type projects struct {
	reads, switchAfter int
}

func (p *projects) SearchedGenerations(context.Context, knowledge.Principal, []string) ([]store.SearchedGeneration, error) {
	if p.reads++; p.switchAfter > 0 && p.reads > p.switchAfter {
		return []store.SearchedGeneration{{Name: "later"}}, nil
	}
	return []store.SearchedGeneration{{Name: "earlier", Projects: []string{"one"}}, {Name: "later", Projects: []string{"two"}}}, nil
}

// pointing is an Embedder whose vectors have one direction.
type pointing struct {
	vector []float32
	err    error
}

func (p pointing) Embed(_ context.Context, texts []string) ([][]float32, error) {
	return slices.Repeat([][]float32{p.vector}, len(texts)), p.err
}

// twoGenerations returns an index with three passages in each of two projects, whose
// models are opposite.
func twoGenerations(t *testing.T) (*embedded.Index, chunks) {
	x, err := embedded.Open(t.Context(), embedded.Config{Path: filepath.Join(t.TempDir(), "index.db")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = x.Close() })
	shown := chunks{}
	var entries []index.Entry
	for project, generation := range map[string]string{"one": "earlier", "two": "later"} {
		for i := range 3 {
			vector := []float32{1, float32(i)}
			if generation == "later" {
				vector = []float32{-1, -float32(i)}
			}
			id := fmt.Sprint(project, i)
			entries = append(entries, index.Entry{ChunkID: id, Workspace: "w", Project: project, DocumentID: id, Version: 1,
				Text: "common words of " + id, Generation: generation, Vector: vector, ACL: []string{"w:w"}})
			shown.put(id, "passage "+id)
		}
	}
	if err := x.Upsert(t.Context(), entries); err != nil {
		t.Fatal(err)
	}
	return x, shown
}

func TestGenerations(t *testing.T) {
	t.Parallel()
	search := func(t *testing.T, g *projects, later pointing, config knowledge.RetrievalConfig) retrieve.Result {
		t.Helper()
		x, shown := twoGenerations(t)
		of := func(generation string) (retrieve.Embedder, error) {
			if generation == "later" {
				return later, nil
			}
			return pointing{vector: []float32{1, 0}}, nil
		}
		result, err := retrieve.New(x, shown, pointing{}).Across(g, of).Retrieve(t.Context(), retrieve.Request{
			Principal: knowledgetest.Principal(knowledge.Claims{Workspace: "w"}), Query: "common", Config: config})
		if err != nil {
			t.Fatal(err)
		}
		return result
	}
	ids := func(r retrieve.Result) (list []string) {
		for _, c := range r.Contexts {
			list = append(list, c.ID)
		}
		return list
	}
	dense := knowledge.RetrievalConfig{Strategy: knowledge.StrategyDense}
	t.Run("each project is asked with its own vector, and the hits are fused by rank", func(t *testing.T) {
		t.Parallel()
		r := search(t, &projects{}, pointing{vector: []float32{-1, 0}}, dense)
		if diff := cmp.Diff([]string{"one0", "two0", "one1", "two1", "one2", "two2"}, ids(r)); diff != "" || !r.Choices.IsZero() {
			t.Errorf("found (-want +got):\n%s, choices %+v", diff, r.Choices)
		}
	})
	t.Run("a model that cannot be asked leaves its projects to the words, and says so", func(t *testing.T) {
		t.Parallel()
		r := search(t, &projects{}, pointing{err: retrieve.ErrCannotBeAsked}, dense)
		if len(r.Contexts) != 6 || r.Choices.Failures["embeddings"] != retrieve.FailureModel || len(r.Causes) == 0 {
			t.Errorf("found %v, choices %+v, causes %v", ids(r), r.Choices, r.Causes)
		}
	})
	t.Run("a vector of another length is noted, and the words are searched", func(t *testing.T) {
		t.Parallel()
		r := search(t, &projects{}, pointing{vector: []float32{1, 0, 0}}, knowledge.RetrievalConfig{})
		if len(r.Contexts) != 6 || r.Choices.Failures["embeddings"] == "" {
			t.Errorf("found %v, choices %+v", ids(r), r.Choices)
		}
	})
	t.Run("a search during which a project switches looks again", func(t *testing.T) {
		t.Parallel()
		g := &projects{switchAfter: 1}
		r := search(t, g, pointing{vector: []float32{-1, 0}}, dense)
		if diff := cmp.Diff([]string{"two0", "two1", "two2"}, ids(r)); diff != "" || g.reads != 4 {
			t.Errorf("after %d reads found (-want +got):\n%s", g.reads, diff)
		}
	})
}
