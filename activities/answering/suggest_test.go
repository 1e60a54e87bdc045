package answering_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/activities/answering"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/model/modeltest"
	"github.com/cairn-rag/cairn/internal/record"
)

// TestSuggestQuestions keeps the lines of the model that are questions, and asks it once.
func TestSuggestQuestions(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.Server.ScriptChat(modeltest.Text("Here are some:\n1. Who decides?\n- Wann?\n\n为什么？\nAnd what else?"))
	run := f.Ask("How many days?", func(r *knowledge.Request) { r.Config.AI.PostQuery.Suggestions = true })
	_, err := f.Blobs.PutJSON(f.Ctx, run.TurnKey(1), record.ModelCall{Text: `Thirty <citation id="c">[1]</citation>.`})
	f.Must(err)
	in := answering.SuggestInput{RunRef: run, Answer: run.TurnKey(1)}
	first, err := do(f, f.Answering.SuggestQuestions, in)
	f.Must(err)
	again, err := do(f, f.Answering.SuggestQuestions, in)
	f.Must(err)
	if diff := cmp.Diff(first, again); diff != "" || first.Usage.ModelCalls != 1 || len(f.Server.Requests()) != 1 {
		t.Errorf("%d requests, %+v: %s", len(f.Server.Requests()), first, diff)
	}
	var suggested answering.Suggestions
	f.Must(f.Blobs.GetJSON(f.Ctx, first.Key, &suggested))
	if diff := cmp.Diff([]string{"Who decides?", "Wann?", "为什么？"}, suggested.Questions); diff != "" {
		t.Error(diff)
	}
	if said := f.Sent(); said == "" || len(said) > 2000 {
		t.Errorf("the model reads %q", said)
	}
}
