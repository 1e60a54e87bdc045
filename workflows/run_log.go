package workflows

import (
	"fmt"

	"go.temporal.io/sdk/workflow"

	"github.com/cairn-rag/cairn/activities/answering"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/stream"
)

// RunLogInput starts RunLog with the first entries of the log. Log and Segments are
// carried over a continue-as-new.
type RunLogInput struct {
	knowledge.RunRef
	Log      stream.Log `json:"log,omitzero"`
	Segments int        `json:"segments,omitempty"` // segments of the log in the blob store
}

// RunLog holds the log of a run whose own workflow continues as new while activities
// publish, or runs for long. Others publish to it by signals; it ends at the last item of
// the run. A cancel does not end it.
func RunLog(ctx workflow.Context, in RunLogInput) error {
	ctx = disconnected(ctx)
	log, err := newEventLog(ctx, in.Log)
	if err != nil {
		return err
	}
	for checked := log.Base; ; {
		for _, item := range log.Items(checked) {
			if stream.Terminal(item.Topic) {
				log.close(ctx)
				return nil
			}
		}
		checked = log.End()
		// The only error is a cancel, which this context does not have.
		_ = workflow.Await(ctx, func() bool { return log.End() > checked || isLong(ctx) })
		if log.End() == checked {
			return continueRunLog(ctx, log, in)
		}
	}
}

// isLong reports whether a workflow should continue as new.
func isLong(ctx workflow.Context) bool {
	return workflow.GetInfo(ctx).GetContinueAsNewSuggested()
}

// continueRunLog stores the items that leave memory and returns the error that continues
// the log as new. Items that are published meanwhile stay in memory.
func continueRunLog(ctx workflow.Context, log *eventLog, in RunLogInput) error {
	log.draining = true
	log.drain(ctx)
	base := log.Carry(carriedEntries).Base
	if base > log.Base {
		segment := answering.SegmentInput{RunRef: in.RunRef, Number: in.Segments, Items: log.Items(0)[:base-log.Base]}
		var acts answering.Activities // for the names of its methods only
		if err := workflow.ExecuteLocalActivity(finalOptions(ctx, "store a part of the log"), acts.StoreSegment, segment).Get(ctx, nil); err != nil {
			return fmt.Errorf("store log segment %d: %w", in.Segments, err)
		}
		in.Segments++
	}
	log.awaitPolls(ctx)
	log.drain(ctx)
	in.Log = log.From(base)
	return workflow.NewContinueAsNewError(ctx, RunLog, in)
}
