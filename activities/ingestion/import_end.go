package ingestion

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/cairn-rag/cairn/activities/step"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/record"
	"github.com/cairn-rag/cairn/internal/source"
	"github.com/cairn-rag/cairn/internal/store"
	"github.com/cairn-rag/cairn/internal/stream"
)

// ImportProgress reads how far an import is.
func (a *Importing) ImportProgress(ctx context.Context, ref knowledge.ImportRef) (record.ImportProgress, error) {
	i, err := a.Imports.ImportForSystem(ctx, ref)
	if err != nil {
		return record.ImportProgress{}, a.fail(ctx, ref, fmt.Errorf("read import: %w", err))
	}
	return record.ProgressOf(i), nil
}

// ImportStatusInput is the new status of an import.
type ImportStatusInput struct {
	knowledge.ImportRef
	Status knowledge.ImportStatus `json:"status"`
}

// SetImportStatus stores that an import is paused or running.
func (a *Importing) SetImportStatus(ctx context.Context, in ImportStatusInput) error {
	if err := a.Imports.SetImportStatus(ctx, in.ImportRef, in.Status); err != nil {
		return a.fail(ctx, in.ImportRef, fmt.Errorf("set status: %w", err))
	}
	return nil
}

// PageInput names a page of an import.
type PageInput struct {
	knowledge.ImportRef
	Page int `json:"page"`
}

// IsPageRunning reports whether the workflow of a page is open.
func (a *Importing) IsPageRunning(ctx context.Context, in PageInput) (bool, error) {
	running, _, err := a.Workflows.Running(ctx, in.PageWorkflowID(in.Page))
	if err != nil {
		return false, a.fail(ctx, in.ImportRef, err)
	}
	return running, nil
}

// SettleVanished counts the objects that an import before has listed and this one has
// not, and starts the removal of their documents if the request asks for it. An import
// that lists no object at all removes nothing: its source is more likely wrong than
// empty. A place that is followed says itself that it is empty.
func (a *Importing) SettleVanished(ctx context.Context, ref knowledge.ImportRef) error {
	defer step.Heartbeat(ctx)()
	if err := a.settleVanished(ctx, ref); err != nil {
		return a.fail(ctx, ref, err)
	}
	return nil
}

func (a *Importing) settleVanished(ctx context.Context, ref knowledge.ImportRef) error {
	i, err := a.Imports.ImportForSystem(ctx, ref)
	if err != nil {
		return fmt.Errorf("read import: %w", err)
	}
	full, err := a.listedAll(ctx, i)
	if err != nil {
		return err
	}
	vanished, err := a.Imports.CountVanished(ctx, i, full)
	if err != nil || vanished == 0 || !i.Request.RemoveVanished || i.Request.DryRun || i.Counts.Discovered == 0 && i.Request.Sync == "" {
		return err
	}
	for after := ""; ; {
		page, err := a.Imports.MarkVanished(ctx, i, full, after)
		if err != nil {
			return err
		}
		for _, r := range page.Removals {
			if err := a.Workflows.Remove(ctx, r); err != nil { // the sweep starts the others
				return fmt.Errorf("start the removal of %s: %w", r.Document, err)
			}
		}
		if page.Next == "" {
			return nil
		}
		after = page.Next
	}
}

// ImportSegmentInput is a part of the log of an import that leaves the workflow's
// memory.
type ImportSegmentInput struct {
	knowledge.ImportRef
	Run    string        `json:"run"`
	Number int           `json:"number"` // 0 = first
	Items  []stream.Item `json:"items"`
}

// StoreImportSegment stores a segment of a log. It is a local activity, so its input
// never enters history.
func (a *Importing) StoreImportSegment(ctx context.Context, in ImportSegmentInput) error {
	run := knowledge.RunRef{Workspace: in.Workspace, Project: in.Project, Run: in.Run}
	if _, err := a.documents.Blobs.PutJSON(ctx, run.SegmentKey(in.Number), stream.StoredLog{Items: in.Items}); err != nil {
		return a.fail(ctx, in.ImportRef, fmt.Errorf("store log segment %d: %w", in.Number, err))
	}
	return nil
}

