package api_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/retrieve"
)

func TestRetrieveContextShowsWhatTheSearchChose(t *testing.T) {
	t.Parallel()
	e := open(t)
	e.work.choices = retrieve.Choices{Strategy: "bm25", Failures: map[string]retrieve.Failure{"hyde": retrieve.FailureTimeout}}
	got := e.do("POST", hooks+"/retrieve-context", e.reader, `{"text":"What?"}`).want(200)
	want := map[string]any{"strategy": "bm25", "failures": map[string]any{"hyde": "timeout"}}
	if diff := cmp.Diff(want, got["choices"]); diff != "" {
		t.Error(diff)
	}
	e.work.choices = retrieve.Choices{}
	if _, shown := e.do("POST", hooks+"/retrieve-context", e.reader, `{"text":"What?"}`).want(200)["choices"]; shown {
		t.Error("a search that chose nothing shows choices")
	}
}
