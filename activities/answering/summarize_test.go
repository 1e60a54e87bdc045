package answering_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/activities/activitytest"
	"github.com/cairn-rag/cairn/activities/answering"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/model/modeltest"
	"github.com/cairn-rag/cairn/internal/record"
	"github.com/cairn-rag/cairn/internal/store"
)

// exchanged puts questions and their answers into a conversation.
func (f *fixture) exchanged(from, to int) {
	f.Helper()
	for i := from; i <= to; i++ {
		f.Must(f.Store.SaveMessages(f.Ctx, "w",
			store.Message{ID: fmt.Sprintf("q%d", i), ConversationID: "talk", Role: "user", Text: fmt.Sprintf("Question %d?", i), Status: "completed"},
			store.Message{ID: fmt.Sprintf("a%d", i), ConversationID: "talk", Role: "assistant", Text: fmt.Sprintf("Answer %d.", i), Status: "completed"}))
	}
}

// TestSummarizeHistory sums up a conversation that is longer than the history may be. The
// newest messages stay, the model is asked once, and a later summary builds on the first.
func TestSummarizeHistory(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	_, err := f.Store.EnsureConversation(f.Ctx, activitytest.Member(), store.Conversation{ID: "talk", Project: "p"})
	f.Must(err)
	limits := knowledge.HistoryConfig{Messages: new(4), Tokens: 1000}
	overlong := func() knowledge.RunRef {
		return f.Ask("And then?", func(r *knowledge.Request) { r.ConversationID, r.Config.AI.History, r.Overlong = "talk", limits, true })
	}
	history := func(run knowledge.RunRef) []string {
		request, err := record.ReadRequest(f.Ctx, f.Blobs, run)
		f.Must(err)
		var list []string
		for _, m := range request.History {
			_, text, _ := strings.Cut("\n"+m.Content, "\n")
			list = append(list, m.Role+": "+text[strings.LastIndex(text, "\n")+1:])
		}
		return list
	}
	f.exchanged(1, 3)
	if _, over, err := record.History(f.Ctx, f.Store, activitytest.Member(), "talk", limits); err != nil || !over {
		t.Fatalf("overlong %t, %v", over, err)
	}
	f.Server.ScriptChat(modeltest.Text("<summary>Two questions.</summary>"))
	run := overlong()
	for range 2 {
		_, err := do(f, f.Answering.SummarizeHistory, answering.SummarizeInput{RunRef: run})
		f.Must(err)
	}
	want := []string{"system: Two questions.", "user: Question 3?", "assistant: Answer 3."}
	if diff := cmp.Diff(want, history(run)); diff != "" {
		t.Error(diff)
	}
	if said := f.Sent(); !strings.Contains(said, "Answer 2.") || strings.Contains(said, "Question 3?") || len(f.Server.Requests()) != 1 {
		t.Errorf("%d requests; the model reads %q", len(f.Server.Requests()), said)
	}

	again := overlong() // the workflow died before it heard of the summary
	_, err = do(f, f.Answering.SummarizeHistory, answering.SummarizeInput{RunRef: again})
	f.Must(err)
	if diff := cmp.Diff(want, history(again)); diff != "" || len(f.Server.Requests()) != 1 {
		t.Errorf("%d requests: %s", len(f.Server.Requests()), diff)
	}

	f.exchanged(4, 5)
	f.Server.ScriptChat(modeltest.Text("<summary>Four questions.</summary>"))
	later := overlong()
	_, err = do(f, f.Answering.SummarizeHistory, answering.SummarizeInput{RunRef: later})
	f.Must(err)
	if diff := cmp.Diff([]string{"system: Four questions.", "user: Question 5?", "assistant: Answer 5."}, history(later)); diff != "" {
		t.Error(diff)
	}
	if said := f.Sent(); !strings.Contains(said, "Two questions.") {
		t.Errorf("the model reads %q", said)
	}

	f.Server.ScriptChat(modeltest.Text("I will not."))
	f.exchanged(6, 9)
	_, err = do(f, f.Answering.SummarizeHistory, answering.SummarizeInput{RunRef: overlong()})
	f.FailedWith(err, knowledge.CodeProviderFailed, false)
}
