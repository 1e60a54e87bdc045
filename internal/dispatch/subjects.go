package dispatch

import (
	"context"
	"errors"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/api/serviceerror"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
	"github.com/cairn-rag/cairn/workflows"
)

// ErasesFiles makes EraseHistories overwrite the bytes of deleted histories in the files of the
// Temporal server. Without it whoever runs the server does.
func (d *Dispatcher) ErasesFiles(erase func(ctx context.Context) error) *Dispatcher {
	d.eraseFiles = erase
	return d
}

// ExportSubject starts the export of what a person left. It does nothing if it runs.
func (d *Dispatcher) ExportSubject(ctx context.Context, r store.Run) error {
	return d.startSubject(ctx, r, "export what a person left", workflows.ExportSubject)
}

// EraseSubject starts the erasure of what a person left. It does nothing if it runs.
func (d *Dispatcher) EraseSubject(ctx context.Context, r store.Run) error {
	return d.startSubject(ctx, r, "erase what a person left", workflows.EraseSubject)
}

func (d *Dispatcher) startSubject(ctx context.Context, r store.Run, summary string, workflow any) error {
	options := d.options(r.WorkflowID, workflows.QueueIngest, priorityRemoval, r.Workspace)
	options.StaticSummary = summary
	options.TypedSearchAttributes = d.attributes(r.Workspace, r.Project)
	_, err := d.client.ExecuteWorkflow(ctx, options, workflow, workflows.SubjectInput{RunRef: knowledge.RunRef{Workspace: r.Workspace, Run: r.ID}})
	if isRunning(err) {
		return nil
	}
	return wrap(err, "start run", r.ID)
}

// goneWithin bounds how long a call waits until Temporal has deleted a history.
const goneWithin = 20 * time.Second

// EraseRun deletes the histories of the workflow of a run, of its log and of its children, and
// blocks until they are gone. The run has ended in SQL; a workflow that is still open is ended. A
// cluster that does not let Cairn delete histories keeps them.
func (d *Dispatcher) EraseRun(ctx context.Context, r store.Run) error {
	if err := d.ForgetRun(ctx, r); err != nil {
		return err
	}
	children := ""
	switch r.Kind {
	case knowledge.KindResearch:
		children = r.WorkflowID
	case knowledge.KindImport:
		children = knowledge.KindImport.WorkflowID(r.Workspace, r.Subject)
	}
	if children != "" {
		err := d.forget(ctx, "WorkflowId STARTS_WITH "+quote(children+"/"))
		var denied *serviceerror.PermissionDenied
		if err != nil && !errors.As(err, &denied) {
			return err
		}
	}
	return d.awaitGone(ctx, r.WorkflowID)
}

// EraseIngests deletes the history of the newest ingest of a document that was removed, and blocks
// until it is gone.
func (d *Dispatcher) EraseIngests(ctx context.Context, workspace, document string) error {
	if !d.ownsHistories {
		return nil
	}
	if err := d.ForgetIngests(ctx, workspace, document); err != nil {
		return err
	}
	id := knowledge.KindIngest.WorkflowID(workspace, document)
	if err := d.delete(ctx, &commonpb.WorkflowExecution{WorkflowId: id}); err != nil {
		return err
	}
	return d.awaitGone(ctx, id)
}

// awaitGone blocks until Temporal knows no workflow of an id, for a while: it deletes histories
// behind the request.
func (d *Dispatcher) awaitGone(ctx context.Context, workflowID string) error {
	pause := 10 * time.Millisecond
	for end := time.Now().Add(goneWithin); time.Now().Before(end); pause = min(2*pause, time.Second) {
		_, known, err := d.Running(ctx, workflowID)
		if err != nil || !known {
			return err
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

// EraseHistories blocks until the bytes of deleted histories stand in no file of the Temporal
// server, if this program runs it.
func (d *Dispatcher) EraseHistories(ctx context.Context) error {
	if d.eraseFiles == nil {
		return nil
	}
	return wrap(d.eraseFiles(ctx), "overwrite", "deleted histories")
}
