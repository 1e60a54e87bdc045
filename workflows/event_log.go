package workflows

import (
	"fmt"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/cairn-rag/cairn/internal/record"
	"github.com/cairn-rag/cairn/internal/stream"
)

// carriedEntries is how many entries of a log stay in memory over a
// continue-as-new, so that a reader one step behind misses nothing.
const carriedEntries = 200

// eventLog is the log of the runs of a workflow. Readers reach it by the Workflow
// Streams protocol and by Cairn's own query.
type eventLog struct {
	stream.Log
	draining bool
	closed   bool
}

// newEventLog returns a log and registers its handlers. carried is the log of the
// run before a continue-as-new.
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
	drainOnSignal(disconnected(ctx), stream.SignalPublish, l.drain)
	return l, nil
}

// poll handles an update. It blocks until there is an item at or after the offset,
// or until the log closes or is carried.
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

// add appends an event that the workflow itself writes.
func (l *eventLog) add(topic string, e stream.Event) {
	l.Append(record.Entry(topic, e))
}

// drainOnSignal calls drain whenever signals of this name wait to be received. It
// receives none itself: the SDK passes a signal to a coroutine that is blocked in
// Receive before that coroutine runs, and another coroutine that drains the channel
// in between would miss the signal.
func drainOnSignal(ctx workflow.Context, name string, drain func(workflow.Context)) {
	signals := workflow.GetSignalChannel(ctx, name)
	workflow.Go(ctx, func(ctx workflow.Context) {
		// Await returns an error when the workflow is canceled. The coroutine that
		// writes the end drains the signals that come after that.
		for workflow.Await(ctx, func() bool { return signals.Len() > 0 }) == nil {
			drain(ctx)
		}
	})
}

// drain receives every waiting publish signal and adds its batch to the log.
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

// close marks the log as complete and blocks until pending polls have ended.
func (l *eventLog) close(ctx workflow.Context) {
	l.closed = true
	l.awaitPolls(ctx)
}

// carry prepares a continue-as-new. It refuses new polls, blocks until pending ones
// have ended, and returns the log that the next run starts with.
func (l *eventLog) carry(ctx workflow.Context) stream.Log {
	l.draining = true
	l.drain(ctx)
	l.awaitPolls(ctx)
	return l.Carry(carriedEntries)
}

func (l *eventLog) awaitPolls(ctx workflow.Context) {
	// The only error is a cancel, which a disconnected context does not have.
	_ = workflow.Await(disconnected(ctx), func() bool { return workflow.AllHandlersFinished(ctx) })
}
