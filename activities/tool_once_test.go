package activities_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/activities"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/model"
	"github.com/cairn-rag/cairn/internal/model/modeltest"
	"github.com/cairn-rag/cairn/internal/tool"
)

// post is a tool that must not be repeated. It counts its calls.
func post(keys *[]string, run func() (tool.Output, error)) tool.Tool {
	return tool.Tool{Name: "post", Once: true, Run: func(_ context.Context, c tool.Call) (tool.Output, error) {
		*keys = append(*keys, c.IdempotencyKey())
		return run()
	}}
}

func TestToolsWithEffects(t *testing.T) {
	t.Parallel()
	called := model.ToolCall{ID: "a", Name: "post", Arguments: `{}`}

	t.Run("the words of a call are stored, and it is not repeated", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		var keys []string
		f.answering.Tools = tool.Set{post(&keys, func() (tool.Output, error) {
			return tool.Output{Words: "posted", Usage: knowledge.Usage{ModelCalls: 1}}, nil
		})}
		in := f.calls(f.ask("what?"), called)
		first, err := do(f, f.answering.CallTool, in)
		f.must(err)
		again, err := do(f, f.answering.CallTool, in)
		f.must(err)
		if diff := cmp.Diff(first, again); diff != "" || len(keys) != 1 || first.Usage.ModelCalls != 1 {
			t.Errorf("%d calls, %+v: %s", len(keys), first, diff)
		}
		turn := activities.Turn{Key: in.Key, Outputs: []activities.ToolOutput{first}}
		_, err = do(f, f.answering.CallModel, activities.ModelCallInput{RunRef: in.RunRef, Turn: 2, Loop: activities.Loop{Turns: []activities.Turn{turn}}})
		f.must(err)
		messages := f.server.Requests()[0].Messages
		if last := messages[len(messages)-1]; last.ToolCallID != "a" || !strings.Contains(string(last.Content), "posted") {
			t.Errorf("the model reads %+v", last)
		}
	})

	t.Run("the files of a call are in the answer", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		files := []knowledge.RunFile{{Name: "plot.png", MediaType: "image/png", Bytes: 3, Key: "w/runs/r/files/x"}}
		f.answering.Tools = tool.Set{post(&[]string{}, func() (tool.Output, error) { return tool.Output{Words: "plotted", Files: files}, nil })}
		in := f.calls(f.talk("what?"), called)
		output, err := do(f, f.answering.CallTool, in)
		f.must(err)
		if output.Files != 1 {
			t.Errorf("output %+v", output)
		}
		f.server.ScriptChat(modeltest.Text("Here it is."))
		loop := activities.Loop{Turns: []activities.Turn{{Key: in.Key, Outputs: []activities.ToolOutput{output}}}}
		answer, err := do(f, f.answering.CallModel, activities.ModelCallInput{RunRef: in.RunRef, Turn: 2, Loop: loop})
		f.must(err)
		loop.Answer = answer.Key
		f.must(f.answering.FinishAnswer(f.ctx, activities.FinishAnswerInput{RunRef: in.RunRef, Loop: loop, Status: knowledge.RunCompleted, Workflow: "AnswerQuery"}))
		var record activities.AnswerRecord
		f.must(f.blobs.GetJSON(f.ctx, in.AnswerKey(), &record))
		want := []activities.CalledTool{{ID: "a", Name: "post", Arguments: "{}", Status: knowledge.RunCompleted, Files: files}}
		if diff := cmp.Diff(want, record.ToolCalls); diff != "" {
			t.Error(diff)
		}
	})

	t.Run("a call that was interrupted may have happened, and the model is told", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		var keys []string
		f.answering.Tools = tool.Set{post(&keys, func() (tool.Output, error) { return tool.Output{}, errors.New("the process ends here") })}
		in := f.calls(f.ask("what?"), called)
		_, err := do(f, f.answering.CallTool, in)
		f.failed(err, knowledge.CodeInternal, true)
		_, err = do(f, f.answering.CallTool, in)
		f.failed(err, knowledge.CodeConflict, false)
		if message := activities.Describe(err, knowledge.Failure{}).Message; len(keys) != 1 || !strings.Contains(message, "may have happened") {
			t.Errorf("%d calls, and the model reads %q", len(keys), message)
		}
	})

	t.Run("the model gets the beginning of words that are too many", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		f.answering.Tools = tool.Set{post(&[]string{}, func() (tool.Output, error) { return tool.Output{Words: strings.Repeat("é", 5<<19) + "\xff"}, nil })}
		in := f.calls(f.ask("what?"), called)
		output, err := do(f, f.answering.CallTool, in)
		f.must(err)
		var stored activities.ToolWords
		f.must(f.blobs.GetJSON(f.ctx, output.Words, &stored))
		if len(stored.Words) > tool.MaxWords+100 || !strings.HasSuffix(stored.Words, "is left out.]") {
			t.Errorf("%d bytes are stored, which end in %q", len(stored.Words), stored.Words[len(stored.Words)-50:])
		}
	})

	t.Run("a tool that hangs is stopped at its limit, and not called again", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		hanging := tool.Tool{Name: "post", Limit: 50 * time.Millisecond, Run: func(ctx context.Context, _ tool.Call) (tool.Output, error) {
			<-ctx.Done()
			return tool.Output{}, ctx.Err()
		}}
		f.answering.Tools = tool.Set{hanging}
		_, err := do(f, f.answering.CallTool, f.calls(f.ask("what?"), called))
		f.failed(err, knowledge.CodeProviderFailed, false)
	})

	t.Run("a source adds tools for a question, under names that are free", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		f.answering.Sources = []tool.Source{func(_ context.Context, r knowledge.Request) (tool.Set, error) {
			if r.Question != "what?" {
				return nil, nil
			}
			shadow := post(&[]string{}, nil)
			shadow.Name = tool.DocumentsRAG
			return tool.Set{shadow, post(&[]string{}, func() (tool.Output, error) { return tool.Output{Words: "posted"}, nil })}, nil
		}}
		_, err := do(f, f.answering.CallTool, f.calls(f.ask("what?"), called))
		f.must(err)
		_, err = do(f, f.answering.CallTool, f.calls(f.ask("who?"), called))
		f.failed(err, knowledge.CodeInvalid, false)
		_, err = do(f, f.answering.CallTool, f.calls(f.ask("what?"), model.ToolCall{ID: "a", Name: tool.DocumentsRAG, Arguments: `{"query":"x"}`}))
		f.must(err)
	})

	t.Run("a tool that the question does not offer cannot be called", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		hidden := post(&[]string{}, func() (tool.Output, error) { return tool.Output{Words: "posted"}, nil })
		hidden.Offered = func(knowledge.Request) bool { return false }
		f.answering.Tools = tool.Set{hidden}
		_, err := do(f, f.answering.CallTool, f.calls(f.ask("what?"), called))
		f.failed(err, knowledge.CodeInvalid, false)
	})
}
