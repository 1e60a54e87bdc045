package activities_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/workflow"

	"github.com/cairn-rag/cairn/activities"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/model"
	"github.com/cairn-rag/cairn/internal/model/modeltest"
	"github.com/cairn-rag/cairn/internal/stream"
	"github.com/cairn-rag/cairn/internal/tool"
)

// ask stores the request of a question.
func (f *fixture) ask(question string, change ...func(*knowledge.Request)) knowledge.RunRef {
	f.Helper()
	request := knowledge.Request{
		Principal: member(), Kind: "query", Question: question, Config: knowledge.ProjectConfig{}.WithDefaults(),
		Date: time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC),
	}
	for _, c := range change {
		c(&request)
	}
	run := knowledge.RunRef{Workspace: "w", Project: "p", Run: knowledge.NewID()}
	_, err := f.blobs.PutJSON(f.ctx, run.RequestKey(), request)
	f.must(err)
	return run
}

// attempts returns the contexts of n attempts of one activity. They do not end with
// the attempts.
func attempts(t *testing.T, n int) []context.Context {
	t.Helper()
	var list []context.Context
	var suite testsuite.WorkflowTestSuite
	suite.SetLogger(quiet())
	env := suite.NewTestWorkflowEnvironment()
	env.RegisterActivity(attempt(func(ctx context.Context) error {
		if list = append(list, context.WithoutCancel(ctx)); len(list) < n {
			return fmt.Errorf("attempt %d", len(list))
		}
		return nil
	}).Attempt)
	env.ExecuteWorkflow(func(ctx workflow.Context) error {
		ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
			StartToCloseTimeout: time.Minute, RetryPolicy: &temporal.RetryPolicy{InitialInterval: time.Millisecond},
		})
		return workflow.ExecuteActivity(ctx, "Attempt").Get(ctx, nil)
	})
	if err := env.GetWorkflowError(); err != nil || len(list) != n {
		t.Fatalf("%d attempts, %v", len(list), err)
	}
	return list
}

type attempt func(context.Context) error

func (a attempt) Attempt(ctx context.Context) error { return a(ctx) }

// scripted is a model in this process that streams words, one at a time.
type scripted struct {
	say func(ctx context.Context, yield func(model.Delta, error) bool)
}

func (s scripted) Chat(ctx context.Context, _ model.ChatRequest) iter.Seq2[model.Delta, error] {
	return func(yield func(model.Delta, error) bool) { s.say(ctx, yield) }
}

func (scripted) Endpoint() model.Endpoint { return model.Endpoint{Provider: "scripted", Model: "m"} }

// answering returns a model that streams words and completes.
func answering(words ...string) scripted {
	return scripted{say: func(_ context.Context, yield func(model.Delta, error) bool) {
		for _, w := range words {
			if !yield(model.Delta{Text: w}, nil) {
				return
			}
		}
		yield(done(), nil)
	}}
}

func done() model.Delta {
	return model.Delta{Done: &model.Completion{FinishReason: model.FinishStop, Model: "m", Usage: model.Usage{PromptTokens: 3, CompletionTokens: 2}}}
}

// read returns the text that a reader of a log has, the words since the last reset,
// and the number of resets.
func read(t *testing.T, items []stream.Item) (text string, resets int) {
	t.Helper()
	for i, item := range items {
		if item.Offset != items[0].Offset+int64(i) {
			t.Errorf("item %d has offset %d", i, item.Offset)
		}
		event, err := stream.DecodeEvent(item.Data)
		if err != nil {
			t.Error(err)
		}
		switch item.Topic {
		case stream.TopicDelta:
			text += event.Text
		case stream.TopicReset:
			text, resets = "", resets+1
		}
	}
	return text, resets
}

// want checks the text that readers have after the workflow has added the tail of a
// call.
func (f *fixture) want(result activities.ModelCallResult, text string, resets int) {
	f.Helper()
	got, n := read(f.T, f.workflows.items())
	if got += result.Tail; got != text || n != resets {
		f.Errorf("after %d resets readers have %q, want %q after %d", n, got, text, resets)
	}
}