// FinishImportInput ends the run of an import. Items are the items of its log that the
// workflow has in memory, the last one included.
type FinishImportInput struct {
	knowledge.ImportRef
	Run      string                   `json:"run"`
	Error    *knowledge.DocumentError `json:"error,omitempty"`
	Segments int                      `json:"segments,omitempty"`
	Items    []stream.Item            `json:"items"`
}

// FinishImport stores the log of an import, and ends its run and the import. It is a
// local activity, so its input never enters history.
func (a *Importing) FinishImport(ctx context.Context, in FinishImportInput) error {
	run := knowledge.RunRef{Workspace: in.Workspace, Project: in.Project, Run: in.Run}
	end := record.Ending{Kind: knowledge.KindImport, Error: in.Error}
	items, err := step.WholeLog(ctx, a.documents.Blobs, run, in.Segments, in.Items)
	if err == nil && end.Status() == knowledge.RunCompleted {
		err = a.moveCursor(ctx, in.ImportRef)
	}
	if err == nil {
		err = a.documents.ender.End(ctx, run, items, end)
	}
	if err != nil {
		return a.fail(ctx, in.ImportRef, err)
	}
	a.documents.Metrics.WorkflowDone("BulkImport", string(end.Status()))
	a.Log.InfoContext(ctx, "import ended", "workspace", in.Workspace, "import", in.Import, "run", in.Run, "status", end.Status())
	return nil
}

// CleanImport deletes the lists of the objects of an import that has ended, what its
// source saved for it alone, and the state of the import before; of a removed sync its own state,
// too. The archive stays if
// objects may be retried from it, and none of its documents was removed: it holds their
// words.
func (a *Importing) CleanImport(ctx context.Context, ref knowledge.ImportRef) error {
	defer step.Heartbeat(ctx)()
	if err := a.clean(ctx, ref); err != nil {
		return a.fail(ctx, ref, err)
	}
	return nil
}

func (a *Importing) clean(ctx context.Context, ref knowledge.ImportRef) error {
	i, err := a.Imports.ImportForSystem(ctx, ref)
	if err != nil {
		return fmt.Errorf("read import: %w", err)
	}
	if i.Open() { // it was opened again, to retry what failed
		return nil
	}
	ended, err := a.hasNoNext(ctx, i)
	if err != nil {
		return err
	}
	if i.Request.Sync != "" && i.Status != knowledge.ImportCompleted && !ended { // the next run continues behind the one before
		_, err = a.documents.Blobs.DeletePrefix(ctx, i.Prefix(), nil)
		return err
	}
	state, temporary, keep := i.StateKey(""), i.StateKey(source.Temporary), map[string]bool{}
	if i.Counts.Failed > 0 {
		lost, err := a.Imports.ImportLost(ctx, ref)
		if err != nil {
			return err
		}
		keep[i.ArchiveKey()] = !lost
	}
	_, err = a.documents.Blobs.DeletePrefix(ctx, i.Prefix(), func(key string, _ time.Time) bool {
		return keep[key] || strings.HasPrefix(key, state) && !strings.HasPrefix(key, temporary) && !ended
	})
	if err != nil {
		return fmt.Errorf("delete lists of objects: %w", err)
	}
	previous, err := a.Sources.Previous(ctx, i)
	if err != nil || previous == "" {
		return err
	}
	before := knowledge.ImportRef{Workspace: ref.Workspace, Project: ref.Project, Import: previous}
	if _, err = a.documents.Blobs.DeletePrefix(ctx, before.Prefix(), nil); err != nil {
		return fmt.Errorf("delete the state of the import before: %w", err)
	}
	return nil
}

// hasNoNext reports whether an import is of a sync that was removed, so that no run reads what it
// has kept.
func (a *Importing) hasNoNext(ctx context.Context, i store.Import) (bool, error) {
	if i.Request.Sync == "" {
		return false, nil
	}
	err := a.Sources.Places.Allow(ctx, i)
	if knowledge.IsCode(err, knowledge.CodeNotFound) {
		return true, nil
	}
	return false, err
}
