package worker

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"github.com/cairn-rag/cairn/activities"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
)

// orphanLimit is how many questions are looked at: each costs some milliseconds
// of a start, and the heartbeat time-out finds the others.
const orphanLimit = 200

// RunLister lists the runs that have not ended, oldest first.
type RunLister interface {
	RunningRunsPage(ctx context.Context, query store.RunningQuery) ([]store.Run, error)
}

// Orphans fails, at a start, the activities of questions that an earlier
// process had begun, so that a reader does not wait for their heartbeats to
// time out. It is for the one process that has its Temporal server to itself:
// there, whatever another identity had begun is dead.
type Orphans struct {
	Store     RunLister
	Client    client.Client
	Namespace string
	Identity  string // of this process's workers
	Log       *slog.Logger
}

// Release fails those activities. One that cannot be reached times out by itself.
func (o *Orphans) Release(ctx context.Context) {
	runs, err := o.Store.RunningRunsPage(ctx, store.RunningQuery{Kinds: knowledge.AnswerKinds(), Before: time.Now(), Limit: orphanLimit})
	if err != nil {
		o.Log.WarnContext(ctx, "cannot list the runs of the process before", "error", err)
		return
	}
	for _, r := range runs {
		if err := o.release(ctx, r.WorkflowID); err != nil && ctx.Err() == nil {
			o.Log.WarnContext(ctx, "an activity waits for its time-out", "workspace", r.Workspace, "run", r.ID, "error", err)
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
		gone := temporal.NewApplicationError("the process that ran this has ended", activities.TypeEnded)
		err := o.Client.CompleteActivityByID(ctx, o.Namespace, workflowID, "", a.GetActivityId(), nil, gone)
		errs = append(errs, ignoreNotFound(err)) // it has timed out meanwhile
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