func TestCallModel(t *testing.T) {
	t.Parallel()

	t.Run("a stored turn is not requested again", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		f.server.ScriptChat(modeltest.Text("Apples are red. Pears are green."))
		in := activities.ModelCallInput{RunRef: f.ask("what colour?"), Turn: 1}
		first, err := do(f, f.answering.CallModel, in)
		f.must(err)
		f.want(first, "Apples are red. Pears are green.", 0)
		for _, ctx := range attempts(t, 3)[1:] { // its result was lost
			again, err := f.answering.CallModel(ctx, in)
			f.must(err)
			f.want(again, "Apples are red. Pears are green.", 0)
			if diff := cmp.Diff(first.Usage, again.Usage); diff != "" || again.Key != first.Key {
				t.Errorf("key %s, usage %s", again.Key, diff)
			}
		}
		if n := f.server.Totals().Chats.Asked; n != 1 {
			t.Errorf("asked %d times", n)
		}
	})

	t.Run("each turn is a call of its own", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		f.server.ScriptChat(modeltest.Call(model.ToolCall{ID: "a", Name: tool.DocumentsRAG, Arguments: `{"query":"x"}`}), modeltest.Text("done"))
		run := f.ask("what?")
		first, err := do(f, f.answering.CallModel, activities.ModelCallInput{RunRef: run, Turn: 1})
		f.must(err)
		if diff := cmp.Diff([]activities.ToolCallRef{{ID: "a", Name: tool.DocumentsRAG}}, first.ToolCalls); diff != "" || first.Tail != "" || first.Published {
			t.Errorf("tail %q, published %t, %s", first.Tail, first.Published, diff)
		}
		loop := activities.Loop{Turns: []activities.Turn{{Key: first.Key, Outputs: []activities.ToolOutput{{Failure: "nothing"}}}}}
		second, err := do(f, f.answering.CallModel, activities.ModelCallInput{RunRef: run, Turn: 2, Loop: loop})
		f.must(err)
		if second.Key == first.Key || len(second.ToolCalls) != 0 || f.server.Totals().Chats.Asked != 2 {
			t.Errorf("second turn %+v", second)
		}
		f.want(second, "done", 0)
	})

	t.Run("tool calls are dropped if none are allowed", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		call := modeltest.Call(model.ToolCall{ID: "a", Name: tool.DocumentsRAG, Arguments: `{}`})
		call.Text = "I would search."
		f.server.ScriptChat(call)
		result, err := do(f, f.answering.CallModel, activities.ModelCallInput{RunRef: f.ask("what?"), Turn: 6, NoTools: true})
		f.must(err)
		if len(result.ToolCalls) != 0 {
			t.Errorf("calls %+v", result.ToolCalls)
		}
		if mode := f.server.Requests()[0].ToolChoice.Mode; mode != "none" {
			t.Errorf("tool_choice %q", mode)
		}
		f.want(result, "I would search.", 0)
	})

	t.Run("a model that calls a tool although none is allowed is asked without tools", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		call := modeltest.Call(model.ToolCall{ID: "a", Name: tool.DocumentsRAG, Arguments: `{}`})
		f.server.ScriptChat(call, modeltest.Text("The answer."))
		result, err := do(f, f.answering.CallModel, activities.ModelCallInput{RunRef: f.ask("what?"), Turn: 6, NoTools: true})
		f.must(err)
		f.want(result, "The answer.", 0)
		if n := len(f.server.Requests()); n != 2 || len(f.server.Requests()[1].Tools) != 0 || result.Usage.ModelCalls != 2 {
			t.Errorf("%d requests, usage %+v", n, result.Usage)
		}
	})

	t.Run("an empty answer is an error", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		f.answering.Chat = answering()
		in := activities.ModelCallInput{RunRef: f.ask("what?"), Turn: 1}
		_, err := do(f, f.answering.CallModel, in)
		f.failed(err, knowledge.CodeProviderFailed, true)
		f.answering.Chat = answering("a word")
		result, err := do(f, f.answering.CallModel, in)
		f.must(err)
		f.want(result, "a word", 0)
	})

	t.Run("only passages that the model received can be cited", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		f.publish(f.upload("apples.txt", "Apples are picked in autumn."))
		run := f.ask("when are apples picked?")
		search, err := do(f, f.answering.SearchKnowledge, activities.SearchInput{RunRef: run})
		f.must(err)
		f.server.ScriptChat(modeltest.Text("In autumn <source_1>. Or in May <source_2>. Or never [7]."))
		in := activities.ModelCallInput{RunRef: run, Turn: 1, Loop: activities.Loop{Found: search.Found}}
		result, err := do(f, f.answering.CallModel, in)
		f.must(err)
		chunk := knowledge.ChunkID(knowledge.DocumentID("w", "p", "apples.txt"), 1, 0)
		f.want(result, `In autumn <citation id="`+chunk+`">[1]</citation>. Or in May. Or never.`, 0)
		var record activities.TurnRecord
		f.must(f.blobs.GetJSON(f.ctx, result.Key, &record))
		if diff := cmp.Diff([]int{1}, record.Used); diff != "" {
			t.Error(diff)
		}
	})

	for name, tc := range map[string]struct {
		kind         knowledge.RunKind
		prompt, want string
	}{
		"a tool's model is given the passages where its prompt has a place": {"tool", "Passages: ${context} Be brief.", "Passages: SOURCES Be brief."},
		"a tool's model is given the passages behind a prompt without":      {"tool", "Answer like a lawyer.", "Answer like a lawyer.\n\nSOURCES"},
		"a question's model is given what its prompt has a place for":       {"query", "Answer like a lawyer.", "Answer like a lawyer."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			f.publish(f.upload("apples.txt", "Apples are picked in autumn."))
			run := f.ask("when are apples picked?", func(r *knowledge.Request) { r.Kind, r.Config.AI.Prompt = tc.kind, tc.prompt })
			search, err := do(f, f.answering.SearchKnowledge, activities.SearchInput{RunRef: run})
			f.must(err)
			in := activities.ModelCallInput{RunRef: run, Turn: 1, NoTools: true}
			if tc.kind == "tool" {
				in.Loop.Found = search.Found
			}
			_, err = do(f, f.answering.CallModel, in)
			f.must(err)
			sources := "<source_1 document=\"apples.txt\">\nApples are picked in autumn.\n</source_1>\n"
			got := string(f.server.Requests()[0].Messages[0].Content)
			if diff := cmp.Diff(strings.ReplaceAll(tc.want, "SOURCES", sources), got); diff != "" {
				t.Error(diff)
			}
		})
	}

	t.Run("a canceled call stores nothing, but a completed one is kept", func(t *testing.T) {
		t.Parallel()
		for name, tc := range map[string]struct {
			say  func(cancel func()) scripted
			kept bool
		}{
			"in mid answer": {func(cancel func()) scripted {
				return scripted{say: func(ctx context.Context, yield func(model.Delta, error) bool) {
					yield(model.Delta{Text: "one "}, nil)
					cancel()
					yield(model.Delta{}, ctx.Err())
				}}
			}, false},
			"at its end": {func(cancel func()) scripted {
				return scripted{say: func(_ context.Context, yield func(model.Delta, error) bool) {
					yield(model.Delta{Text: "one "}, nil)
					cancel()
					yield(done(), nil)
				}}
			}, true},
		} {
			f := newFixture(t)
			ctx, cancel := context.WithCancel(attempts(t, 1)[0])
			f.answering.Chat = tc.say(cancel)
			in := activities.ModelCallInput{RunRef: f.ask("what?"), Turn: 1}
			_, err := f.answering.CallModel(ctx, in)
			if !errors.Is(err, context.Canceled) && (err != nil || !tc.kept) {
				t.Errorf("%s: %v", name, err)
			}
			if kept, err := f.blobs.Exists(f.ctx, in.TurnKey(1)); err != nil || kept != tc.kept {
				t.Errorf("%s: kept %t, %v", name, kept, err)
			}
		}
	})

	for name, tc := range map[string]struct {
		reply     modeltest.Reply
		code      knowledge.Code
		retryable bool
	}{
		"an endpoint that is overloaded":         {modeltest.Fail(503), knowledge.CodeProviderFailed, true},
		"an endpoint that limits requests":       {modeltest.Fail(429), knowledge.CodeRateLimited, true},
		"a stream that is cut":                   {modeltest.CutAfter(3), knowledge.CodeProviderFailed, true},
		"an answer that cannot be read":          {modeltest.Garbage(), knowledge.CodeProviderFailed, true},
		"a key that is wrong":                    {modeltest.Fail(401), knowledge.CodeProviderFailed, false},
		"a request that the endpoint turns down": {modeltest.Fail(400), knowledge.CodeProviderFailed, false},
	} {
		t.Run(name+" fails the call", func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			f.server.ScriptChat(tc.reply)
			in := activities.ModelCallInput{RunRef: f.ask("what?"), Turn: 1}
			_, err := do(f, f.answering.CallModel, in)
			f.failed(err, tc.code, tc.retryable)
			if there, err := f.blobs.Exists(f.ctx, in.TurnKey(1)); err != nil || there {
				t.Errorf("stored: %t, %v", there, err)
			}
		})
	}
}
