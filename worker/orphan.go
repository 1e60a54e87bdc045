package worker

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"github.com/cairn-rag/cairn/activities/step"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
)

// orphanLimit bounds how many questions Release checks. Each one adds some
// milliseconds to a start. The heartbeat time-out ends the activities of the others.
const orphanLimit = 200

// RunLister lists runs.
type RunLister interface {
	// RunningRuns returns runs that have not ended, oldest first.
	RunningRuns(ctx context.Context, query store.RunningQuery) ([]store.Run, error)
}

// Orphans fails the activities of questions that an earlier process had begun, so
// that readers do not wait for a heartbeat time-out. Use it only in a process that
// has its Temporal server to itself: it takes every attempt of another worker
// identity for dead.
type Orphans struct {
	Store     RunLister
	Client    client.Client
	Namespace string
	Identity  string // of this process's workers
	Log       *slog.Logger
}

// Release fails those activities. It logs an activity that it cannot reach, which
// then times out.
func (o *Orphans) Release(ctx context.Context) {
	runs, err := o.Store.RunningRuns(ctx, store.RunningQuery{Kinds: knowledge.AnswerKinds(), Limit: orphanLimit})
	if err != nil {
		o.Log.WarnContext(ctx, "cannot list the runs of the earlier process", "error", err)
		return
	}
	for _, r := range runs {
		if err := o.release(ctx, r.WorkflowID); err != nil && ctx.Err() == nil {
			o.Log.WarnContext(ctx, "cannot fail the activities of the earlier process; they will time out", "workspace", r.Workspace, "run", r.ID, "error", err)
		}
	}
}

func (o *Orphans) release(ctx context.Context, workflowID string) error {
	description, err := o.Client.DescribeWorkflowExecution(ctx, workflowID, "")
	if err != nil {
		return ignoreNotFound(fmt.Errorf("describe workflow %s: %w", workflowID, err))
	}
	var errs []error
	for _, a := range description.GetPendingActivities() {
		if !o.orphaned(a) {
			continue
		}
		gone := temporal.NewApplicationError("the process that ran this has ended", step.TypeEnded)
		err := o.Client.CompleteActivityByID(ctx, o.Namespace, workflowID, "", a.GetActivityId(), nil, gone)
		errs = append(errs, ignoreNotFound(err)) // not found: the activity has timed out
	}
	return errors.Join(errs...)
}

func (o *Orphans) orphaned(a *workflowpb.PendingActivityInfo) bool {
	return a.GetState() == enumspb.PENDING_ACTIVITY_STATE_STARTED && a.GetLastWorkerIdentity() != o.Identity
}

func ignoreNotFound(err error) error {
	var gone *serviceerror.NotFound
	if errors.As(err, &gone) {
		return nil
	}
	return err
}
