package ingestion

import (
	"context"

	"go.temporal.io/sdk/activity"

	"github.com/cairn-rag/cairn/activities/step"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// Syncs starts the runs of syncs. Safe for concurrent use.
type Syncs interface {
	// StartScheduled starts a run of a sync, whose import has an id, unless a run has not
	// ended, or the sync is paused or gone. Doing it twice changes nothing.
	StartScheduled(ctx context.Context, workspace, sync, id string) error
}

// StartSyncInput names a sync.
type StartSyncInput struct {
	Workspace string `json:"workspace"`
	Project   string `json:"project"`
	Sync      string `json:"sync"`
}

// StartSync starts a run of a sync: one for each run of its workflow.
func (a *Importing) StartSync(ctx context.Context, in StartSyncInput) error {
	defer step.Heartbeat(ctx)()
	id := knowledge.DerivedID("import", in.Sync, activity.GetInfo(ctx).WorkflowExecution.RunID)
	if err := a.Syncs.StartScheduled(ctx, in.Workspace, in.Sync, id); err != nil {
		return a.fail(ctx, knowledge.ImportRef{Workspace: in.Workspace, Project: in.Project, Import: id}, err)
	}
	return nil
}
