package activities_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/activities"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/model/modeltest"
)

// TestSuggestQuestions keeps the lines of the model that are questions, and asks it once.
func TestSuggestQuestions(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.server.ScriptChat(modeltest.Text("Here are some:\n1. Who decides?\n- Wann?\n\n为什么？\nAnd what else?"))
	run := f.ask("How many days?", func(r *knowledge.Request) { r.Config.AI.PostQuery.Suggestions = true })
	_, err := f.blobs.PutJSON(f.ctx, run.TurnKey(1), activities.TurnRecord{Text: `Thirty <citation id="c">[1]</citation>.`})
	f.must(err)
	in := activities.SuggestInput{RunRef: run, Answer: run.TurnKey(1)}
	first, err := do(f, f.answering.SuggestQuestions, in)
	f.must(err)
	again, err := do(f, f.answering.SuggestQuestions, in)
	f.must(err)
	if diff := cmp.Diff(first, again); diff != "" || first.Usage.ModelCalls != 1 || len(f.server.Requests()) != 1 {
		t.Errorf("%d requests, %+v: %s", len(f.server.Requests()), first, diff)
	}
	var suggested activities.Suggestions
	f.must(f.blobs.GetJSON(f.ctx, first.Key, &suggested))
	if diff := cmp.Diff([]string{"Who decides?", "Wann?", "为什么？"}, suggested.Questions); diff != "" {
		t.Error(diff)
	}
	if said := f.sent(); said == "" || len(said) > 2000 {
		t.Errorf("the model reads %q", said)
	}
}
