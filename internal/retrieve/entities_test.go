package retrieve_test

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/index"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/retrieve"
)

// linkedIndex finds by words all passages, or with a condition on entities the passages of
// the entity.
type linkedIndex struct {
	all     []knowledge.Hit
	of      map[any][]knowledge.Hit
	filters []knowledge.Filter
}

func (x *linkedIndex) Dense(context.Context, index.Query, []float32) ([]knowledge.Hit, error) {
	return nil, nil
}

func (x *linkedIndex) BM25(_ context.Context, q index.Query, _ string) ([]knowledge.Hit, error) {
	x.filters = append(x.filters, q.Filter)
	if last := len(q.Filter) - 1; last >= 0 && q.Filter[last].Field == "metadata.entities" {
		return x.of[q.Filter[last].Value], nil
	}
	return x.all, nil
}

func TestEntities(t *testing.T) {
	t.Parallel()
	facets := fixedFacets{Entities: map[string]int{"Ada Brook": 2, "Heron Ltd.": 1, "Ada": 1, "Li": 9, "東京": 1, "Book": 1}}
	find := func(t *testing.T, question string) (retrieve.Result, *linkedIndex) {
		t.Helper()
		x := &linkedIndex{
			all: hits("a", 10.0, "b", 9.0, "c", 8.0, "d", 1.0),
			of:  map[any][]knowledge.Hit{"Ada Brook": hits("c", 5.0, "new", 1.0)},
		}
		own := knowledge.Filter{{Field: "name", Type: knowledge.OpEq, Value: "x"}}
		r, err := retrieve.New(x, showing("a", "b", "c", "d", "new"), &lengths{}).Using(retrieve.Models{Facets: facets}).Retrieve(t.Context(),
			retrieve.Request{Principal: asker, Query: question, Filter: own, Explain: true, Config: knowledge.RetrievalConfig{Strategy: "bm25", Entities: true}})
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range x.filters {
			if len(f) == 0 || f[0].Field != "name" {
				t.Errorf("searched without the caller's filter: %v", f)
			}
		}
		return r, x
	}

	t.Run("documents with an entity of the question rank higher", func(t *testing.T) {
		t.Parallel()
		r, _ := find(t, "What did ada  BROOK's sister say?")
		if diff := cmp.Diff([]string{"c 1.000", "a 0.952", "b 0.857", "d 0.095", "new 0.048"}, scored(r)); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff(retrieve.Choices{Entities: []string{"Ada Brook", "Ada"}}, r.Choices); diff != "" {
			t.Error(diff)
		}
		linked := r.Trace.Rankings["new"].Linked
		if linked == nil || linked.Rank != 2 || r.Trace.Rankings["a"].Linked != nil {
			t.Errorf("explained by %+v", linked)
		}
	})
	t.Run("names are matched word by word", func(t *testing.T) {
		t.Parallel()
		for question, want := range map[string][]string{
			"Who runs Heron Ltd?": {"Heron Ltd."}, "A booklet of Adam by Li": nil, "東京はどこですか": {"東京"},
		} {
			r, x := find(t, question)
			if diff := cmp.Diff(want, r.Choices.Entities); diff != "" || len(x.filters) != 1+len(want) {
				t.Errorf("%s: %s", question, diff)
			}
		}
	})
}
