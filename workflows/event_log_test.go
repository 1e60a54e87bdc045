package workflows_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/mock"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"

	"github.com/cairn-rag/cairn/activities/answering"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/record"
	"github.com/cairn-rag/cairn/internal/stream"
	"github.com/cairn-rag/cairn/internal/tool"
	"github.com/cairn-rag/cairn/workflows"
)

// polled is the outcome of an update poll.
type polled struct {
	page stream.Page
	err  error
}

// poll sends the update of the Workflow Streams protocol.
func (test *answerTest) poll(id string, in stream.PollInput) <-chan polled {
	answer := make(chan polled, 2)
	test.env.UpdateWorkflow(stream.UpdatePoll, id, &testsuite.TestUpdateCallback{
		OnReject: func(err error) { answer <- polled{err: err} },
		OnAccept: func() {},
		OnComplete: func(result any, err error) {
			page, _ := result.(stream.Page) // none with an error
			answer <- polled{page, err}
		},
	}, in)
	return answer
}

func (test *answerTest) publish(t *testing.T, sequence int64, texts ...string) {
	t.Helper()
	b := stream.Batch{PublisherID: "p", Sequence: sequence}
	for _, text := range texts {
		e, err := stream.NewEntry(stream.TopicDelta, stream.Event{Turn: 1, Attempt: 1, Text: text})
		if err != nil {
			t.Error(err)
		}
		b.Items = append(b.Items, e)
	}
	test.env.SignalWorkflow(stream.SignalPublish, b)
}

// lines returns the items of a page as "offset topic text".
func lines(t *testing.T, p stream.Page) []string {
	t.Helper()
	var list []string
	for _, item := range p.Items {
		e, err := stream.DecodeEvent(item.Data)
		if err != nil {
			t.Error(err)
		}
		list = append(list, fmt.Sprintf("%d %s %s", item.Offset, item.Topic, e.Text))
	}
	return list
}

func wantApplicationError(t *testing.T, err error, kind string) {
	t.Helper()
	var application *temporal.ApplicationError
	if !errors.As(err, &application) || application.Type() != kind {
		t.Errorf("the poll ended with %v, want %s", err, kind)
	}
}

func TestEventLogProtocol(t *testing.T) {
	t.Parallel()

	t.Run("a poll returns the items of the log, or blocks for the next ones", func(t *testing.T) {
		t.Parallel()
		test := newAnswerTest(t)
		test.model(func(answering.ModelCallInput) (answering.ModelCallResult, error) {
			first := <-test.poll("first", stream.PollInput{})
			if diff := cmp.Diff([]string{"0 runStarted "}, lines(t, first.page)); diff != "" || first.err != nil || first.page.NextOffset != 1 {
				t.Errorf("%v, next %d, %s", first.err, first.page.NextOffset, diff)
			}
			waiting := test.poll("waiting", stream.PollInput{FromOffset: 1})
			test.publish(t, 1, "one ", "two ")
			test.publish(t, 1, "one ", "two ") // a repeat
			test.publish(t, 2, "three ")
			got := <-waiting
			if diff := cmp.Diff([]string{"1 delta one ", "2 delta two "}, lines(t, got.page)); diff != "" || got.err != nil {
				t.Errorf("%v, %s", got.err, diff)
			}
			rest := <-test.poll("rest", stream.PollInput{FromOffset: got.page.NextOffset, Topics: []string{stream.TopicDelta}})
			if diff := cmp.Diff([]string{"3 delta three "}, lines(t, rest.page)); diff != "" || rest.err != nil {
				t.Errorf("%v, %s", rest.err, diff)
			}
			return answering.ModelCallResult{Key: "t", Attempt: 1, Tail: "end", Published: true}, nil
		})
		end := test.run(t, record.AnswerInput{MaxToolTurns: 5})
		if diff := cmp.Diff([]string{"runStarted", "delta", "delta", "delta", "delta", "sources", "completed"}, topics(end.Items)); diff != "" {
			t.Error(diff)
		}
	})

	t.Run("a poll of items that left memory fails, and one from 0 returns the items in memory", func(t *testing.T) {
		t.Parallel()
		test := newAnswerTest(t)
		test.model(func(answering.ModelCallInput) (answering.ModelCallResult, error) {
			below := <-test.poll("below", stream.PollInput{FromOffset: 5})
			wantApplicationError(t, below.err, "TruncatedOffset")
			all := <-test.poll("all", stream.PollInput{})
			if diff := cmp.Diff([]string{"300 delta kept"}, lines(t, all.page)); diff != "" || all.err != nil {
				t.Errorf("%v, %s", all.err, diff)
			}
			return answering.ModelCallResult{Key: "t", Attempt: 1, Tail: "end"}, nil
		})
		kept, err := stream.NewEntry(stream.TopicDelta, stream.Event{Turn: 1, Attempt: 1, Text: "kept"})
		if err != nil {
			t.Fatal(err)
		}
		test.run(t, record.AnswerInput{
			MaxToolTurns: 5, Carried: &record.Loop{}, Log: stream.Log{Base: 300, Entries: []stream.Entry{kept}},
		})
	})

	t.Run("during a continue-as-new a poll is refused, and one that waits ends", func(t *testing.T) {
		t.Parallel()
		test := newAnswerTest(t)
		var acts answering.Activities
		test.env.SetContinueAsNewSuggested(true)
		var waiting <-chan polled
		test.model(func(answering.ModelCallInput) (answering.ModelCallResult, error) {
			texts := make([]string, 300) // more than the next run takes with it
			for i := range texts {
				texts[i] = fmt.Sprint(i)
			}
			test.publish(t, 1, texts...)
			return answering.ModelCallResult{Key: "t", Attempt: 1, Published: true, ToolCalls: []answering.ToolCallRef{{ID: "a", Name: tool.DocumentsRAG}}}, nil
		})
		test.env.OnActivity(acts.CallTool, mock.Anything, mock.Anything).Return(
			func(context.Context, answering.ToolCallInput) (record.ToolOutput, error) {
				waiting = test.poll("waiting", stream.PollInput{FromOffset: 1000})
				return record.ToolOutput{Search: "s"}, nil
			})
		refused := make(chan polled, 1)
		test.env.OnActivity(acts.StoreSegment, mock.Anything, mock.Anything).Return(
			func(_ context.Context, in answering.SegmentInput) error {
				refused <- <-test.poll("refused", stream.PollInput{})
				if len(in.Items) == 0 || in.Items[0].Offset != 0 {
					t.Errorf("the segment has %d items", len(in.Items))
				}
				return nil
			})
		test.env.ExecuteWorkflow(workflows.AnswerQuery, record.AnswerInput{RunRef: knowledge.RunRef{Workspace: "w", Run: "r"}, MaxToolTurns: 5})
		if !isContinueAsNew(test.env.GetWorkflowError()) {
			t.Fatalf("ended with %v", test.env.GetWorkflowError())
		}
		if got := <-waiting; got.err != nil || len(got.page.Items) != 0 {
			t.Errorf("the poll that waited got %v, %v", lines(t, got.page), got.err)
		}
		wantApplicationError(t, (<-refused).err, "StreamDraining")
	})
}
