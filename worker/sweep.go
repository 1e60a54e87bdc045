package worker

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
	"github.com/cairn-rag/cairn/internal/stream"
	"github.com/cairn-rag/cairn/workflows"
)

const (
	sweepInterval  = time.Minute
	sweepGrace     = 15 * time.Second // younger versions and runs are still being started
	sweepLimit     = 1000             // size of a page
	removalsAtOnce = 4
	// retentionEvery is how often what projects keep no longer is removed.
	retentionEvery = time.Hour
	// signalAgain is how soon the sweep signals a version again that waits behind
	// another one. Its first signal may be lost.
	signalAgain = 10 * time.Minute
	// deliveriesKept is how long a delivery can be listed and made again after its
	// end. droppedAtATime bounds how many older ones a sweep deletes, and how many sessions.
	deliveriesKept = 30 * 24 * time.Hour
	droppedAtATime = 10_000
)

// SweepStore is the part of the store that the sweep reads. The methods return
// pages, oldest first. A page begins after the position of its query.
type SweepStore interface {
	PendingVersions(ctx context.Context, query store.PendingQuery) ([]store.Version, error)
	// PendingRemovals lists removals that have not ended. next is zero after the last page.
	PendingRemovals(ctx context.Context, after store.Position, limit int) (list []store.Removal, next store.Position, err error)
	RunningRuns(ctx context.Context, query store.RunningQuery) ([]store.Run, error)
	PendingQueues(ctx context.Context, before time.Time) ([]store.PendingQueue, error)
	// DropDeliveries deletes deliveries to webhooks that ended before a time.
	DropDeliveries(ctx context.Context, before time.Time, limit int) error
	// RetentionWorkspaces returns the workspaces in which retention is to be applied and was
	// not begun after a time. StartRetention inserts its run, unless one was.
	RetentionWorkspaces(ctx context.Context, since time.Time) ([]string, error)
	StartRetention(ctx context.Context, workspace, owner, id string, since time.Time) (run store.Run, started bool, err error)
	// EndingGrants returns the workspaces with grants that end before a time and have no end in the audit.
	EndingGrants(ctx context.Context, before time.Time) ([]string, error)
	// RemoveWithdrawn starts the removal of documents whose consent was withdrawn while a hold
	// kept them, and which no hold keeps any more.
	RemoveWithdrawn(ctx context.Context, limit int) ([]store.Removal, error)
	// DropSessions deletes sessions of browsers that have expired.
	DropSessions(ctx context.Context, limit int) error
}

// SweepWorkflows starts workflows. Its methods are idempotent.
type SweepWorkflows interface {
	// Ingest starts the workflow of a version's document, or signals the version to
	// it if it runs.
	Ingest(ctx context.Context, v store.Version) error
	// IngestLater is Ingest with the priority of bulk work.
	IngestLater(ctx context.Context, v store.Version) error
	// Remove starts the workflow of a removal, unless it runs.
	Remove(ctx context.Context, r store.Removal) error
	// Retain starts the workflow of a run of retention, unless one runs.
	Retain(ctx context.Context, r store.Run) error
	// EndGrants starts the workflow that ends the grants of a workspace, unless it runs.
	EndGrants(ctx context.Context, workspace string, before time.Time) error
	// DeliverWebhook starts the workflow of a webhook, or wakes it.
	DeliverWebhook(ctx context.Context, q store.WebhookQueue) error
	// Running reports whether a workflow is open, and whether Temporal knows one of
	// that id.
	Running(ctx context.Context, workflowID string) (running, known bool, err error)
}

// Settler repairs a run that has not ended in SQL.
type Settler interface {
	// SettleNow starts the workflow of a question that has none, and ends a run whose
	// workflow can no longer end it. It changes no run whose workflow is open.
	SettleNow(ctx context.Context, run stream.RunRef) error
}

// Sweep starts the workflows that a crash prevented after their row was written,
// ends the runs of workflows that were ended from outside, and brings changes of
// documents into the index that a crash kept from it. It goes through all versions
// and runs at its start. Then it goes through one page of each every minute, which
// begins where the page before ended.
type Sweep struct {
	Store     SweepStore
	Workflows SweepWorkflows
	Settler   Settler
	// Attributes updates the index for a changed document, "" = for all of them.
	Attributes interface {
		UpdateIndex(ctx context.Context, document string) error
	}
	// Syncs makes the schedules of syncs that a crash kept from it. Defaults to none.
	Syncs interface {
		Once(ctx context.Context) error
	}
	// Alone reports that no other process starts workflows. Rows that are there at the
	// start were then left by a process that died, and get no grace. Otherwise another
	// process may have inserted them and start their workflows now. Defaults to false.
	Alone bool
	Log   *slog.Logger

	mu       sync.Mutex                // of what follows: one sweep at a time
	pending  store.Position            // position of the last version that was checked
	removed  store.Position            // position of the last removal
	running  map[string]store.Position // position of the last run, by the first of its kinds
	signaled map[string]time.Time      // last signal of a waiting version, by run
}

// Once goes through one page of each, and leaves young rows alone: the process that
// inserted them starts their workflows. Of several processes each remembers where its
// own pages ended.
func (s *Sweep) Once(ctx context.Context) error {
	return s.once(ctx, sweepGrace, false)
}

