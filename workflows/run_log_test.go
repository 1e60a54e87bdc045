package workflows_test

import (
	"context"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/mock"

	"github.com/cairn-rag/cairn/activities/answering"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/stream"
	"github.com/cairn-rag/cairn/workflows"
)

// TestRunLog publishes to the log of a run over many continue-as-news: a reader that
// begins at 0 gets every item once, from the stored segments and the log.
func TestRunLog(t *testing.T) {
	t.Parallel()
	var acts answering.Activities
	in := workflows.RunLogInput{RunRef: knowledge.RunRef{Workspace: "w", Run: "r"}}
	var stored []stream.Item
	published := 0
	const items, batch, perRun = 2000, 20, 700
	for runs := 1; ; runs++ {
		env := newEnvironment()
		env.OnActivity(acts.StoreSegment, mock.Anything, mock.Anything).Maybe().Return(func(_ context.Context, in answering.SegmentInput) error {
			stored = append(stored, in.Items...)
			return nil
		})
		publish := func() {
			b := stream.Batch{PublisherID: "p", Sequence: int64(published/batch) + 1}
			for range batch {
				published++
				e, err := stream.NewEntry(stream.TopicDelta, stream.Event{Text: strconv.Itoa(published)})
				if err != nil {
					t.Error(err)
				}
				b.Items = append(b.Items, e)
			}
			env.SignalWorkflow(stream.SignalPublish, b)
			env.SignalWorkflow(stream.SignalPublish, b) // a repeat
		}
		env.RegisterDelayedCallback(func() {
			for upto := min(published+perRun, items); published < upto; {
				publish()
			}
		}, time.Millisecond)
		env.RegisterDelayedCallback(func() { // the environment loses signals that come after a continue-as-new
			if published < items {
				env.SetContinueAsNewSuggested(true)
				publish()
				return
			}
			end, err := stream.NewEntry(stream.TopicCompleted, stream.Event{})
			if err != nil {
				t.Error(err)
			}
			env.SignalWorkflow(stream.SignalPublish, stream.Batch{Items: []stream.Entry{end}})
		}, 2*time.Millisecond)
		env.ExecuteWorkflow(workflows.RunLog, in)
		if err := env.GetWorkflowError(); isContinueAsNew(err) {
			in = continued[workflows.RunLogInput](t, err)
			continue
		} else if err != nil || runs != 3 {
			t.Fatalf("it ended after %d runs with %v", runs, err)
		}
		value, err := env.QueryWorkflow(stream.QueryEvents, stream.PollInput{})
		if err != nil {
			t.Fatal(err)
		}
		var page stream.EventsPage
		if err := value.Get(&page); err != nil {
			t.Fatal(err)
		}
		if !page.Closed || page.Base != int64(len(stored)) || in.Segments == 0 {
			t.Errorf("closed %t, in memory from %d on; %d items in %d segments", page.Closed, page.Base, len(stored), in.Segments)
		}
		var got, want []string
		for _, item := range append(stored, page.Items...) {
			e, err := stream.DecodeEvent(item.Data)
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, strconv.FormatInt(item.Offset, 10)+" "+e.Text)
		}
		for i := range items {
			want = append(want, strconv.Itoa(i)+" "+strconv.Itoa(i+1))
		}
		want = append(want, strconv.Itoa(items)+" ")
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("the log (-want +got): %s", diff)
		}
		return
	}
}
