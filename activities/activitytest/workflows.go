package activitytest

import (
	"context"
	"errors"
	"sync"

	"github.com/cairn-rag/cairn/activities/ingestion"
	"github.com/cairn-rag/cairn/internal/store"
	"github.com/cairn-rag/cairn/internal/stream"
)

// Workflows fakes the workflows that activities reach: the log of a run, and
// a record of the calls for other workflows.
type Workflows struct {
	canceled []string // runs, none of which has a workflow
	mu       sync.Mutex
	Logged   stream.Log
	Batches  []stream.Batch
	Before   func(stream.Batch) error // called before a batch is added, if not nil
	Stopped  int
	Running  int // how often an ingest says that it still runs
	onStop   func()

	Completed *[]any // results that activities reported themselves; nil = such a report fails

	Ingests  []store.Version // that were started
	removals []store.Removal // that were started

	forgotten []string // documents whose histories were deleted
	Forgets   int      // how often the histories of a project were deleted
	Open      int      // how often a workflow of the project is still open then
	Ended     []string // workflows whose histories were deleted by their ids

	Version int   // the version whose steps run; -1 = the workflow has ended
	Unread  error // of reading the log
}

// Publish implements answering.Workflows.
func (w *Workflows) Publish(_ context.Context, _ string, b stream.Batch) error {
	if w.Before != nil {
		if err := w.Before(b); err != nil {
			return err
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.Batches = append(w.Batches, b)
	w.Logged.Publish(b)
	return nil
}

// Events implements answering.Workflows.
func (w *Workflows) Events(_ context.Context, _ string, from int64) (stream.EventsPage, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.Unread != nil {
		return stream.EventsPage{}, w.Unread
	}
	return stream.EventsPage{Page: w.Logged.Page(from, nil), Base: w.Logged.Base}, nil
}

// Complete keeps the result of the activity, if the fixture has a place for it.
func (w *Workflows) Complete(_ context.Context, _ []byte, result any) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.Completed == nil {
		return errors.New("no server")
	}
	*w.Completed = append(*w.Completed, result)
	return nil
}

// IngestLater implements ingestion.Workflows.
func (w *Workflows) IngestLater(ctx context.Context, v store.Version) error {
	return w.Ingest(ctx, v)
}

// Ingest implements ingestion.Workflows.
func (w *Workflows) Ingest(_ context.Context, v store.Version) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.Ingests = append(w.Ingests, v)
	return nil
}

// CancelRun implements ingestion.Workflows.
func (w *Workflows) CancelRun(_ context.Context, r store.Run) (bool, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.canceled = append(w.canceled, r.ID)
	return false, nil
}

// Remove implements ingestion.Workflows.
func (w *Workflows) Remove(_ context.Context, r store.Removal) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.removals = append(w.removals, r)
	return nil
}

// StopIngest implements ingestion.Workflows.
func (w *Workflows) StopIngest(context.Context, string, string, int) (bool, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.Stopped++
	if w.Stopped <= w.Running {
		return true, nil
	}
	if w.onStop != nil {
		w.onStop()
	}
	return w.Running > 0, nil
}

// ForgetIngests implements ingestion.Workflows.
func (w *Workflows) ForgetIngests(_ context.Context, _, document string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.forgotten = append(w.forgotten, document)
	return nil
}

// ForgetProject implements ingestion.Workflows.
func (w *Workflows) ForgetProject(context.Context, string, string) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.Forgets++; w.Forgets <= w.Open {
		return 1, nil
	}
	return 0, nil
}

// ForgetRun implements ingestion.Workflows.
func (w *Workflows) ForgetRun(_ context.Context, r store.Run) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.Ended = append(w.Ended, r.WorkflowID)
	return nil
}

// Ingesting implements ingestion.Workflows.
func (w *Workflows) Ingesting(context.Context, string, string) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.Version < 0 {
		return 0, ingestion.ErrNotRunning
	}
	return w.Version, nil
}

// Items returns the items of the log.
func (w *Workflows) Items() []stream.Item {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.Logged.Items(0)
}
