package ingestion

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/cairn-rag/cairn/activities/step"
	"github.com/cairn-rag/cairn/internal/blob"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/record"
	"github.com/cairn-rag/cairn/internal/store"
	"github.com/cairn-rag/cairn/internal/stream"
)

// removePage is how many documents or runs of a project are read at a time.
const removePage = 100

// RemoveProjectResult reports whether something of the project still runs. The workflow
// then repeats the step.
type RemoveProjectResult struct {
	Running bool `json:"running,omitempty"`
}

// RemovingProjects holds the activities of RemoveProject.
type RemovingProjects struct {
	Removals  Removals
	Workflows Workflows
	Index     Index
	Blobs     step.Blobs
	Metrics   Metrics
	Log       *slog.Logger
	ender     step.RunEnder
	stopping  *stopping
}

// StopProject cancels the questions, imports and reindexes of a project, and reports
// whether one of them still runs. Ingests are stopped by RemoveProjectDocuments.
func (a *RemovingProjects) StopProject(ctx context.Context, in knowledge.RunRef) (result RemoveProjectResult, err error) {
	defer step.Heartbeat(ctx)()
	runs, err := a.Removals.ProjectRuns(ctx, in, true, removePage)
	if err != nil {
		return result, a.failProject(ctx, in, err)
	}
	for _, run := range runs {
		if run.Kind == knowledge.KindIngest || run.Kind == knowledge.KindRemove {
			continue
		}
		known, err := a.Workflows.CancelRun(ctx, run)
		if err == nil && !known {
			err = a.stopping.endLost(ctx, run, "the project was removed")
		}
		if err != nil {
			return result, a.failProject(ctx, in, fmt.Errorf("cancel run %s: %w", run.ID, err))
		}
		result.Running = true
	}
	return result, nil
}

// RemoveProjectDocuments removes the documents of a project that no ingest works on, each
// with its index entries, blobs and rows, and stops the ingests of the others, which
// Running reports.
func (a *RemovingProjects) RemoveProjectDocuments(ctx context.Context, in knowledge.RunRef) (result RemoveProjectResult, err error) {
	defer step.Heartbeat(ctx)()
	for after := ""; ; {
		page, err := a.Removals.ProjectRemovals(ctx, in.Workspace, in.Project, after, removePage)
		if err != nil {
			return result, a.failProject(ctx, in, err)
		}
		if len(page) == 0 {
			return result, nil
		}
		for _, r := range page {
			if ctx.Err() != nil {
				return result, context.Cause(ctx)
			}
			running, err := a.removeOfProject(ctx, r)
			if err != nil {
				return result, a.failProject(ctx, in, fmt.Errorf("remove document %s: %w", r.Document, err))
			}
			result.Running = result.Running || running
		}
		after = page[len(page)-1].Document
	}
}

// removeOfProject removes a document with all its blobs, unless its ingest still runs.
func (a *RemovingProjects) removeOfProject(ctx context.Context, r store.Removal) (running bool, err error) {
	in := RemoveInput{Workspace: r.Workspace, Project: r.Project, Document: r.Document, Run: r.RunID, Upto: r.Upto}
	stopped, err := a.stopping.stopIngest(ctx, StopInput{RemoveInput: in})
	if err != nil || stopped.Running {
		return stopped.Running, err
	}
	if err := a.Index.RemoveDocument(ctx, r.Workspace, r.Document, r.Upto); err != nil {
		return false, fmt.Errorf("remove index entries: %w", err)
	}
	if _, err := a.Blobs.DeletePrefix(ctx, blob.DocumentPrefix(r.Workspace, r.Project, r.Document), nil); err != nil {
		return false, fmt.Errorf("remove blobs: %w", err)
	}
	if err := a.Removals.RemoveRows(ctx, r); err != nil {
		return false, fmt.Errorf("remove rows: %w", err)
	}
	if err := a.Workflows.ForgetIngests(ctx, r.Workspace, r.Document); err != nil {
		return false, fmt.Errorf("delete the histories of ingests: %w", err)
	}
	return false, nil
}

