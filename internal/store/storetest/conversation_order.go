package storetest

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
)

func testConversationOrder(t *testing.T, open func(t *testing.T) Store) {
	each(t, open, map[string]func(f *fixture){
		"a_question_waits_for_the_one_before_it":        waitsForTheOneBefore,
		"a_question_that_ended_early_leaves_the_order":  waitsBeyondACanceled,
		"only_questions_of_one_conversation_are_in_row": waitsForNobodyElse,
	})
}

// askIn starts a question in a conversation, and returns the one that it waits for.
func (f *fixture) askIn(conversation, id string, change ...func(*store.Run)) (after string) {
	f.Helper()
	inConversation := func(r *store.Run) { r.ConversationID = conversation }
	after, err := f.StartRun(f.ctx, reader("ann"), run(id, append(change, inConversation)...), nil)
	f.must(err)
	return after
}

func (f *fixture) endAs(id string, status knowledge.RunStatus) {
	f.Helper()
	f.must(f.EndRun(f.ctx, "acme", id, store.RunEnd{Status: status}))
}

func (f *fixture) wantBefore(after, want string) {
	f.Helper()
	got, err := f.RunningBefore(f.ctx, "acme", after)
	f.must(err)
	if want != "" {
		want = "query/acme/" + want
	}
	if got != want {
		f.Errorf("behind %s the turn waits for %q, want %q", after, got, want)
	}
}

func waitsForTheOneBefore(f *fixture) {
	f.must(f.startRun(reader("ann"), run("r1", func(r *store.Run) { r.ConversationID = "talk" }), &store.Conversation{ID: "talk"}))
	got := []string{f.askIn("talk", "r2"), f.askIn("talk", "r3"), f.askIn("talk", "r3")}
	if diff := cmp.Diff([]string{"r1", "r2", "r2"}, got); diff != "" {
		f.Error(diff)
	}
	stored, err := f.Run(f.ctx, reader("ann"), "r3")
	if f.must(err); stored.After != "r2" {
		f.Errorf("the run is stored to wait for %q", stored.After)
	}
	f.wantBefore("r2", "r2")
	f.endAs("r1", knowledge.RunCompleted)
	f.wantBefore("r1", "")
	f.endAs("r2", knowledge.RunFailed)
	f.wantBefore("r2", "")
	f.endAs("r3", knowledge.RunCompleted)
	if after := f.askIn("talk", "r4"); after != "" {
		f.Errorf("a question waits for %q, which has ended", after)
	}
}

func waitsBeyondACanceled(f *fixture) {
	f.must(f.startRun(reader("ann"), run("r1", func(r *store.Run) { r.ConversationID = "talk" }), &store.Conversation{ID: "talk"}))
	f.askIn("talk", "r2")
	f.askIn("talk", "r3")
	f.endAs("r2", knowledge.RunCanceled)
	f.wantBefore("r2", "r1")
	if after := f.askIn("talk", "r4"); after != "r3" {
		f.Errorf("the newest question waits for %q", after)
	}
	f.endAs("r1", knowledge.RunCompleted)
	f.wantBefore("r2", "")
}

func waitsForNobodyElse(f *fixture) {
	f.must(f.startRun(reader("ann"), run("r1", func(r *store.Run) { r.ConversationID = "talk" }), &store.Conversation{ID: "talk"}))
	f.must(f.startRun(reader("ann"), run("r2", func(r *store.Run) { r.ConversationID = "other" }), &store.Conversation{ID: "other"}))
	if after := f.askIn("talk", "search", func(r *store.Run) { r.Kind = knowledge.KindTool }); after != "" {
		f.Errorf("a tool waits for %q", after)
	}
	if after := f.askIn("", "alone"); after != "" {
		f.Errorf("a question without a conversation waits for %q", after)
	}
	if after := f.askIn("other", "r3"); after != "r2" {
		f.Errorf("it waits for %q", after)
	}
}
