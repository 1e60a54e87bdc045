package workflows_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/mock"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/testsuite"

	"github.com/cairn-rag/cairn/activities/answering"
	"github.com/cairn-rag/cairn/internal/record"
	"github.com/cairn-rag/cairn/internal/stream"
	"github.com/cairn-rag/cairn/workflows"
)

// steer sends a message, and returns a channel that is closed when it was accepted or refused.
// refused gets the errors of those that were refused.
func (test *answerTest) steer(after time.Duration, key string, refused func(error)) <-chan struct{} {
	decided := make(chan struct{})
	test.env.RegisterDelayedCallback(func() {
		test.env.UpdateWorkflow(workflows.UpdateSteer, key, &testsuite.TestUpdateCallback{
			OnReject:   func(err error) { refused(err); close(decided) },
			OnAccept:   func() {},
			OnComplete: func(any, error) { close(decided) },
		}, key)
	}, after)
	return decided
}

func TestSteering(t *testing.T) {
	t.Parallel()
	var acts answering.Activities
	never := func(err error) { t.Error(err) }

	t.Run("a call that is under way is given up, and the next one has the message", func(t *testing.T) {
		t.Parallel()
		test := newAnswerTest(t)
		test.model(func(in answering.ModelCallInput) (answering.ModelCallResult, error) {
			if in.Turn == 1 {
				<-test.steer(0, "message-1", never)
				return answering.ModelCallResult{Key: "turn-1", Attempt: 1, Tail: "too late"}, nil
			}
			want := []record.Steer{{Key: "message-1"}}
			if diff := cmp.Diff(want, in.Loop.Steers); diff != "" || in.Fence != 1 || in.NoTools {
				t.Errorf("fence %d, no tools %t, messages %s", in.Fence, in.NoTools, diff)
			}
			return answering.ModelCallResult{Key: "turn-2", Attempt: 1, Tail: "the answer"}, nil
		})
		end := test.run(t, record.AnswerInput{MaxToolTurns: 1})
		if diff := cmp.Diff([]string{"runStarted", "userMessage", "delta", "sources", "completed"}, topics(end.Items)); diff != "" {
			t.Error(diff)
		}
		if end.Loop.Answer != "turn-2" || end.Loop.Usage.ModelCalls != 1 || len(end.Loop.Turns) != 0 {
			t.Errorf("the run ended with %+v", end.Loop)
		}
	})

	t.Run("a message that comes while tools run stands behind their outputs", func(t *testing.T) {
		t.Parallel()
		test := newAnswerTest(t)
		test.model(func(in answering.ModelCallInput) (answering.ModelCallResult, error) {
			if in.Turn == 1 {
				return answering.ModelCallResult{Key: "turn-1", Attempt: 1, ToolCalls: []answering.ToolCallRef{{ID: "a", Name: "look"}}}, nil
			}
			if diff := cmp.Diff([]record.Steer{{Key: "message-1", Turns: 1}}, in.Loop.Steers); diff != "" || in.Fence != 0 || !in.NoTools {
				t.Errorf("fence %d, no tools %t, messages %s", in.Fence, in.NoTools, diff)
			}
			return answering.ModelCallResult{Key: "turn-2", Attempt: 1, Tail: "the answer"}, nil
		})
		test.env.OnActivity(acts.CallTool, mock.Anything, mock.Anything).Return(func(context.Context, answering.ToolCallInput) (record.ToolOutput, error) {
			<-test.steer(0, "message-1", never)
			return record.ToolOutput{Words: "found"}, nil
		})
		end := test.run(t, record.AnswerInput{MaxToolTurns: 1})
		if diff := cmp.Diff([]string{"runStarted", "toolCall", "userMessage", "toolCall", "delta", "sources", "completed"}, topics(end.Items)); diff != "" {
			t.Error(diff)
		}
	})

	t.Run("a message behind the answer, and one too many, are refused", func(t *testing.T) {
		t.Parallel()
		test := newAnswerTest(t)
		var refusals []string
		refused := func(err error) { refusals = append(refusals, err.Error()) }
		test.model(func(in answering.ModelCallInput) (answering.ModelCallResult, error) {
			if in.Turn <= workflows.MaxSteers {
				<-test.steer(0, fmt.Sprintf("message-%d", in.Turn), never)
			} else {
				<-test.steer(0, "one too many", refused)
			}
			return answering.ModelCallResult{Key: "turn", Attempt: 1, Tail: "words"}, nil
		})
		test.env.OnActivity(acts.SuggestQuestions, mock.Anything, mock.Anything).Return(func(context.Context, answering.SuggestInput) (answering.SuggestResult, error) {
			<-test.steer(0, "behind the answer", refused)
			return answering.SuggestResult{}, nil
		})
		end := test.run(t, record.AnswerInput{Suggest: true})
		if len(end.Loop.Steers) != workflows.MaxSteers || len(refusals) != 2 || !strings.Contains(refusals[0], "has 20 messages") || !strings.Contains(refusals[1], "no model call follows") {
			t.Errorf("%d messages, refused %q", len(end.Loop.Steers), refusals)
		}
	})
}

// answersAnew sends a message during a model call that ends with an answer all the same.
func answersAnew(t *testing.T, server *serverTest, question record.AnswerInput) {
	began, ends := make(chan struct{}, 1), make(chan answering.FinishAnswerInput, 1)
	run := server.start(t, workflows.AnswerQuery, question, map[string]any{
		"CallModel": func(ctx context.Context, in answering.ModelCallInput) (answering.ModelCallResult, error) {
			if in.Turn > 1 {
				return answering.ModelCallResult{Key: fmt.Sprintf("turn-%d after %d", in.Turn, len(in.Loop.Steers)), Attempt: 1, Tail: "the answer"}, nil
			}
			began <- struct{}{}
			untilCanceled(ctx)
			return answering.ModelCallResult{Key: "turn-1", Attempt: 1, Tail: "words without it"}, nil
		},
		"FinishAnswer": finish(ends),
	})
	next(t, began)
	update := client.UpdateWorkflowOptions{WorkflowID: run.GetID(), UpdateName: workflows.UpdateSteer, Args: []any{"message-1"}, WaitForStage: client.WorkflowUpdateStageCompleted}
	handle, err := server.client.UpdateWorkflow(t.Context(), update)
	if err == nil {
		err = handle.Get(t.Context(), nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	server.end(t, run)
	end := next(t, ends)
	if diff := cmp.Diff([]string{"runStarted", "delta", stream.TopicReset, stream.TopicMessage, "delta", "sources", "completed"}, topics(end.Items)); diff != "" || end.Loop.Answer != "turn-2 after 1" {
		t.Errorf("the answer is %s, the events (-want +got):\n%s", end.Loop.Answer, diff)
	}
}
