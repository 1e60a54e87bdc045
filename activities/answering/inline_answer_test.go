package answering_test

import (
	"context"
	"errors"
	"testing"

	"go.temporal.io/sdk/activity"

	"github.com/cairn-rag/cairn/activities/answering"
	"github.com/cairn-rag/cairn/internal/model"
	"github.com/cairn-rag/cairn/internal/record"
)

// TestInlineAnswer calls the model where the result may hold the record of the answer. A
// record is in the result or in the blob store, and in the result only once Temporal has it.
func TestInlineAnswer(t *testing.T) {
	t.Parallel()
	type call struct {
		chat     scripted
		attempt  int
		inline   bool
		followed int    // questions that are answered at the same time
		reported *[]any // nil = Temporal cannot be told
	}
	calls := scripted{say: func(_ context.Context, yield func(model.Delta, error) bool) {
		end := done()
		end.Done.ToolCalls = []model.ToolCall{{ID: "1", Name: "documents_rag", Arguments: `{"query":"x"}`}}
		_ = yield(model.Delta{Text: "one two"}, nil) && yield(end, nil)
	}}
	words := replies("one ", "two")
	for name, tc := range map[string]struct {
		call
		inResult bool
	}{
		"an answer whose words nobody has is in the result": {call{words, 1, true, 4, new([]any)}, true},
		"one that another step reads is a blob":             {call{words, 1, false, 4, new([]any)}, false},
		"one that Temporal could not be told is a blob":     {call{words, 1, true, 4, nil}, false},
		"one whose first words are published is a blob":     {call{words, 1, true, 1, new([]any)}, false},
		"the result of a repeated call is a blob":           {call{words, 2, true, 4, new([]any)}, false},
		"tool calls are in a blob":                          {call{calls, 1, true, 4, new([]any)}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, 2, func(f *fixture, contexts []context.Context) {
				f.AnswerWith(func(d *answering.Dependencies) { d.Chat = tc.chat })
				f.Workflows.Completed = tc.reported
				run := f.Ask("what?")
				for _, asked := range []string{run.Run, "2", "3", "4"}[:tc.followed] {
					defer f.Hub.Follow(asked)()
				}
				in := answering.ModelCallInput{RunRef: run, Turn: 1, Inline: tc.inline}
				result, err := f.Answering.CallModel(contexts[tc.attempt-1], in)
				if err != nil && !errors.Is(err, activity.ErrResultPending) {
					f.Fatal(err)
				}
				isStored, err := f.Blobs.Exists(f.Ctx, run.TurnKey(1))
				f.Must(err)
				if inResult := result.Record != nil; inResult != tc.inResult || isStored == tc.inResult {
					f.Errorf("in the result %t, stored %t", inResult, isStored)
				}
				if result.Record != nil && result.Record.Text != "one two" {
					f.Errorf("the result holds %q", result.Record.Text)
				}
			})
		})
	}

	t.Run("the end of the run stores the answer from the result", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		in := f.toFinish("c")
		in.Loop.Answer, in.Loop.Record = in.TurnKey(2), &record.ModelCall{Text: "In winter.", Model: "m"}
		f.Must(act(f, f.Answering.FinishAnswer, in))
		var answer record.Answer
		f.Must(f.Blobs.GetJSON(f.Ctx, in.AnswerKey(), &answer))
		if answer.Answer != "In winter." {
			f.Errorf("the answer is %q", answer.Answer)
		}
	})
}
