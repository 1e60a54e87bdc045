package store

import (
	"context"

	"github.com/cairn-rag/cairn/internal/audit"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// auditOwn writes the rows of a change that a workflow makes by itself into the transaction of
// the change.
func (t transaction) auditOwn(ctx context.Context, o audit.Own) error {
	for _, row := range audit.OwnRows(ctx, knowledge.NewID(), t.now(), o) {
		if err := putPendingAudit(ctx, t, row, false); err != nil {
			return err
		}
	}
	return nil
}

// change describes what an import or the run of a sync has changed.
func (i Import) change(action string, documents []string) audit.Own {
	o := audit.Own{Workspace: i.Workspace, Actor: "workflow:import", Action: action, Object: i.Import, Run: i.RunID, Objects: documents}
	if i.Request.Sync != "" {
		o.Actor, o.Object = "workflow:sync", i.Request.Sync
	}
	return o
}

// change describes what a run of retention has changed.
func (s RetentionScope) change(action string, objects []string) audit.Own {
	return audit.Own{Workspace: s.Workspace, Actor: "workflow:retention", Action: action, Run: s.Run, Objects: objects}
}
