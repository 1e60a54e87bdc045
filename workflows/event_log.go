package workflows

import (
	"fmt"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/cairn-rag/cairn/internal/stream"
)

// carriedEntries is how much of a log stays in memory over a continue-as-new,
// so that a reader one step behind loses nothing.
const carriedEntries = 200

// eventLog is the log of the runs of a workflow, served in the Workflow Streams
// protocol and by our own query.
type eventLog struct {
	stream.Log
	draining bool
	closed   bool
}

// newEventLog makes the log and its handlers. carried is what an earlier run of
// the workflow handed over.
func newEventLog(ctx workflow.Context, carried stream.Log) (*eventLog, error) {
	l := &eventLog{Log: carried}
	err := workflow.SetQueryHandler(ctx, stream.QueryOffset, func() (int64, error) { return l.End(), nil })
	if err != nil {
		return nil, fmt.Errorf("set query handler: %w", err)
	}
	err = workflow.SetQueryHandler(ctx, stream.QueryEvents, func(in stream.PollInput) (stream.EventsPage, error) {
		return stream.EventsPage{Page: l.Page(in.FromOffset, in.Topics), Base: l.Base, Closed: l.closed}, nil
	})
	if err != nil {
		return nil, fmt.Errorf("set query handler: %w", err)
	}
	err = workflow.SetUpdateHandlerWithOptions(ctx, stream.UpdatePoll, l.poll, workflow.UpdateHandlerOptions{
		Validator: func(stream.PollInput) error {
			if l.draining {
				return temporal.NewApplicationError("the stream moves to a new run", "StreamDraining")
			}
			return nil
		},
	})
	if err != nil {
		return nil, fmt.Errorf("set update handler: %w", err)
	}
	onSignal(disconnected(ctx), stream.SignalPublish, l.drain)
	return l, nil
}

// poll answers an update: it waits for something at or after the offset.
func (l *eventLog) poll(ctx workflow.Context, in stream.PollInput) (stream.Page, error) {
	err := workflow.Await(ctx, func() bool {
		return l.draining || l.closed || l.Truncated(in.FromOffset) || l.End() > max(in.FromOffset, l.Base)
	})
	if err != nil {
		return stream.Page{}, err
	}
	if l.Truncated(in.FromOffset) {
		return stream.Page{}, temporal.NewNonRetryableApplicationError("the offset is no longer in memory", "TruncatedOffset", nil)
	}
	return l.Page(in.FromOffset, in.Topics), nil
}

// add appends an event of the workflow's own.
func (l *eventLog) add(topic string, e stream.Event) {
	l.Append(entry(topic, e))
}

// onSignal calls take whenever signals of this name wait to be received. It
// never holds one itself: a coroutine that is blocked in Receive is handed a
// signal before it runs, and whoever drains the channel in between would miss it.
func onSignal(ctx workflow.Context, name string, take func(workflow.Context)) {
	signals := workflow.GetSignalChannel(ctx, name)
	workflow.Go(ctx, func(ctx workflow.Context) {
		// Await ends with an error when the workflow is canceled; signals that
		// come after that are drained by whoever writes the end.
		for workflow.Await(ctx, func() bool { return signals.Len() > 0 }) == nil {
			take(ctx)
		}
	})
}

// drain takes in what publishers have signalled but the log has not seen.
func (l *eventLog) drain(ctx workflow.Context) {
	signals := workflow.GetSignalChannel(ctx, stream.SignalPublish)
	for {
		var b stream.Batch
		if !signals.ReceiveAsync(&b) {
			return
		}
		l.Publish(b)
	}
}

// close says that nothing will be added and lets pending polls end.
func (l *eventLog) close(ctx workflow.Context) {
	l.closed = true
	l.settle(ctx)
}

// carry prepares a continue-as-new: it refuses new polls, lets pending ones end
// and gives what the next run starts with.
func (l *eventLog) carry(ctx workflow.Context) stream.Log {
	l.draining = true
	l.drain(ctx)
	l.settle(ctx)
	return l.Carry(carriedEntries)
}

func (l *eventLog) settle(ctx workflow.Context) {
	// The only error is cancellation, and then there is nobody to wait for.
	_ = workflow.Await(disconnected(ctx), func() bool { return workflow.AllHandlersFinished(ctx) })
}

// entry encodes an event. It fails only on a defect, which stops the workflow
// task and not the run.
func entry(topic string, e stream.Event) stream.Entry {
	encoded, err := stream.NewEntry(topic, e)
	if err != nil {
		panic(fmt.Sprintf("event %s: %v", topic, err))
	}
	return encoded
}
