package worker

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
	"github.com/cairn-rag/cairn/internal/stream"
)

const (
	sweepInterval = time.Minute
	sweepGrace    = 15 * time.Second // what is younger is being started
	sweepLimit    = 1000             // versions, and runs, of one look after the first
	// signalAgain is how soon a version that waits behind another one is signaled
	// again to the workflow that may not know of it.
	signalAgain = 10 * time.Minute
)

// SweepStore is the part of the store that the sweep reads. Each page begins
// behind the position of its query.
type SweepStore interface {
	PendingVersionsPage(ctx context.Context, query store.PendingQuery) ([]store.Version, error)
	PendingRemovals(ctx context.Context, limit int) ([]store.Removal, error)
	RunningRunsPage(ctx context.Context, query store.RunningQuery) ([]store.Run, error)
}

// SweepWorkflows is how the sweep reaches workflows.
type SweepWorkflows interface {
	// Ingest starts the ingest of a version, or signals it to the document's
	// running workflow.
	Ingest(ctx context.Context, v store.Version) error
	Remove(ctx context.Context, r store.Removal) error
	// Running reports whether a workflow is open, and whether there was one.
	Running(ctx context.Context, workflowID string) (running, known bool, err error)
}

// Settler starts questions that have no workflow, and ends runs whose workflow
// will never do so.
type Settler interface {
	SettleNow(ctx context.Context, run stream.RunRef) error
}

// Sweep starts what a crash left between its row in SQL and its workflow, ends
// the runs of workflows that were ended from outside, and tells the index of
// changes that a crash kept from it. It looks at once, through everything, and
// then every minute, through a part that begins where the look before ended.
type Sweep struct {
	Store     SweepStore
	Workflows SweepWorkflows
	Settler   Settler
	// Attributes brings changed documents into the index.
	Attributes interface {
		Follow(ctx context.Context, document string) error
	}
	Log *slog.Logger

	pending  store.Position            // of the last version that was looked at
	running  map[string]store.Position // of the last run, by group of kinds
	signaled map[string]time.Time      // by run, of versions that wait
}

// Run sweeps until ctx ends.
func (s *Sweep) Run(ctx context.Context) {
	s.running, s.signaled = map[string]store.Position{}, map[string]time.Time{}
	grace := time.Duration(0) // nothing is being started yet
	for first := true; ; first = false {
		if err := s.once(ctx, time.Now().Add(-grace), first); err != nil && ctx.Err() == nil {
			s.Log.ErrorContext(ctx, "sweep failed", "error", err)
		}
		grace = sweepGrace
		select {
		case <-time.After(sweepInterval):
		case <-ctx.Done():
			return
		}
	}
}

// once looks through one page of everything, or through all pages. An error with
// one thing keeps no other from being looked at.
func (s *Sweep) once(ctx context.Context, before time.Time, all bool) error {
	removals, err := s.Store.PendingRemovals(ctx, sweepLimit)
	if err != nil {
		return fmt.Errorf("list removals: %w", err)
	}
	var errs []error
	for _, r := range removals {
		if err := s.Workflows.Remove(ctx, r); err != nil {
			errs = append(errs, fmt.Errorf("start removal of %s: %w", r.Document, err))
		}
	}
	errs = append(errs, s.everyPage(ctx, all, func() (bool, error) { return s.versions(ctx, before) }))
	for _, kinds := range [][]knowledge.RunKind{knowledge.AnswerKinds(), knowledge.DocumentKinds()} {
		errs = append(errs, s.everyPage(ctx, all, func() (bool, error) { return s.runs(ctx, before, kinds) }))
	}
	errs = append(errs, s.Attributes.Follow(ctx, ""))
	return errors.Join(errs...)
}

// everyPage looks at a page, or at all until the last one.
func (s *Sweep) everyPage(ctx context.Context, all bool, look func() (more bool, err error)) error {
	var errs []error
	for {
		more, err := look()
		errs = append(errs, err)
		if !all || !more || ctx.Err() != nil {
			return errors.Join(errs...)
		}
	}
}

// versions looks at a page of pending versions. more is false after the last one,
// behind which the next look begins again at the first.
func (s *Sweep) versions(ctx context.Context, before time.Time) (more bool, err error) {
	page, err := s.Store.PendingVersionsPage(ctx, store.PendingQuery{Before: before, After: s.pending, Limit: sweepLimit})
	if err != nil {
		return false, fmt.Errorf("list pending versions: %w", err)
	}
	if s.pending = (store.Position{}); len(page) == sweepLimit {
		s.pending = page[sweepLimit-1].Position()
	}
	var errs []error
	for _, v := range page {
		errs = append(errs, s.version(ctx, v))
	}
	for run, at := range s.signaled {
		if time.Since(at) > signalAgain {
			delete(s.signaled, run)
		}
	}
	return s.pending != store.Position{}, errors.Join(errs...)
}

// version starts the ingest of a pending version that no workflow holds. A
// workflow that runs was started with the version, if it has begun it or there is
// no older one. Otherwise the signal of the version may be lost.
func (s *Sweep) version(ctx context.Context, v store.Version) error {
	running, _, err := s.Workflows.Running(ctx, knowledge.KindIngest.WorkflowID(v.Workspace, v.Document))
	if err != nil {
		return err
	}
	if running && (v.Begun || v.Version == 1) {
		return nil
	}
	if running {
		if _, waits := s.signaled[v.RunID]; waits {
			return nil
		}
		s.signaled[v.RunID] = time.Now()
	}
	if err := s.Workflows.Ingest(ctx, v); err != nil {
		return fmt.Errorf("start version %d of %s: %w", v.Version, v.Document, err)
	}
	return nil
}

// runs looks at a page of runs that have not ended, as versions does.
func (s *Sweep) runs(ctx context.Context, before time.Time, kinds []knowledge.RunKind) (more bool, err error) {
	group := string(kinds[0])
	page, err := s.Store.RunningRunsPage(ctx, store.RunningQuery{Kinds: kinds, Before: before, After: s.running[group], Limit: sweepLimit})
	if err != nil {
		return false, fmt.Errorf("list running runs: %w", err)
	}
	if delete(s.running, group); len(page) == sweepLimit {
		s.running[group] = page[sweepLimit-1].Position()
	}
	var errs []error
	for _, r := range page {
		ref := stream.RunRef{Workspace: r.Workspace, Run: r.ID, WorkflowID: r.WorkflowID, FirstOffset: r.FirstOffset}
		if err := s.Settler.SettleNow(ctx, ref); err != nil {
			errs = append(errs, fmt.Errorf("settle run %s: %w", r.ID, err))
		}
	}
	_, more = s.running[group]
	return more, errors.Join(errs...)
}
