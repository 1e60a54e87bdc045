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
	sweepGrace    = 15 * time.Second // younger things are still on their way
	sweepLimit    = 1000
)

// SweepStore is what the sweep reads.
type SweepStore interface {
	PendingVersions(ctx context.Context, from, before time.Time, limit int) ([]store.Version, error)
	PendingRemovals(ctx context.Context, limit int) ([]store.Removal, error)
	RunningRuns(ctx context.Context, kinds []knowledge.RunKind, before time.Time, limit int) ([]store.Run, error)
}

// SweepWorkflows is how the sweep reaches workflows.
type SweepWorkflows interface {
	Ingest(ctx context.Context, v store.Version) error
	Remove(ctx context.Context, r store.Removal) error
	Running(ctx context.Context, workflowID string) (running, known bool, err error)
}

// Settler starts questions that have no workflow, and ends runs whose workflow
// will never do so.
type Settler interface {
	TakeUp(ctx context.Context, run stream.RunRef) error
}

// Sweep starts what a crash left between its row in SQL and its workflow, ends
// the runs of workflows that were ended from outside, and tells the index of
// changes that a crash kept from it. It looks at once and every minute until ctx
// ends.
type Sweep struct {
	Store     SweepStore
	Workflows SweepWorkflows
	Settler   Settler
	// Attributes brings changed documents into the index.
	Attributes interface {
		Follow(ctx context.Context, document string) error
	}
	Log *slog.Logger

	from time.Time // where it goes on among the pending versions
}

// Run sweeps until ctx ends.
func (s *Sweep) Run(ctx context.Context) {
	grace := time.Duration(0) // at the start nothing is on its way
	for {
		if err := s.once(ctx, time.Now().Add(-grace)); err != nil && ctx.Err() == nil {
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

func (s *Sweep) once(ctx context.Context, before time.Time) error {
	removals, err := s.Store.PendingRemovals(ctx, sweepLimit)
	if err != nil {
		return fmt.Errorf("list removals: %w", err)
	}
	var errs []error // one that cannot be taken up holds up no other
	for _, r := range removals {
		if err := s.Workflows.Remove(ctx, r); err != nil {
			errs = append(errs, fmt.Errorf("take up removal of %s: %w", r.Document, err))
		}
	}
	errs = append(errs, s.pending(ctx, before), s.settle(ctx, before, knowledge.AnswerKinds()), s.settle(ctx, before, knowledge.DocumentKinds()))
	errs = append(errs, s.Attributes.Follow(ctx, ""))
	return errors.Join(errs...)
}

// pending takes up some pending versions, and goes on behind them the next time:
// one that a crash left is found behind a backlog of any length.
func (s *Sweep) pending(ctx context.Context, before time.Time) error {
	versions, err := s.Store.PendingVersions(ctx, s.from, before, sweepLimit)
	if err != nil {
		return fmt.Errorf("list pending versions: %w", err)
	}
	if s.from = (time.Time{}); len(versions) == sweepLimit {
		s.from = versions[sweepLimit-1].UpdatedAt.Add(time.Microsecond)
	}
	var errs []error
	for _, v := range versions {
		errs = append(errs, s.version(ctx, v))
	}
	return errors.Join(errs...)
}

func (s *Sweep) settle(ctx context.Context, before time.Time, kinds []knowledge.RunKind) error {
	runs, err := s.Store.RunningRuns(ctx, kinds, before, sweepLimit)
	if err != nil {
		return fmt.Errorf("list running runs: %w", err)
	}
	var errs []error
	for _, r := range runs {
		ref := stream.RunRef{Workspace: r.Workspace, Run: r.ID, WorkflowID: r.WorkflowID, FirstOffset: r.FirstOffset}
		if err := s.Settler.TakeUp(ctx, ref); err != nil {
			errs = append(errs, fmt.Errorf("take up run %s: %w", r.ID, err))
		}
	}
	return errors.Join(errs...)
}

// version takes up a pending version that no workflow holds. One that was begun
// is held by its workflow while that runs.
func (s *Sweep) version(ctx context.Context, v store.Version) error {
	if v.Begun {
		running, _, err := s.Workflows.Running(ctx, knowledge.KindIngest.WorkflowID(v.Workspace, v.Document))
		if err != nil {
			return err
		}
		if running {
			return nil
		}
	}
	if err := s.Workflows.Ingest(ctx, v); err != nil {
		return fmt.Errorf("take up version %d of %s: %w", v.Version, v.Document, err)
	}
	return nil
}
