package answering_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/activities/answering"
	"github.com/cairn-rag/cairn/activities/step"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/model"
	"github.com/cairn-rag/cairn/internal/model/modeltest"
	"github.com/cairn-rag/cairn/internal/record"
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
		f.AnswerWith(func(d *answering.Dependencies) {
			d.Tools = tool.Set{post(&keys, func() (tool.Output, error) {
				return tool.Output{Words: "posted", Usage: knowledge.Usage{ModelCalls: 1}}, nil
			})}
		})
		in := f.calls(f.Ask("what?"), called)
		first, err := do(f, f.Answering.CallTool, in)
		f.Must(err)
		again, err := do(f, f.Answering.CallTool, in)
		f.Must(err)
		if diff := cmp.Diff(first, again); diff != "" || len(keys) != 1 || first.Usage.ModelCalls != 1 {
			t.Errorf("%d calls, %+v: %s", len(keys), first, diff)
		}
		turn := record.Turn{Key: in.Key, Outputs: []record.ToolOutput{first}}
		_, err = do(f, f.Answering.CallModel, answering.ModelCallInput{RunRef: in.RunRef, Turn: 2, Loop: record.Loop{Turns: []record.Turn{turn}}})
		f.Must(err)
		messages := f.Server.Requests()[0].Messages
		if last := messages[len(messages)-1]; last.ToolCallID != "a" || !strings.Contains(string(last.Content), "posted") {
			t.Errorf("the model reads %+v", last)
		}
	})

	t.Run("the files of a call are in the answer", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		files := []knowledge.RunFile{{Name: "plot.png", MediaType: "image/png", Bytes: 3, Key: "w/runs/r/files/x"}}
		f.AnswerWith(func(d *answering.Dependencies) {
			d.Tools = tool.Set{post(&[]string{}, func() (tool.Output, error) { return tool.Output{Words: "plotted", Files: files}, nil })}
		})
		in := f.calls(f.talk("what?"), called)
		output, err := do(f, f.Answering.CallTool, in)
		f.Must(err)
		if output.Files != 1 {
			t.Errorf("output %+v", output)
		}
		f.Server.ScriptChat(modeltest.Text("Here it is."))
		loop := record.Loop{Turns: []record.Turn{{Key: in.Key, Outputs: []record.ToolOutput{output}}}}
		answer, err := do(f, f.Answering.CallModel, answering.ModelCallInput{RunRef: in.RunRef, Turn: 2, Loop: loop})
		f.Must(err)
		loop.Answer = answer.Key
		f.Must(f.Answering.FinishAnswer(f.Ctx, answering.FinishAnswerInput{RunRef: in.RunRef, Loop: loop, Status: knowledge.RunCompleted, Workflow: "AnswerQuery"}))
		var result record.Answer
		f.Must(f.Blobs.GetJSON(f.Ctx, in.AnswerKey(), &result))
		want := []record.CalledTool{{ID: "a", Name: "post", Arguments: "{}", Status: knowledge.RunCompleted, Files: files}}
		if diff := cmp.Diff(want, result.ToolCalls); diff != "" {
			t.Error(diff)
		}
	})

	t.Run("a call that was interrupted may have happened, and the model is told", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		var keys []string
		f.AnswerWith(func(d *answering.Dependencies) {
			d.Tools = tool.Set{post(&keys, func() (tool.Output, error) { return tool.Output{}, errors.New("the process ends here") })}
		})
		in := f.calls(f.Ask("what?"), called)
		_, err := do(f, f.Answering.CallTool, in)
		f.FailedWith(err, knowledge.CodeInternal, true)
		_, err = do(f, f.Answering.CallTool, in)
		f.FailedWith(err, knowledge.CodeConflict, false)
		if message := step.Describe(err, knowledge.Failure{}).Message; len(keys) != 1 || !strings.Contains(message, "may have happened") {
			t.Errorf("%d calls, and the model reads %q", len(keys), message)
		}
	})

	t.Run("a tool that hangs is stopped at its limit, and not called again", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		hanging := tool.Tool{Name: "post", Limit: 50 * time.Millisecond, Run: func(ctx context.Context, _ tool.Call) (tool.Output, error) {
			<-ctx.Done()
			return tool.Output{}, ctx.Err()
		}}
		f.AnswerWith(func(d *answering.Dependencies) { d.Tools = tool.Set{hanging} })
		_, err := do(f, f.Answering.CallTool, f.calls(f.Ask("what?"), called))
		f.FailedWith(err, knowledge.CodeProviderFailed, false)
	})
}

func TestToolsOfAQuestion(t *testing.T) {
	t.Parallel()
	called := model.ToolCall{ID: "a", Name: "post", Arguments: `{}`}

	t.Run("the model gets the beginning of words that are too many", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		f.AnswerWith(func(d *answering.Dependencies) {
			d.Tools = tool.Set{post(&[]string{}, func() (tool.Output, error) { return tool.Output{Words: strings.Repeat("é", 5<<19) + "\xff"}, nil })}
		})
		in := f.calls(f.Ask("what?"), called)
		output, err := do(f, f.Answering.CallTool, in)
		f.Must(err)
		var stored record.ToolWords
		f.Must(f.Blobs.GetJSON(f.Ctx, output.Words, &stored))
		if len(stored.Words) > tool.MaxWords+100 || !strings.HasSuffix(stored.Words, "is left out.]") {
			t.Errorf("%d bytes are stored, which end in %q", len(stored.Words), stored.Words[len(stored.Words)-50:])
		}
	})

	t.Run("a source adds tools for a question, under names that are free", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		f.AnswerWith(func(d *answering.Dependencies) {
			d.Sources = []tool.Source{func(_ context.Context, r knowledge.Request) (tool.Set, error) {
				if r.Question != "what?" {
					return nil, nil
				}
				shadow := post(&[]string{}, nil)
				shadow.Name = tool.DocumentsRAG
				return tool.Set{shadow, post(&[]string{}, func() (tool.Output, error) { return tool.Output{Words: "posted"}, nil })}, nil
			}}
		})
		_, err := do(f, f.Answering.CallTool, f.calls(f.Ask("what?"), called))
		f.Must(err)
		_, err = do(f, f.Answering.CallTool, f.calls(f.Ask("who?"), called))
		f.FailedWith(err, knowledge.CodeInvalid, false)
		_, err = do(f, f.Answering.CallTool, f.calls(f.Ask("what?"), model.ToolCall{ID: "a", Name: tool.DocumentsRAG, Arguments: `{"query":"x"}`}))
		f.Must(err)
	})

	t.Run("a tool that the question does not offer cannot be called", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		hidden := post(&[]string{}, func() (tool.Output, error) { return tool.Output{Words: "posted"}, nil })
		hidden.Offered = func(knowledge.Request) bool { return false }
		f.AnswerWith(func(d *answering.Dependencies) { d.Tools = tool.Set{hidden} })
		_, err := do(f, f.Answering.CallTool, f.calls(f.Ask("what?"), called))
		f.FailedWith(err, knowledge.CodeInvalid, false)
	})
}
