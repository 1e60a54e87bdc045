package workflows_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/mock"
	sdkpb "go.temporal.io/api/sdk/v1"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"

	"github.com/cairn-rag/cairn/activities/answering"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/record"
	"github.com/cairn-rag/cairn/internal/stream"
	"github.com/cairn-rag/cairn/internal/tool"
	"github.com/cairn-rag/cairn/workflows"
)

// answerTest runs AnswerQuery against activities that the test sets up.
type answerTest struct {
	ends[answering.FinishAnswerInput]
	env *testsuite.TestWorkflowEnvironment
}

func newAnswerTest(t *testing.T) *answerTest {
	t.Helper()
	test := &answerTest{env: newEnvironment()}
	test.env.SetTestTimeout(30 * time.Second)
	var acts answering.Activities
	test.env.RegisterActivity(&answering.Activities{})
	test.env.OnActivity(acts.SearchKnowledge, mock.Anything, mock.Anything).Maybe().Return(record.SearchResult{Found: &record.Search{Retrieved: 7}, Retrieved: 7, Kept: 3, Usage: knowledge.Usage{ModelCalls: 2}}, nil)
	test.env.OnActivity(acts.FinishAnswer, mock.Anything, mock.Anything).Maybe().Return(test.finish)
	return test
}

func (test *answerTest) model(reply func(in answering.ModelCallInput) (answering.ModelCallResult, error)) {
	var acts answering.Activities
	test.env.OnActivity(acts.CallModel, mock.Anything, mock.Anything).Return(
		func(_ context.Context, in answering.ModelCallInput) (answering.ModelCallResult, error) {
			return reply(in)
		})
}

func (test *answerTest) run(t *testing.T, in record.AnswerInput) answering.FinishAnswerInput {
	t.Helper()
	in.RunRef = knowledge.RunRef{Workspace: "w", Project: "p", Run: "r"}
	test.env.ExecuteWorkflow(workflows.AnswerQuery, in)
	if err := test.env.GetWorkflowError(); err != nil {
		t.Fatal(err)
	}
	if len(test.finished) != 1 {
		t.Fatalf("the run was finished %d times", len(test.finished))
	}
	return test.finished[0]
}

func topics(items []stream.Item) []string {
	out := []string{}
	for _, item := range items {
		out = append(out, item.Topic)
	}
	return out
}

