package workflows

import (
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/workflow"

	"github.com/cairn-rag/cairn/internal/stream"
)

// startRunLog starts the log of a run. The log ends with the run's last item, not with
// the workflow.
func startRunLog(ctx workflow.Context, in RunLogInput) error {
	ctx = disconnected(ctx)
	child := workflow.ExecuteChildWorkflow(workflow.WithChildOptions(ctx, workflow.ChildWorkflowOptions{
		WorkflowID: in.LogWorkflowID(), ParentClosePolicy: enumspb.PARENT_CLOSE_POLICY_ABANDON,
		WorkflowTaskTimeout: pageTaskTimeout, StaticSummary: "hold the log of a run",
		TypedSearchAttributes: workflow.GetTypedSearchAttributes(ctx),
	}), RunLog, in)
	return child.GetChildWorkflowExecution().Get(ctx, nil)
}

// runLogWriter publishes events of a workflow to the log of a run.
type runLogWriter struct {
	id        string // of the RunLog workflow
	publisher string // no other publisher of the log has this name
	sequence  *int64 // of the last batch
	turn      workflow.Mutex
}

func newRunLogWriter(ctx workflow.Context, id, publisher string, sequence *int64) runLogWriter {
	return runLogWriter{id: id, publisher: publisher, sequence: sequence, turn: workflow.NewMutex(ctx)}
}

// publish blocks until the log has the entries. The log drops repetitions, and a cancel
// does not interrupt it. A log that was ended from outside gets nothing, which no reader
// follows any more.
func (w runLogWriter) publish(ctx workflow.Context, entries ...stream.Entry) {
	ctx = disconnected(ctx)
	// Signals that are sent at the same time may arrive in another order. The only error is
	// a cancel, which this context does not have.
	_ = w.turn.Lock(ctx)
	defer w.turn.Unlock()
	*w.sequence++
	batch := stream.Batch{Items: entries, PublisherID: w.publisher, Sequence: *w.sequence}
	if err := workflow.SignalExternalWorkflow(ctx, w.id, "", stream.SignalPublish, batch).Get(ctx, nil); err != nil {
		workflow.GetLogger(ctx).Warn("an event of a run is not in its log", "log", w.id, "error", err)
	}
}

// settle blocks until the log has all that was published.
func (w runLogWriter) settle(ctx workflow.Context) {
	_ = w.turn.Lock(disconnected(ctx)) // the only error is a cancel
	w.turn.Unlock()
}
