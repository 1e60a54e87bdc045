package answering_test

import (
	"context"
	"errors"
	"iter"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/activities/activitytest"
	"github.com/cairn-rag/cairn/activities/answering"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/model"
	"github.com/cairn-rag/cairn/internal/model/modeltest"
	"github.com/cairn-rag/cairn/internal/prompt"
	"github.com/cairn-rag/cairn/internal/record"
	"github.com/cairn-rag/cairn/internal/tool"
)

// scripted is a model in this process that streams words, one at a time.
type scripted struct {
	say func(ctx context.Context, yield func(model.Delta, error) bool)
}

func (s scripted) Chat(ctx context.Context, _ model.ChatRequest) iter.Seq2[model.Delta, error] {
	return func(yield func(model.Delta, error) bool) { s.say(ctx, yield) }
}

func (scripted) Endpoint() model.Endpoint { return model.Endpoint{Provider: "scripted", Model: "m"} }

// replies returns a model that streams words and completes.
func replies(words ...string) scripted {
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

func TestCallModel(t *testing.T) {
	t.Parallel()

	t.Run("a stored turn is not requested again", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		f.Server.ScriptChat(modeltest.Text("Apples are red. Pears are green."))
		in := answering.ModelCallInput{RunRef: f.Ask("what colour?"), Turn: 1}
		first, err := do(f, f.Answering.CallModel, in)
		f.Must(err)
		f.WantAnswer(first, "Apples are red. Pears are green.", 0)
		for _, ctx := range activitytest.Attempts(t, 3)[1:] { // its result was lost
			again, err := f.Answering.CallModel(ctx, in)
			f.Must(err)
			f.WantAnswer(again, "Apples are red. Pears are green.", 0)
			if diff := cmp.Diff(first.Usage, again.Usage); diff != "" || again.Key != first.Key {
				t.Errorf("key %s, usage %s", again.Key, diff)
			}
		}
		if n := f.Server.Totals().Chats.Asked; n != 1 {
			t.Errorf("asked %d times", n)
		}
	})

	t.Run("each turn is a call of its own", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		f.Server.ScriptChat(modeltest.Call(model.ToolCall{ID: "a", Name: tool.DocumentsRAG, Arguments: `{"query":"x"}`}), modeltest.Text("done"))
		run := f.Ask("what?")
		first, err := do(f, f.Answering.CallModel, answering.ModelCallInput{RunRef: run, Turn: 1})
		f.Must(err)
		if diff := cmp.Diff([]answering.ToolCallRef{{ID: "a", Name: tool.DocumentsRAG}}, first.ToolCalls); diff != "" || first.Tail != "" || first.Published {
			t.Errorf("tail %q, published %t, %s", first.Tail, first.Published, diff)
		}
		loop := record.Loop{Turns: []record.Turn{{Key: first.Key, Outputs: []record.ToolOutput{{Failure: "nothing"}}}}}
		second, err := do(f, f.Answering.CallModel, answering.ModelCallInput{RunRef: run, Turn: 2, Loop: loop})
		f.Must(err)
		if second.Key == first.Key || len(second.ToolCalls) != 0 || f.Server.Totals().Chats.Asked != 2 {
			t.Errorf("second turn %+v", second)
		}
		f.WantAnswer(second, "done", 0)
	})

	t.Run("only passages that the model received can be cited", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		f.Publish(f.Upload("apples.txt", "Apples are picked in autumn."))
		run := f.Ask("when are apples picked?")
		search, err := do(f, f.Answering.SearchKnowledge, answering.SearchInput{RunRef: run})
		f.Must(err)
		f.Server.ScriptChat(modeltest.Text("In autumn <source_1>. Or in May <source_2>. Or never [source_7]."))
		in := answering.ModelCallInput{RunRef: run, Turn: 1, Loop: record.Loop{Found: search.Found}}
		result, err := do(f, f.Answering.CallModel, in)
		f.Must(err)
		chunk := knowledge.ChunkID(knowledge.DocumentID("w", "p", "apples.txt"), 1, 0)
		f.WantAnswer(result, `In autumn <citation id="`+chunk+`">[1]</citation>. Or in May. Or never.`, 0)
		var turn record.ModelCall
		f.Must(f.Blobs.GetJSON(f.Ctx, result.Key, &turn))
		if diff := cmp.Diff([]int{1}, turn.Used); diff != "" {
			t.Error(diff)
		}
	})

	for name, tc := range map[string]struct {
		kind                knowledge.RunKind
		prompt, rules, want string
	}{
		"a tool's model is given the passages where its prompt has a place": {"tool", "Passages: ${context} Be brief.", "off", "Passages: SOURCES Be brief."},
		"a tool's model is given the passages behind a prompt without":      {"tool", "Answer like a lawyer.", "off", "Answer like a lawyer.\n\nSOURCES"},
		"a question's model is given what its prompt has a place for":       {"query", "Answer like a lawyer.", "off", "Answer like a lawyer."},
		"rules stand around a prompt":                                       {"query", "Answer like a lawyer.", "", "CITE\n\nAnswer like a lawyer.\n\nGUARD"},
		"rules stand around the prompt of a tool":                           {"tool", "Passages: ${context}", "on", "CITE\n\nPassages: SOURCES\n\nGUARD"},
		"a tool without documents_rag does not offer it":                    {"tool", "", "", strings.NewReplacer("; you may call documents_rag to look for other passages first", "", "${context}", "SOURCES").Replace(strings.ReplaceAll(prompt.Default, "${date}", "Monday, 2 March 2026"))},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			f.Publish(f.Upload("apples.txt", "Apples are picked in autumn."))
			run := f.Ask("when are apples picked?", func(r *knowledge.Request) {
				r.Kind, r.Config.AI.Prompt, r.Config.AI.PromptRules = tc.kind, tc.prompt, tc.rules
			})
			search, err := do(f, f.Answering.SearchKnowledge, answering.SearchInput{RunRef: run})
			f.Must(err)
			in := answering.ModelCallInput{RunRef: run, Turn: 1, NoTools: true}
			if tc.kind == "tool" {
				in.Loop.Found = search.Found
			}
			_, err = do(f, f.Answering.CallModel, in)
			f.Must(err)
			sources := "<source_1 document=\"apples.txt\">\nApples are picked in autumn.\n</source_1>\n"
			got := string(f.Server.Requests()[0].Messages[0].Content)
			cite, guard, _ := strings.Cut(prompt.WithRules("|"), "\n\n|\n\n")
			if diff := cmp.Diff(strings.NewReplacer("SOURCES", sources, "CITE", cite, "GUARD", guard).Replace(tc.want), got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestToolCallsThatAreNotAllowed(t *testing.T) {
	t.Parallel()

	t.Run("tool calls are dropped if none are allowed", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		call := modeltest.Call(model.ToolCall{ID: "a", Name: tool.DocumentsRAG, Arguments: `{}`})
		call.Text = "I would search."
		f.Server.ScriptChat(call)
		result, err := do(f, f.Answering.CallModel, answering.ModelCallInput{RunRef: f.Ask("what?"), Turn: 6, NoTools: true})
		f.Must(err)
		if len(result.ToolCalls) != 0 {
			t.Errorf("calls %+v", result.ToolCalls)
		}
		if mode := f.Server.Requests()[0].ToolChoice.Mode; mode != "none" {
			t.Errorf("tool_choice %q", mode)
		}
		f.WantAnswer(result, "I would search.", 0)
	})

	t.Run("a model that calls a tool although none is allowed is asked without tools", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		call := modeltest.Call(model.ToolCall{ID: "a", Name: tool.DocumentsRAG, Arguments: `{}`})
		f.Server.ScriptChat(call, modeltest.Text("The answer."))
		result, err := do(f, f.Answering.CallModel, answering.ModelCallInput{RunRef: f.Ask("what?"), Turn: 6, NoTools: true})
		f.Must(err)
		f.WantAnswer(result, "The answer.", 0)
		if n := len(f.Server.Requests()); n != 2 || len(f.Server.Requests()[1].Tools) != 0 || result.Usage.ModelCalls != 2 {
			t.Errorf("%d requests, usage %+v", n, result.Usage)
		}
	})
}

