package answering_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cairn-rag/cairn/activities/activitytest"
	"github.com/cairn-rag/cairn/activities/answering"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/model/modeltest"
	"github.com/cairn-rag/cairn/internal/record"
)

// TestContextOverflow: a request with more tokens than the model reads is sent once more, without the
// last passages and the oldest messages.
func TestContextOverflow(t *testing.T) {
	t.Parallel()
	const refused = `{"error":{"message":"This model's maximum context length is %d tokens.","code":"context_length_exceeded"}}`
	for name, limit := range map[string]int{"a limit that nearly fits": 700, "a small one": 300, "one that it does not say": 0} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			var text strings.Builder
			for i := range 8 {
				fmt.Fprintf(&text, "# Part %d\n\nApples of the kind %d are picked in autumn, %s.\n\n", i, i, strings.Repeat("by hand and ", 12))
			}
			f.Publish(f.Upload("apples.md", text.String()))
			long := strings.Repeat("Well then. ", 12)
			bare := false
			run := f.Ask("when are apples picked?", func(r *knowledge.Request) {
				r.Config.AI.EnhanceQuery = &bare
				for range 3 {
					r.History = append(r.History, knowledge.Message{Role: "user", Content: long}, knowledge.Message{Role: "assistant", Content: long})
				}
			})
			search, err := do(f, f.Answering.SearchKnowledge, answering.SearchInput{RunRef: run})
			f.Must(err)
			body := fmt.Sprintf(refused, limit)
			if limit == 0 {
				body = `{"error":{"message":"boom","code":"context_length_exceeded"}}`
			}
			f.Server.ScriptChat(modeltest.Reply{Status: 400, Body: body}, modeltest.Text("In autumn [1]."))
			result, err := do(f, f.Answering.CallModel, answering.ModelCallInput{RunRef: run, Turn: 1, Loop: record.Loop{Found: search.Found}})
			f.Must(err)
			requests := f.Server.Requests()
			if len(requests) != 2 {
				f.Fatalf("%d requests", len(requests))
			}
			first, second := string(requests[0].Messages[0].Content), string(requests[1].Messages[0].Content)
			all, kept := strings.Count(first, "</source_"), strings.Count(second, "</source_")
			if kept >= all || kept < 1 || !strings.Contains(second, "<source_1 ") || len(requests[1].Messages) >= len(requests[0].Messages) {
				f.Errorf("%d of %d passages and %d of %d messages stay", kept, all, len(requests[1].Messages), len(requests[0].Messages))
			}
			var turn record.ModelCall
			f.Must(f.Blobs.GetJSON(f.Ctx, result.Key, &turn))
			if len(turn.LeftOut) != all-kept {
				f.Errorf("%v are left out of %d", turn.LeftOut, all)
			}
		})
	}
	t.Run("only once", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		f.Server.ScriptChat(modeltest.Reply{Status: 400, Body: fmt.Sprintf(refused, 100)}, modeltest.Reply{Status: 400, Body: fmt.Sprintf(refused, 100)})
		_, err := do(f, f.Answering.CallModel, answering.ModelCallInput{RunRef: f.Ask("what?"), Turn: 1})
		f.FailedWith(err, knowledge.CodeProviderFailed, false)
		if n := len(f.Server.Requests()); n != 2 {
			f.Errorf("%d requests", n)
		}
	})
}

// TestUnreadableAnswers: an answer that cannot be read is asked for twice at most.
func TestUnreadableAnswers(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.Server.ScriptChat(modeltest.Garbage(), modeltest.Garbage())
	in := answering.ModelCallInput{RunRef: f.Ask("what?"), Turn: 1}
	for i, ctx := range activitytest.Attempts(t, 2) {
		_, err := f.Answering.CallModel(ctx, in)
		f.FailedWith(err, knowledge.CodeProviderFailed, i == 0)
	}
}
