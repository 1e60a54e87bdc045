package api

import (
	"context"
	"log/slog"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/cairn-rag/cairn/api/edge"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
)

// removalQueue starts the workflows of removals behind the requests that accepted them.
// The removals are on record: the sweep starts those that a process forgets at its end.
type removalQueue struct {
	start func(ctx context.Context, r store.Removal) error
	log   *slog.Logger
	added chan struct{} // holds one signal

	mu      sync.Mutex
	waiting []store.Removal
}

func newRemovalQueue(start func(ctx context.Context, r store.Removal) error, log *slog.Logger) *removalQueue {
	return &removalQueue{start: start, log: log, added: make(chan struct{}, 1)}
}

func (q *removalQueue) add(list []store.Removal) {
	q.mu.Lock()
	q.waiting = append(q.waiting, list...)
	q.mu.Unlock()
	select {
	case q.added <- struct{}{}:
	default:
	}
}

// run starts the removals, some at a time, until ctx ends.
func (q *removalQueue) run(ctx context.Context) {
	for {
		select {
		case <-q.added:
		case <-ctx.Done():
			return
		}
		q.mu.Lock()
		list := q.waiting
		q.waiting = nil
		q.mu.Unlock()
		var group errgroup.Group
		group.SetLimit(actionsAtATime)
		for _, r := range list {
			if ctx.Err() != nil {
				break
			}
			group.Go(func() error { q.startOne(ctx, r); return nil })
		}
		_ = group.Wait() // no function returns an error
	}
}

func (q *removalQueue) startOne(ctx context.Context, r store.Removal) {
	starting, cancel := context.WithTimeout(ctx, removePatience)
	defer cancel()
	if err := q.start(starting, r); err != nil && ctx.Err() == nil {
		q.log.WarnContext(ctx, "removal starts later", "document", r.Document, "run", r.RunID, "error", err)
	}
}

// removeAll hides the documents, and leaves the start of their removals to the queue.
func (dar *documentActionRoutes) removeAll(ctx context.Context, p knowledge.Principal, chosen []chosenDocument, out *selectionView) error {
	request, _ := edge.RunID(ctx)
	marks := make([]store.RemovalMark, len(chosen))
	for i, d := range chosen {
		marks[i] = store.RemovalMark{Document: d.id, RunID: knowledge.DerivedID("remove", request, d.id)}
	}
	removals, refused, err := dar.store.MarkManyRemoving(ctx, p, marks, dar.now())
	dar.removals.add(removals)
	if err != nil {
		return err
	}
	out.Started = len(removals)
	for _, d := range chosen {
		if err := refused[d.id]; err != nil {
			out.refuse(d.id, knowledge.AsError(err).Code)
		}
	}
	return nil
}
