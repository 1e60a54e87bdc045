package ingestion

import (
	"context"

	"github.com/cairn-rag/cairn/activities/step"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// Syncs starts the runs of syncs. Safe for concurrent use.
type Syncs interface {
	// StartScheduled starts a run of a sync, whose import has an id, unless a run has not
	// ended, or the sync is paused or gone. Doing it twice changes nothing.
	StartScheduled(ctx context.Context, workspace, sync, id string) error
}

// StartSyncInput names a sync, and the import of the run that starts.
type StartSyncInput struct {
	Workspace string `json:"workspace"`
	Project   string `json:"project"`
	Sync      string `json:"sync"`
	Import    string `json:"import,omitempty"`
}

// StartSync starts a run of a sync.
func (a *Importing) StartSync(ctx context.Context, in StartSyncInput) error {
	defer step.Heartbeat(ctx)()
	if err := a.Syncs.StartScheduled(ctx, in.Workspace, in.Sync, in.Import); err != nil {
		return a.fail(ctx, knowledge.ImportRef{Workspace: in.Workspace, Project: in.Project, Import: in.Import}, err)
	}
	return nil
}