// RemoveProjectRows deletes the runs of a project with their blobs, its imports, its
// conversations and the project, when no run and no document is left. Running reports
// that one is.
func (a *RemovingProjects) RemoveProjectRows(ctx context.Context, in knowledge.RunRef) (result RemoveProjectResult, err error) {
	defer step.Heartbeat(ctx)()
	running, err := a.Removals.ProjectRuns(ctx, in, true, 1)
	if err != nil || len(running) > 0 {
		return RemoveProjectResult{Running: len(running) > 0}, a.failProject(ctx, in, err)
	}
	if err := a.forgetProject(ctx, in, forgetPatience); err != nil {
		return result, a.failProject(ctx, in, err)
	}
	if err := a.removeRuns(ctx, in); err != nil {
		return result, a.failProject(ctx, in, err)
	}
	imports, err := a.Removals.ProjectImports(ctx, in.Workspace, in.Project)
	if err != nil {
		return result, a.failProject(ctx, in, err)
	}
	for _, ref := range imports {
		if _, err := a.Blobs.DeletePrefix(ctx, ref.Prefix(), nil); err != nil {
			return result, a.failProject(ctx, in, fmt.Errorf("remove the blobs of import %s: %w", ref.Import, err))
		}
	}
	dropped, err := a.Removals.DropProject(ctx, in)
	if err == nil && dropped {
		err = a.Removals.EraseDeleted(ctx)
	}
	return RemoveProjectResult{Running: !dropped}, a.failProject(ctx, in, err)
}

// forgetPatience bounds how long a removal waits for workflows whose runs have ended.
const forgetPatience = 30 * time.Second

// forgetProject deletes the histories of what ran in a project, whose signals and results
// hold words of questions and answers. A run ends in SQL before its workflow does, and the
// list of workflows is behind by a second, so it repeats until none is open. One that a
// defect keeps open does not keep the project.
func (a *RemovingProjects) forgetProject(ctx context.Context, in knowledge.RunRef, patience time.Duration) error {
	for end := time.Now().Add(patience); ; {
		open, err := a.Workflows.ForgetProject(ctx, in.Workspace, in.Project)
		if err != nil {
			return fmt.Errorf("delete the histories of the project: %w", err)
		}
		if open == 0 {
			return nil
		}
		if time.Now().After(end) {
			a.Log.WarnContext(ctx, "workflows of a removed project are still open; Temporal keeps their histories", "workspace", in.Workspace, "project", in.Project, "open", open)
			return nil
		}
		select {
		case <-time.After(200 * time.Millisecond):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// removeRuns deletes the runs of a project, each after its blobs and its history: the list
// of workflows that forgetProject reads may miss one on a busy machine.
func (a *RemovingProjects) removeRuns(ctx context.Context, in knowledge.RunRef) error {
	for {
		runs, err := a.Removals.ProjectRuns(ctx, in, false, removePage)
		if err != nil || len(runs) == 0 {
			return err
		}
		ids := make([]string, 0, len(runs))
		for _, run := range runs {
			if run.Status == knowledge.RunRunning {
				return nil // it has begun meanwhile; DropProject finds it
			}
			of := knowledge.RunRef{Workspace: in.Workspace, Project: in.Project, Run: run.ID}
			if _, err := a.Blobs.DeletePrefix(ctx, of.Prefix(), nil); err != nil {
				return fmt.Errorf("remove the blobs of run %s: %w", run.ID, err)
			}
			if err := a.Workflows.ForgetRun(ctx, run); err != nil {
				return fmt.Errorf("delete the history of run %s: %w", run.ID, err)
			}
			ids = append(ids, run.ID)
		}
		if err := a.Removals.DropRuns(ctx, in.Workspace, ids); err != nil {
			return err
		}
	}
}

func (a *RemovingProjects) failProject(ctx context.Context, in knowledge.RunRef, err error) error {
	if err == nil {
		return nil
	}
	return step.Failure(ctx, a.Log.With("workspace", in.Workspace, "project", in.Project, "run", in.Run), err)
}

// FinishRemoveProjectInput ends the removal of a project. Items are its whole log.
type FinishRemoveProjectInput struct {
	knowledge.RunRef
	Error *knowledge.DocumentError `json:"error,omitempty"`
	Items []stream.Item            `json:"items"`
}

// FinishRemoveProject ends the removal's run. It is a local activity.
func (a *RemovingProjects) FinishRemoveProject(ctx context.Context, in FinishRemoveProjectInput) error {
	end := record.Ending{Kind: knowledge.KindRemoveProject, Error: in.Error}
	if err := a.ender.End(ctx, in.RunRef, in.Items, end); err != nil {
		return a.failProject(ctx, in.RunRef, err)
	}
	a.Metrics.WorkflowDone("RemoveProject", string(end.Status()))
	a.Log.InfoContext(ctx, "project removed", "workspace", in.Workspace, "project", in.Project, "run", in.Run, "status", end.Status())
	return nil
}
