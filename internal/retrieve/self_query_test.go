package retrieve_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/index"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/retrieve"
	"github.com/cairn-rag/cairn/internal/store"
)

// fixedFacets is a FacetReader.
type fixedFacets store.Facets

func (f fixedFacets) Facets(context.Context, knowledge.Principal, []string) (store.Facets, error) {
	return store.Facets(f), nil
}

// filtered is an Index that finds one passage, unless a filter has the tag "nothing".
type filtered struct{ filters []knowledge.Filter }

func (x *filtered) Dense(context.Context, index.Query, []float32) ([]knowledge.Hit, error) {
	return nil, nil
}

func (x *filtered) BM25(_ context.Context, q index.Query, _ string) ([]knowledge.Hit, error) {
	x.filters = append(x.filters, q.Filter)
	for _, c := range q.Filter {
		for _, value := range c.Values() {
			if value == "nothing" {
				return nil, nil
			}
		}
	}
	return hits("a", 1.0), nil
}

func TestSelfQuery(t *testing.T) {
	t.Parallel()
	facets := fixedFacets{
		Tags: map[string]int{"leave": 3, "Travel": 1, "nothing": 1}, Languages: map[string]int{"eng": 4, "deu": 2, "und": 1},
		Metadata: map[string]map[any]int{"year": {2023.0: 1, 2024.0: 2}, "kind": {"memo": 3}},
	}
	own := knowledge.Filter{{Field: "name", Type: knowledge.OpEq, Value: "x"}}
	choose := func(t *testing.T, chat *scriptedChat, f retrieve.FacetReader) (retrieve.Result, *filtered) {
		t.Helper()
		x := &filtered{}
		r, err := retrieve.New(x, showing("a"), &lengths{}).Using(retrieve.Models{Chat: chat, Facets: f}).Retrieve(t.Context(),
			retrieve.Request{Principal: asker, Query: "How many days?", SelfQuery: true, Filter: own, Config: knowledge.RetrievalConfig{Strategy: "bm25"}})
		if err != nil || len(r.Contexts) != 1 {
			t.Fatalf("%v, %v", scored(r), err)
		}
		return r, x
	}
	answer := func(arguments string) *scriptedChat {
		return &scriptedChat{answers: map[string]string{"choose_filters": arguments}}
	}
	tags := func(list ...string) knowledge.Condition {
		return knowledge.Condition{Field: "tags", Type: knowledge.OpIn, Value: list}
	}

	t.Run("what was offered is one more condition", func(t *testing.T) {
		t.Parallel()
		chat := answer(`{"tags":["travel","leave","leave","made up"],"filters":[{"field":"metadata.year","type":"gte","value":2024},
			{"field":"metadata.kind","type":"eq","value":"memo"},{"field":"language","type":"eq","value":"fra"},{"field":"name","type":"ne","value":"x"},
			{"field":"metadata.year","type":"eq","value":["2024"]}]}`)
		r, x := choose(t, chat, facets)
		want := knowledge.Filter{tags("Travel", "leave"), {Field: "metadata.year", Type: knowledge.OpGte, Value: 2024.0}}
		if diff := cmp.Diff(retrieve.Choices{Filter: want}, r.Choices); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff([]knowledge.Filter{append(own[:1:1], want...)}, x.filters); diff != "" {
			t.Error(diff)
		}
		for _, text := range []string{"- leave\n- Travel", `- language: ["eng","deu"]`, "- metadata.year: [2024,2023]", "How many days?"} {
			if !strings.Contains(chat.calls[0].User, text) || strings.Contains(chat.calls[0].User, "metadata.kind") {
				t.Errorf("%q is not in %s", text, chat.calls[0].User)
			}
		}
	})
	t.Run("a choice that nothing meets is left out", func(t *testing.T) {
		t.Parallel()
		r, x := choose(t, answer(`{"tags":["nothing"],"filters":[]}`), facets)
		if diff := cmp.Diff(retrieve.Choices{Filter: knowledge.Filter{tags("nothing")}, Widened: true}, r.Choices); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff([]knowledge.Filter{append(own[:1:1], tags("nothing")), own}, x.filters); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("an echo chooses nothing", func(t *testing.T) {
		t.Parallel()
		if r, _ := choose(t, answer(`{"tags":["<question>\nHow many days?\n</question>"],"filters":[]}`), facets); !r.Choices.IsZero() {
			t.Errorf("%+v", r.Choices)
		}
	})
	t.Run("without tags and fields no model is asked", func(t *testing.T) {
		t.Parallel()
		chat := answer(`{"tags":[],"filters":[]}`)
		if r, _ := choose(t, chat, fixedFacets{Languages: map[string]int{"eng": 9}}); !r.Choices.IsZero() || len(chat.calls) != 0 {
			t.Errorf("%+v after %d calls", r.Choices, len(chat.calls))
		}
	})
	t.Run("a failure leaves the search as it was", func(t *testing.T) {
		t.Parallel()
		broken := &scriptedChat{reply: func(context.Context, retrieve.Call) (string, error) { return "", errors.New("overloaded") }}
		for _, chat := range []*scriptedChat{broken, answer(`[]`)} {
			if r, x := choose(t, chat, facets); r.Choices.Failures["selfQuery"] != retrieve.FailureModel || len(x.filters[0]) != 1 {
				t.Errorf("%+v", r.Choices)
			}
		}
		if r, _ := choose(t, answer(`{}`), nil); r.Choices.Failures["selfQuery"] != retrieve.FailureNotConfigured {
			t.Errorf("%+v", r.Choices)
		}
	})
}