func TestAnswerQuery(t *testing.T) {
	t.Parallel()
	var acts answering.Activities

	t.Run("a question without tools is searched, answered and saved", func(t *testing.T) {
		t.Parallel()
		test := newAnswerTest(t)
		test.model(func(in answering.ModelCallInput) (answering.ModelCallResult, error) {
			if in.Offset != 1 || len(in.Preceding) != 1 || in.Loop.Found == nil || len(in.Loop.Searches) != 0 {
				t.Errorf("model call input %+v", in)
			}
			if !in.Inline {
				t.Error("the answer has to be a blob")
			}
			return answering.ModelCallResult{Key: "turn-1", Attempt: 1, Tail: "the answer", Record: &record.ModelCall{Text: "the answer"}}, nil
		})
		end := test.run(t, record.AnswerInput{SearchFirst: true, MaxToolTurns: 5})
		if diff := cmp.Diff([]string{"runStarted", "delta", "sources", "completed"}, topics(end.Items)); diff != "" {
			t.Error(diff)
		}
		if end.Loop.Answer != "turn-1" || end.Loop.Record == nil || end.Loop.Record.Text != "the answer" {
			t.Errorf("answer %q, in the result %+v", end.Loop.Answer, end.Loop.Record)
		}
	})

	t.Run("a search that asks a model is an activity at once, and its usage counts", func(t *testing.T) {
		t.Parallel()
		test := newAnswerTest(t)
		local := 0
		test.env.SetOnLocalActivityStartedListener(func(info *activity.Info, _ context.Context, _ []any) {
			if info.ActivityType.Name == "SearchKnowledge" {
				local++
			}
		})
		test.model(func(answering.ModelCallInput) (answering.ModelCallResult, error) {
			return answering.ModelCallResult{Key: "turn-1", Attempt: 1, Tail: "found", Usage: knowledge.Usage{ModelCalls: 1}}, nil
		})
		end := test.run(t, record.AnswerInput{SearchFirst: true, SlowSearch: true, MaxToolTurns: 5})
		if local != 0 || end.Loop.Usage.ModelCalls != 3 {
			t.Errorf("%d local searches, usage %+v", local, end.Loop.Usage)
		}
	})

	t.Run("a search whose result is long is passed on by its key", func(t *testing.T) {
		t.Parallel()
		test := &answerTest{env: newEnvironment()}
		test.env.RegisterActivity(&answering.Activities{})
		test.env.OnActivity(acts.SearchKnowledge, mock.Anything, mock.Anything).Return(record.SearchResult{Key: "search-0", Kept: 30}, nil)
		test.env.OnActivity(acts.FinishAnswer, mock.Anything, mock.Anything).Return(test.finish)
		test.model(func(in answering.ModelCallInput) (answering.ModelCallResult, error) {
			return answering.ModelCallResult{Key: "turn-1", Attempt: 1, Tail: "the answer"}, nil
		})
		end := test.run(t, record.AnswerInput{SearchFirst: true, MaxToolTurns: 5})
		if diff := cmp.Diff([]string{"search-0"}, end.Loop.Searches); diff != "" || end.Loop.Found != nil {
			t.Error(diff)
		}
	})

	t.Run("the workflow continues as new between two turns and carries its state", func(t *testing.T) {
		t.Parallel()
		test := newAnswerTest(t)
		test.env.SetContinueAsNewSuggested(true)
		test.model(func(answering.ModelCallInput) (answering.ModelCallResult, error) {
			return answering.ModelCallResult{Key: "t", Attempt: 1, ToolCalls: []answering.ToolCallRef{{ID: "a", Name: tool.DocumentsRAG}}}, nil
		})
		test.env.OnActivity(acts.CallTool, mock.Anything, mock.Anything).Return(record.ToolOutput{Search: "s"}, nil)
		test.env.ExecuteWorkflow(workflows.AnswerQuery, record.AnswerInput{MaxToolTurns: 5})
		if !isContinueAsNew(test.env.GetWorkflowError()) {
			t.Fatalf("ended with %v", test.env.GetWorkflowError())
		}
		if len(test.finished) != 0 {
			t.Error("a run that continues as new was finished")
		}
	})
}

