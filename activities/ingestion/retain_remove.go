package ingestion

import (
	"context"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/record"
	"github.com/cairn-rag/cairn/internal/store"
)

// remove ends the removals of a page before the next one begins, so that no more than a page is
// under way however many documents are due. The documents share the transactions that delete
// their rows and end their runs. A removal that cannot end now has a workflow, which waits and
// tries again.
func (a *Retaining) remove(ctx context.Context, removals []store.Removal) error {
	if len(removals) == 0 {
		return nil
	}
	ended := a.each(ctx, removals, a.removing.empty)
	if err := a.removing.Removals.RemoveRows(ctx, ended...); err != nil {
		a.Log.WarnContext(ctx, "the rows of removals are deleted later", "documents", len(ended), "error", err)
		ended = nil
	}
	if err := a.Retention.EraseDeleted(ctx); err != nil {
		return err
	}
	ended = a.each(ctx, ended, a.removing.forget)
	if err := a.endRuns(ctx, ended); err != nil {
		a.Log.WarnContext(ctx, "the runs of removals end later", "documents", len(ended), "error", err)
		ended = nil
	}
	left := slices.DeleteFunc(removals, func(r store.Removal) bool { return slices.Contains(ended, r) })
	a.each(ctx, left, func(ctx context.Context, r store.Removal) (bool, error) {
		return true, a.Workflows.Remove(ctx, r) // the sweep starts one that fails
	})
	return context.Cause(ctx)
}

// each does a step for removals side by side, and returns those for which it is done.
func (a *Retaining) each(ctx context.Context, removals []store.Removal, do func(context.Context, store.Removal) (done bool, err error)) []store.Removal {
	done := make([]bool, len(removals))
	var group errgroup.Group
	group.SetLimit(retainAtOnce) // they share commits
	for i, r := range removals {
		group.Go(func() error {
			var err error
			if done[i], err = do(ctx, r); err != nil {
				a.Log.WarnContext(ctx, "a removal ends later", "document", r.Document, "run", r.RunID, "error", err)
			}
			return nil
		})
	}
	_ = group.Wait() // no function returns an error
	var list []store.Removal
	for i, r := range removals {
		if done[i] {
			list = append(list, r)
		}
	}
	return list
}

// endRuns ends the runs of removals whose steps are done. They have no log: readers see their end.
func (a *Retaining) endRuns(ctx context.Context, removals []store.Removal) error {
	if len(removals) == 0 {
		return nil
	}
	end := record.Ending{Kind: knowledge.KindRemove}
	var ids []string
	for _, r := range removals {
		ids = append(ids, r.RunID)
	}
	if err := a.Retention.EndRuns(ctx, removals[0].Workspace, ids, end.RunEnd("", time.Now().UTC())); err != nil {
		return err
	}
	for range ids {
		a.Metrics.WorkflowDone("RemoveDocument", string(end.Status()))
	}
	return nil
}

// empty does the steps of RemoveDocument before its rows are deleted. done is false if a step of an
// ingest still runs.
func (a *Removing) empty(ctx context.Context, r store.Removal) (done bool, err error) {
	in := RemoveInput{Workspace: r.Workspace, Project: r.Project, Document: r.Document, Run: r.RunID, Upto: r.Upto}
	stopped, err := a.stopping.stopIngest(ctx, StopInput{RemoveInput: in})
	if err != nil || stopped.Running {
		return false, err
	}
	if err := a.RemoveEntries(ctx, in); err != nil {
		return false, err
	}
	err = a.RemoveBlobs(ctx, in)
	return err == nil, err
}

// forget deletes the histories of the ended ingests of a document whose rows are deleted, and starts
// the removal of its attachments.
func (a *Removing) forget(ctx context.Context, r store.Removal) (done bool, err error) {
	if err := a.Workflows.ForgetIngests(ctx, r.Workspace, r.Document); err != nil {
		return false, fmt.Errorf("delete the histories of ingests: %w", err)
	}
	err = startChildRemovals(ctx, a.Children, a.Workflows, r.Document)
	return err == nil, err
}
