package answering_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/activities/activitytest"
	"github.com/cairn-rag/cairn/activities/answering"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/record"
	"github.com/cairn-rag/cairn/internal/store"
)

// TestTakeTurn asks for the turn of a question before and after the end of the one before
// it. Then its request has the answer in its history, once, also if the activity repeats.
func TestTakeTurn(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	first := knowledge.RunRef{Workspace: "w", Project: "p", Run: "first"}
	row := store.Run{ID: first.Run, Workspace: "w", Kind: knowledge.KindQuery, Owner: activitytest.Member().Owner(), ConversationID: "talk", WorkflowID: "query/w/first"}
	_, err := f.Store.StartRun(f.Ctx, activitytest.Member(), row, &store.Conversation{ID: "talk"})
	f.Must(err)
	in := answering.TurnInput{RunRef: f.Ask("And why?", func(r *knowledge.Request) { r.ConversationID = "talk" }), After: first.Run}

	result, err := do(f, f.Answering.TakeTurn, in)
	if f.Must(err); result.Before != "query/w/first" {
		t.Errorf("the turn waits for %q", result.Before)
	}
	f.Must(f.Store.EndAnswer(f.Ctx, "w", first.Run, store.RunEnd{Status: knowledge.RunCompleted},
		store.Message{ID: "q", ConversationID: "talk", RunID: first.Run, Role: "user", Text: "Who?", Status: "completed"},
		store.Message{ID: "a", ConversationID: "talk", RunID: first.Run, Role: "assistant", Text: `Ann <citation id="c">[1]</citation>.`, Status: "completed"}))
	for range 2 {
		result, err = do(f, f.Answering.TakeTurn, in)
		if f.Must(err); result.Before != "" {
			t.Errorf("the turn waits for %q", result.Before)
		}
	}
	request, err := record.ReadRequest(f.Ctx, f.Blobs, in.RunRef)
	f.Must(err)
	want := []knowledge.Message{{Role: "user", Content: "Who?"}, {Role: "assistant", Content: "Ann."}}
	if diff := cmp.Diff(want, request.History); diff != "" {
		t.Error(diff)
	}
}