func TestToolsOfAQuestion(t *testing.T) {
	t.Parallel()
	var acts answering.Activities

	t.Run("tools of one turn run side by side and the answer follows", func(t *testing.T) {
		t.Parallel()
		test := newAnswerTest(t)
		test.model(func(in answering.ModelCallInput) (answering.ModelCallResult, error) {
			if in.Turn == 1 {
				return answering.ModelCallResult{Key: "turn-1", Attempt: 1, Tail: "let me look", ToolCalls: []answering.ToolCallRef{
					{ID: "a", Name: tool.DocumentsRAG}, {ID: "b", Name: tool.DocumentsRAG},
				}}, nil
			}
			if diff := cmp.Diff([]string{"s0", "s1"}, in.Loop.Searches); diff != "" {
				t.Error(diff)
			}
			return answering.ModelCallResult{Key: "turn-2", Attempt: 1, Tail: "found"}, nil
		})
		var both sync.WaitGroup
		both.Add(2)
		test.env.OnActivity(acts.CallTool, mock.Anything, mock.Anything).Return(
			func(_ context.Context, in answering.ToolCallInput) (record.ToolOutput, error) {
				both.Done()
				both.Wait() // ends only if both calls run at the same time
				return record.ToolOutput{Search: fmt.Sprintf("s%d", in.Call), Kept: 1}, nil
			})
		end := test.run(t, record.AnswerInput{MaxToolTurns: 5})
		want := []string{"runStarted", "delta", "messageReset", "toolCall", "toolCall", "toolCall", "toolCall", "delta", "sources", "completed"}
		if diff := cmp.Diff(want, topics(end.Items)); diff != "" {
			t.Error(diff)
		}
	})

	t.Run("after the allowed turns the model may call no more tools", func(t *testing.T) {
		t.Parallel()
		test := newAnswerTest(t)
		calls := 0
		test.model(func(in answering.ModelCallInput) (answering.ModelCallResult, error) {
			calls++
			if in.NoTools {
				return answering.ModelCallResult{Key: "last", Attempt: 1, Tail: "enough"}, nil
			}
			return answering.ModelCallResult{Key: "turn", Attempt: 1, ToolCalls: []answering.ToolCallRef{{ID: "a", Name: tool.DocumentsRAG}}}, nil
		})
		test.env.OnActivity(acts.CallTool, mock.Anything, mock.Anything).Return(record.ToolOutput{Search: "s"}, nil)
		test.run(t, record.AnswerInput{MaxToolTurns: 3})
		if calls != 4 {
			t.Errorf("%d model calls for 3 turns with tools", calls)
		}
	})

	t.Run("a tool's failure goes back to the model as its result", func(t *testing.T) {
		t.Parallel()
		test := newAnswerTest(t)
		test.model(func(in answering.ModelCallInput) (answering.ModelCallResult, error) {
			if in.Turn == 1 {
				return answering.ModelCallResult{Key: "t", Attempt: 1, ToolCalls: []answering.ToolCallRef{{ID: "a", Name: "unknown"}}}, nil
			}
			if in.Loop.Turns[0].Outputs[0].Failure != "no such tool" {
				t.Errorf("outputs %+v", in.Loop.Turns[0].Outputs)
			}
			return answering.ModelCallResult{Key: "t2", Attempt: 1, Tail: "sorry"}, nil
		})
		test.env.OnActivity(acts.CallTool, mock.Anything, mock.Anything).Return(record.ToolOutput{},
			temporal.NewNonRetryableApplicationError("no such tool", "invalid", nil))
		if end := test.run(t, record.AnswerInput{MaxToolTurns: 5}); end.Status != "completed" {
			t.Errorf("status %s", end.Status)
		}
	})

	t.Run("words that were published before the result of the call are kept", func(t *testing.T) {
		t.Parallel()
		test := newAnswerTest(t)
		test.model(func(in answering.ModelCallInput) (answering.ModelCallResult, error) {
			for i, text := range []string{"one ", "two "} {
				e, err := stream.NewEntry(stream.TopicDelta, stream.Event{Turn: 1, Attempt: 1, Text: text})
				if err != nil {
					t.Error(err)
				}
				test.env.SignalWorkflow(stream.SignalPublish, stream.Batch{Items: []stream.Entry{e}, PublisherID: "p", Sequence: int64(i + 1)})
			}
			return answering.ModelCallResult{Key: "t", Attempt: 1, Tail: "three", Published: true}, nil
		})
		end := test.run(t, record.AnswerInput{MaxToolTurns: 5})
		text := ""
		for _, item := range end.Items {
			if e, err := stream.DecodeEvent(item.Data); err == nil && item.Topic == stream.TopicDelta {
				text += e.Text
			}
		}
		if text != "one two three" {
			t.Errorf("the log has the text %q", text)
		}
	})
}

