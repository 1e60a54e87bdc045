package activities_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/activities"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/model/modeltest"
	"github.com/cairn-rag/cairn/internal/store"
)

// exchanged puts questions and their answers into a conversation.
func (f *fixture) exchanged(from, to int) {
	f.Helper()
	for i := from; i <= to; i++ {
		f.must(f.store.SaveMessages(f.ctx, "w",
			store.Message{ID: fmt.Sprintf("q%d", i), ConversationID: "talk", Role: "user", Text: fmt.Sprintf("Question %d?", i), Status: "completed"},
			store.Message{ID: fmt.Sprintf("a%d", i), ConversationID: "talk", Role: "assistant", Text: fmt.Sprintf("Answer %d.", i), Status: "completed"}))
	}
}

// TestSummarizeHistory sums up a conversation that is longer than the history may be. The
// newest messages stay, the model is asked once, and a later summary builds on the first.
func TestSummarizeHistory(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	_, err := f.store.EnsureConversation(f.ctx, member(), store.Conversation{ID: "talk", Project: "p"})
	f.must(err)
	limits := knowledge.HistoryConfig{Messages: new(4), Tokens: 1000}
	overlong := func() knowledge.RunRef {
		return f.ask("And then?", func(r *knowledge.Request) { r.ConversationID, r.Config.AI.History, r.Overlong = "talk", limits, true })
	}
	history := func(run knowledge.RunRef) []string {
		request, err := activities.ReadRequest(f.ctx, f.blobs, run)
		f.must(err)
		var list []string
		for _, m := range request.History {
			_, text, _ := strings.Cut("\n"+m.Content, "\n")
			list = append(list, m.Role+": "+text[strings.LastIndex(text, "\n")+1:])
		}
		return list
	}
	f.exchanged(1, 3)
	if _, over, err := activities.History(f.ctx, f.store, member(), "talk", limits); err != nil || !over {
		t.Fatalf("overlong %t, %v", over, err)
	}
	f.server.ScriptChat(modeltest.Text("<summary>Two questions.</summary>"))
	run := overlong()
	for range 2 {
		_, err := do(f, f.answering.SummarizeHistory, activities.SummarizeInput{RunRef: run})
		f.must(err)
	}
	want := []string{"system: Two questions.", "user: Question 3?", "assistant: Answer 3."}
	if diff := cmp.Diff(want, history(run)); diff != "" {
		t.Error(diff)
	}
	if said := f.sent(); !strings.Contains(said, "Answer 2.") || strings.Contains(said, "Question 3?") || len(f.server.Requests()) != 1 {
		t.Errorf("%d requests; the model reads %q", len(f.server.Requests()), said)
	}

	again := overlong() // the workflow died before it heard of the summary
	_, err = do(f, f.answering.SummarizeHistory, activities.SummarizeInput{RunRef: again})
	f.must(err)
	if diff := cmp.Diff(want, history(again)); diff != "" || len(f.server.Requests()) != 1 {
		t.Errorf("%d requests: %s", len(f.server.Requests()), diff)
	}

	f.exchanged(4, 5)
	f.server.ScriptChat(modeltest.Text("<summary>Four questions.</summary>"))
	later := overlong()
	_, err = do(f, f.answering.SummarizeHistory, activities.SummarizeInput{RunRef: later})
	f.must(err)
	if diff := cmp.Diff([]string{"system: Four questions.", "user: Question 5?", "assistant: Answer 5."}, history(later)); diff != "" {
		t.Error(diff)
	}
	if said := f.sent(); !strings.Contains(said, "Two questions.") {
		t.Errorf("the model reads %q", said)
	}

	f.server.ScriptChat(modeltest.Text("I will not."))
	f.exchanged(6, 9)
	_, err = do(f, f.answering.SummarizeHistory, activities.SummarizeInput{RunRef: overlong()})
	f.failed(err, knowledge.CodeProviderFailed, false)
}