func TestFailuresOfModelCalls(t *testing.T) {
	t.Parallel()

	t.Run("an empty answer is an error", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		f.AnswerWith(func(d *answering.Dependencies) { d.Chat = replies() })
		in := answering.ModelCallInput{RunRef: f.Ask("what?"), Turn: 1}
		_, err := do(f, f.Answering.CallModel, in)
		f.FailedWith(err, knowledge.CodeProviderFailed, true)
		f.AnswerWith(func(d *answering.Dependencies) { d.Chat = replies("a word") })
		result, err := do(f, f.Answering.CallModel, in)
		f.Must(err)
		f.WantAnswer(result, "a word", 0)
	})

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
			ctx, cancel := context.WithCancel(activitytest.Attempts(t, 1)[0])
			f.AnswerWith(func(d *answering.Dependencies) { d.Chat = tc.say(cancel) })
			in := answering.ModelCallInput{RunRef: f.Ask("what?"), Turn: 1}
			_, err := f.Answering.CallModel(ctx, in)
			if !errors.Is(err, context.Canceled) && (err != nil || !tc.kept) {
				t.Errorf("%s: %v", name, err)
			}
			if kept, err := f.Blobs.Exists(f.Ctx, in.TurnKey(1)); err != nil || kept != tc.kept {
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
			f.Server.ScriptChat(tc.reply)
			in := answering.ModelCallInput{RunRef: f.Ask("what?"), Turn: 1}
			_, err := do(f, f.Answering.CallModel, in)
			f.FailedWith(err, tc.code, tc.retryable)
			if there, err := f.Blobs.Exists(f.Ctx, in.TurnKey(1)); err != nil || there {
				t.Errorf("stored: %t, %v", there, err)
			}
		})
	}
}