func TestApprovalOfACall(t *testing.T) {
	t.Parallel()
	var acts answering.Activities

	t.Run("a call that needs an approval waits for it, and a refused one is not made", func(t *testing.T) {
		t.Parallel()
		test := newAnswerTest(t)
		test.model(func(in answering.ModelCallInput) (answering.ModelCallResult, error) {
			if in.Turn == 1 {
				return answering.ModelCallResult{Key: "turn-1", Attempt: 1, ToolCalls: []answering.ToolCallRef{
					{ID: "a", Name: "post", Approval: true}, {ID: "b", Name: "post", Approval: true}, {ID: "c", Name: "look"},
				}}, nil
			}
			want := []record.ToolOutput{{Words: "call 0"}, {Words: "refusal", Refused: true}, {Words: "call 2"}}
			if diff := cmp.Diff(want, in.Loop.Turns[0].Outputs); diff != "" {
				t.Error(diff)
			}
			return answering.ModelCallResult{Key: "turn-2", Attempt: 1, Tail: "done"}, nil
		})
		test.env.OnActivity(acts.CallTool, mock.Anything, mock.Anything).Return(
			func(_ context.Context, in answering.ToolCallInput) (record.ToolOutput, error) {
				return record.ToolOutput{Words: fmt.Sprintf("call %d", in.Call)}, nil
			})
		refused := map[string]bool{}
		decide := func(after time.Duration, id string, d record.Decision) {
			test.env.RegisterDelayedCallback(func() {
				test.env.UpdateWorkflow(workflows.UpdateDecide, id, &testsuite.TestUpdateCallback{
					OnReject: func(error) { refused[id] = true },
					OnAccept: func() {},
					OnComplete: func(_ any, err error) {
						if err != nil {
							t.Error(err)
						}
					},
				}, d)
			}, after)
		}
		decide(24*time.Hour, "no such call", record.Decision{Call: "c"})
		decide(48*time.Hour, "refuse b", record.Decision{Call: "b", Refusal: "refusal"})
		decide(49*time.Hour, "again", record.Decision{Call: "b"})
		decide(72*time.Hour, "approve a", record.Decision{Call: "a"})
		end := test.run(t, record.AnswerInput{MaxToolTurns: 5})
		if diff := cmp.Diff(map[string]bool{"no such call": true, "again": true}, refused); diff != "" || end.Status != "completed" {
			t.Errorf("status %s, refused decisions %s", end.Status, diff)
		}
		statuses := []string{}
		for _, item := range end.Items {
			var data record.ToolCallData
			if e, err := stream.DecodeEvent(item.Data); err == nil && item.Topic == stream.TopicToolCall && json.Unmarshal(e.Data, &data) == nil {
				statuses = append(statuses, data.ID+" "+string(data.Status))
			}
		}
		want := []string{"a waiting", "b waiting", "c started", "c completed", "b refused", "a started", "a completed"}
		if diff := cmp.Diff(want, statuses); diff != "" {
			t.Error(diff)
		}
	})
}