// Run sweeps until ctx ends.
func (s *Sweep) Run(ctx context.Context) {
	grace := sweepGrace
	if s.Alone {
		grace = 0 // this process starts nothing before the first sweep
	}
	for first := true; ; first = false {
		if err := s.once(ctx, grace, first); err != nil && ctx.Err() == nil {
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

// once goes through one page of versions and of runs, or through all pages. It leaves
// those alone that are younger than grace. Without a grace it takes all, also those that a
// clock which was ahead has dated later than now. An error with one version or run does
// not stop it.
func (s *Sweep) once(ctx context.Context, grace time.Duration, all bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.running == nil {
		s.running, s.signaled = map[string]store.Position{}, map[string]time.Time{}
	}
	var before time.Time // any time
	if grace > 0 {
		before = time.Now().Add(-grace)
	}
	var errs []error
	errs = append(errs, s.pages(ctx, all, func() (bool, error) { return s.versions(ctx, before) }))
	for _, kinds := range [][]knowledge.RunKind{knowledge.AnswerKinds(), knowledge.DocumentKinds()} {
		errs = append(errs, s.pages(ctx, all, func() (bool, error) { return s.runs(ctx, before, kinds) }))
	}
	errs = append(errs, s.Attributes.UpdateIndex(ctx, ""), s.webhooks(ctx, time.Now().Add(-grace)), s.Store.DropSessions(ctx, droppedAtATime), s.retention(ctx), s.grants(ctx))
	if _, err := s.Store.RemoveWithdrawn(ctx, sweepLimit); err != nil { // removals, below, starts them
		errs = append(errs, fmt.Errorf("remove documents without consent: %w", err))
	}
	if s.Syncs != nil {
		errs = append(errs, s.Syncs.Once(ctx))
	}
	errs = append(errs, s.pages(ctx, all, func() (bool, error) { return s.removals(ctx) })) // last: there may be many thousands
	return errors.Join(errs...)
}

// removals starts the workflows of a page of removals, unless they run. more is false
// after the last page; the next call then begins at the first one again.
func (s *Sweep) removals(ctx context.Context) (more bool, err error) {
	page, next, err := s.Store.PendingRemovals(ctx, s.removed, sweepLimit)
	if err != nil {
		return false, fmt.Errorf("list removals: %w", err)
	}
	s.removed = next
	errs := make([]error, len(page))
	var group errgroup.Group
	group.SetLimit(removalsAtOnce)
	for i, r := range page {
		group.Go(func() error {
			if err := s.Workflows.Remove(ctx, r); err != nil {
				errs[i] = fmt.Errorf("start removal of %s: %w", r.Document, err)
			}
			return nil
		})
	}
	_ = group.Wait() // no function returns an error
	return next != store.Position{}, errors.Join(errs...)
}

// webhooks wakes the workflows of webhooks whose wake-up was lost, and starts those
// that wait for an attempt and were ended from outside. It drops old deliveries.
func (s *Sweep) webhooks(ctx context.Context, before time.Time) error {
	queues, err := s.Store.PendingQueues(ctx, before)
	if err != nil {
		return fmt.Errorf("list webhooks: %w", err)
	}
	var errs []error
	for _, q := range queues {
		running := false
		if !q.Awake {
			running, _, err = s.Workflows.Running(ctx, workflows.DeliverWebhookID(q.Workspace, q.Webhook))
		}
		if err == nil && !running {
			err = s.Workflows.DeliverWebhook(ctx, q.WebhookQueue)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("wake webhook %s: %w", q.Webhook, err))
		}
	}
	return errors.Join(append(errs, s.Store.DropDeliveries(ctx, before.Add(-deliveriesKept), droppedAtATime))...)
}

// pages calls page once or, if all is true, until there are no more pages.
func (s *Sweep) pages(ctx context.Context, all bool, page func() (more bool, err error)) error {
	var errs []error
	for {
		more, err := page()
		errs = append(errs, err)
		if !all || !more || ctx.Err() != nil {
			return errors.Join(errs...)
		}
	}
}

// versions goes through a page of pending versions. more is false after the last
// page; the next call then begins at the first one again.
func (s *Sweep) versions(ctx context.Context, before time.Time) (more bool, err error) {
	page, err := s.Store.PendingVersions(ctx, store.PendingQuery{Before: before, After: s.pending, Limit: sweepLimit})
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

// version starts the ingest of a pending version that no workflow has. A running
// workflow has a version that it has begun, and version 1, with which it was started.
// The signal of any other version may be lost, so it is sent again.
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
	start := s.Workflows.Ingest
	if v.Reindex != "" {
		start = s.Workflows.IngestLater
	}
	if err := start(ctx, v); err != nil {
		return fmt.Errorf("start version %d of %s: %w", v.Version, v.Document, err)
	}
	return nil
}

// runs goes through a page of runs that have not ended, as versions does.
func (s *Sweep) runs(ctx context.Context, before time.Time, kinds []knowledge.RunKind) (more bool, err error) {
	group := string(kinds[0])
	page, err := s.Store.RunningRuns(ctx, store.RunningQuery{Kinds: kinds, Before: before, After: s.running[group], Limit: sweepLimit})
	if err != nil {
		return false, fmt.Errorf("list running runs: %w", err)
	}
	if delete(s.running, group); len(page) == sweepLimit {
		s.running[group] = page[sweepLimit-1].Position()
	}
	var errs []error
	for _, r := range page {
		ref := stream.RunRef{Workspace: r.Workspace, Run: r.ID, WorkflowID: r.LogWorkflowID(), FirstOffset: r.FirstOffset}
		if err := s.Settler.SettleNow(ctx, ref); err != nil {
			errs = append(errs, fmt.Errorf("settle run %s: %w", r.ID, err))
		}
	}
	_, more = s.running[group]
	return more, errors.Join(errs...)
}
