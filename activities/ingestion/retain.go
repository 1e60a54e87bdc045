package ingestion

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/cairn-rag/cairn/activities/step"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/record"
	"github.com/cairn-rag/cairn/internal/store"
	"github.com/cairn-rag/cairn/internal/stream"
)

// retainPage is how many documents, conversations or runs a page of a retention takes, and
// retainAtOnce how many documents it removes side by side.
const (
	retainPage   = 100
	retainAtOnce = 16
)

// Retention is the part of the store that applies the retention of projects. Every method is
// idempotent: what it has removed or hidden is no longer due.
type Retention interface {
	// RetainDocuments hides the next documents that are due and that no hold keeps, or marks them
	// as removed. The caller ends the removals.
	RetainDocuments(ctx context.Context, scope store.RetentionScope, after store.RetentionPlace, limit int) (store.RetainedDocuments, error)
	// RetainConversations deletes the next conversations that are due, and returns their number.
	RetainConversations(ctx context.Context, scope store.RetentionScope, limit int) (int, error)
	// DueRuns lists the next runs of questions that are due. DropDueRuns deletes them.
	DueRuns(ctx context.Context, scope store.RetentionScope, limit int) ([]store.Run, error)
	DropDueRuns(ctx context.Context, scope store.RetentionScope, ids []string) error
	// RetentionDue counts what is due.
	RetentionDue(ctx context.Context, scope store.RetentionScope) (store.RetentionDue, error)
	// NoteRetention stores what a run of retention has done.
	NoteRetention(ctx context.Context, ref knowledge.RunRef, p knowledge.RetentionProgress) error
	// EndRuns stores how runs ended, in one transaction. The first end of a run counts.
	EndRuns(ctx context.Context, workspace string, ids []string, end store.RunEnd) error
	// EraseDeleted returns once the bytes of deleted rows stand in no file.
	EraseDeleted(ctx context.Context) error
}

// RetentionInput names a run of retention. Now is the time of its workflow: what is due by it
// and by the clock of the worker is removed. Place is how far it has looked.
type RetentionInput struct {
	knowledge.RunRef
	Now      time.Time                   `json:"now"`
	Place    store.RetentionPlace        `json:"place,omitzero"`
	Progress knowledge.RetentionProgress `json:"progress"`
}

// RetainResult is what a page has done. Done says that nothing is due any more.
type RetainResult struct {
	Place    store.RetentionPlace        `json:"place,omitzero"`
	Progress knowledge.RetentionProgress `json:"progress"` // of the whole run
	Done     bool                        `json:"done,omitempty"`
}

// Retaining holds the activities of ApplyRetention.
type Retaining struct {
	Retention Retention
	Workflows Workflows
	Blobs     step.Blobs
	Base      string // the level of documents without a classification
	Metrics   Metrics
	// Attributes bring hidden documents into the index.
	Attributes *Attributes
	Log        *slog.Logger
	ender      step.RunEnder
	removing   *Removing
}

// RetainPage removes or hides the next page of what is due in a workspace: documents first, then
// conversations, then runs. A page that is repeated after a crash takes what is due then.
func (a *Retaining) RetainPage(ctx context.Context, in RetentionInput) (RetainResult, error) {
	defer step.Heartbeat(ctx)()
	result, err := a.page(ctx, in)
	if err == nil {
		err = a.Retention.NoteRetention(ctx, in.RunRef, result.Progress)
	}
	return result, a.fail(ctx, in.RunRef, err)
}

func (a *Retaining) page(ctx context.Context, in RetentionInput) (RetainResult, error) {
	scope := store.RetentionScope{Workspace: in.Workspace, Now: in.Now, Base: a.Base, Run: in.Run}
	result := RetainResult{Place: in.Place, Progress: in.Progress}
	documents, err := a.Retention.RetainDocuments(ctx, scope, in.Place, retainPage)
	if err != nil {
		return result, err
	}
	result.Progress.Removed, result.Progress.Inactive = documents.Progress.Removed, documents.Progress.Inactive
	if !documents.Done {
		result.Place = documents.Next
		return result, errors.Join(a.remove(ctx, documents.Removals), a.hide(ctx, documents.Hidden))
	}
	conversations, err := a.Retention.RetainConversations(ctx, scope, retainPage)
	result.Progress.Conversations += conversations
	if err != nil || conversations > 0 {
		return result, err
	}
	runs, err := a.runs(ctx, scope)
	result.Progress.Runs += runs
	if err != nil || runs > 0 {
		return result, err
	}
	due, err := a.Retention.RetentionDue(ctx, scope)
	if err == nil {
		err = a.Retention.EraseDeleted(ctx)
	}
	result.Progress.KeptByHold, result.Done = due.KeptByHold, true
	return result, err
}

// hide brings hidden documents into the index, so that they take no place among the hits of a
// search.
func (a *Retaining) hide(ctx context.Context, documents []string) error {
	for _, id := range documents {
		if err := a.Attributes.UpdateIndex(ctx, id); err != nil {
			a.Log.WarnContext(ctx, "a document is hidden in the index later", "document", id, "error", err) // by the sweep
			return context.Cause(ctx)
		}
	}
	return nil
}

// runs deletes the next runs that are due, each after its blobs and its history.
func (a *Retaining) runs(ctx context.Context, scope store.RetentionScope) (int, error) {
	runs, err := a.Retention.DueRuns(ctx, scope, retainPage)
	if err != nil || len(runs) == 0 {
		return 0, err
	}
	ids := make([]string, 0, len(runs))
	for _, run := range runs {
		of := knowledge.RunRef{Workspace: run.Workspace, Project: run.Project, Run: run.ID}
		if _, err := a.Blobs.DeletePrefix(ctx, of.Prefix(), nil); err != nil {
			return 0, fmt.Errorf("remove the blobs of run %s: %w", run.ID, err)
		}
		if err := a.Workflows.ForgetRun(ctx, run); err != nil {
			return 0, fmt.Errorf("delete the history of run %s: %w", run.ID, err)
		}
		ids = append(ids, run.ID)
	}
	return len(ids), a.Retention.DropDueRuns(ctx, scope, ids)
}

// FinishRetentionInput ends a run of retention. Items are its whole log.
type FinishRetentionInput struct {
	knowledge.RunRef
	Error *knowledge.DocumentError `json:"error,omitempty"`
	Items []stream.Item            `json:"items"`
}

// FinishRetention ends the run. It is a local activity.
func (a *Retaining) FinishRetention(ctx context.Context, in FinishRetentionInput) error {
	end := record.Ending{Kind: knowledge.KindRetention, Error: in.Error}
	if err := a.ender.End(ctx, in.RunRef, in.Items, end); err != nil {
		return a.fail(ctx, in.RunRef, err)
	}
	a.Metrics.WorkflowDone("ApplyRetention", string(end.Status()))
	a.Log.InfoContext(ctx, "retention applied", "workspace", in.Workspace, "run", in.Run, "status", end.Status())
	return nil
}

func (a *Retaining) fail(ctx context.Context, in knowledge.RunRef, err error) error {
	if err == nil {
		return nil
	}
	return step.Failure(ctx, a.Log.With("workspace", in.Workspace, "run", in.Run), err)
}