func TestConversation(t *testing.T) {
	t.Parallel()
	var acts answering.Activities

	t.Run("a question waits for the one before it in its conversation", func(t *testing.T) {
		t.Parallel()
		test := newAnswerTest(t)
		looks, asked := 0, false
		test.env.OnActivity(acts.TakeTurn, mock.Anything, mock.Anything).Return(
			func(_ context.Context, in answering.TurnInput) (answering.TurnResult, error) {
				if looks++; looks <= 2 { // the second look is the one behind the signal to the other run
					return answering.TurnResult{Before: "query/w/before"}, nil
				}
				return answering.TurnResult{}, nil
			})
		test.env.OnSignalExternalWorkflow(mock.Anything, "query/w/before", "", workflows.SignalNext, mock.Anything).Return(nil).Once()
		test.env.OnSignalExternalWorkflow(mock.Anything, "query/w/behind", "", workflows.SignalTurn, mock.Anything).Return(errors.New("it was canceled")).Once()
		test.model(func(answering.ModelCallInput) (answering.ModelCallResult, error) {
			asked = true
			return answering.ModelCallResult{Key: "turn-1", Attempt: 1, Tail: "the answer"}, nil
		})
		test.env.RegisterDelayedCallback(func() {
			if asked || looks != 2 {
				t.Errorf("before its turn it looked %d times; asked: %t", looks, asked)
			}
			test.env.SignalWorkflow(workflows.SignalNext, "query/w/behind")
			test.env.SignalWorkflow(workflows.SignalTurn, nil)
		}, time.Second)
		if end := test.run(t, record.AnswerInput{After: "before", MaxToolTurns: 5}); end.Status != "completed" || looks != 3 {
			t.Errorf("status %s after %d looks", end.Status, looks)
		}
		test.env.AssertExpectations(t)
	})

	t.Run("questions are suggested behind the answer, and it is whole without them", func(t *testing.T) {
		t.Parallel()
		for key, failure := range map[string]error{"suggested": nil, "": temporal.NewApplicationError("no model", "provider_failed")} {
			test := newAnswerTest(t)
			test.model(func(in answering.ModelCallInput) (answering.ModelCallResult, error) {
				if in.Inline {
					t.Error("the suggestions read the answer, so it has to be a blob")
				}
				return answering.ModelCallResult{Key: "turn-1", Attempt: 1, Tail: "the answer", Usage: knowledge.Usage{ModelCalls: 1}}, nil
			})
			test.env.OnActivity(acts.SuggestQuestions, mock.Anything, mock.Anything).Return(answering.SuggestResult{Key: "suggested", Usage: knowledge.Usage{ModelCalls: 1}}, failure).Once()
			end := test.run(t, record.AnswerInput{Suggest: true, MaxToolTurns: 5})
			if end.Status != "completed" || end.Loop.Answer != "turn-1" || end.Loop.Suggestions != key {
				t.Errorf("status %s, %+v", end.Status, end.Loop)
			}
		}
	})

	t.Run("a conversation that is too long is summed up first, and the question is answered without a summary too", func(t *testing.T) {
		t.Parallel()
		for calls, failure := range map[int]error{2: nil, 1: temporal.NewApplicationError("no model", "provider_failed")} {
			test := newAnswerTest(t)
			test.model(func(answering.ModelCallInput) (answering.ModelCallResult, error) {
				return answering.ModelCallResult{Key: "turn-1", Attempt: 1, Tail: "the answer", Usage: knowledge.Usage{ModelCalls: 1}}, nil
			})
			test.env.OnActivity(acts.SummarizeHistory, mock.Anything, mock.Anything).Return(answering.SummarizeResult{Usage: knowledge.Usage{ModelCalls: 1}}, failure).Once()
			end := test.run(t, record.AnswerInput{Overlong: true, MaxToolTurns: 5})
			if end.Status != "completed" || end.Loop.Usage.ModelCalls != calls {
				t.Errorf("status %s, %+v", end.Status, end.Loop.Usage)
			}
		}
	})
}

func TestQuestionThatFails(t *testing.T) {
	t.Parallel()
	var acts answering.Activities

	t.Run("a canceled question ends with an error event", func(t *testing.T) {
		t.Parallel()
		test := newAnswerTest(t)
		test.env.OnActivity(acts.CallModel, mock.Anything, mock.Anything).Return(
			func(ctx context.Context, _ answering.ModelCallInput) (answering.ModelCallResult, error) {
				test.env.CancelWorkflow()
				<-ctx.Done()
				return answering.ModelCallResult{}, ctx.Err()
			})
		end := test.run(t, record.AnswerInput{MaxToolTurns: 5})
		if diff := cmp.Diff([]string{"runStarted", "error"}, topics(end.Items)); diff != "" || end.Status != "canceled" {
			t.Errorf("status %s, %s", end.Status, diff)
		}
	})

	t.Run("a model that stays down ends the run with its code", func(t *testing.T) {
		t.Parallel()
		test := newAnswerTest(t)
		calls := 0
		test.model(func(answering.ModelCallInput) (answering.ModelCallResult, error) {
			calls++
			return answering.ModelCallResult{}, temporal.NewApplicationError("the endpoint failed", "provider_failed")
		})
		end := test.run(t, record.AnswerInput{MaxToolTurns: 5})
		details, err := test.env.QueryWorkflow("__temporal_workflow_metadata")
		var shown sdkpb.WorkflowMetadata
		if err == nil {
			err = details.Get(&shown)
		}
		if want := "Ended with `provider_failed`: the endpoint failed."; err != nil || shown.CurrentDetails != want {
			t.Errorf("its current details are %q, %v; want %q", shown.CurrentDetails, err, want)
		}
		if end.Status != "failed" || end.Code != "provider_failed" || calls != 6 {
			t.Errorf("status %s, code %s after %d calls", end.Status, end.Code, calls)
		}
	})
}
