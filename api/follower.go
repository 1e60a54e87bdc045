package api

import (
	"context"
	"fmt"
	"time"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
	"github.com/cairn-rag/cairn/internal/stream"
)

// follower reads the events of runs as they come, until the server stops.
type follower struct {
	relay    Relay
	turns    *turns
	stopping <-chan struct{}
}

// lastItem follows a run to its end and returns the last item, or errStopping when
// the server stops first. The run continues without its reader.
func (f *follower) lastItem(ctx context.Context, ref stream.RunRef) (stream.Item, error) {
	ctx, leave := context.WithCancelCause(ctx)
	defer leave(nil)
	go func() {
		select {
		case <-f.stopping:
			leave(errStopping)
		case <-ctx.Done():
		}
	}()
	for item, err := range f.relay.Items(ctx, ref, ref.FirstOffset) {
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		if err != nil {
			return item, fmt.Errorf("follow run %s: %w", ref.Run, err)
		}
		if stream.Terminal(item.Topic) {
			return item, nil
		}
	}
	return stream.Item{}, fmt.Errorf("run %s ended without a last event", ref.Run)
}

func runRef(run store.Run) stream.RunRef {
	return stream.RunRef{Workspace: run.Workspace, Run: run.ID, WorkflowID: run.LogWorkflowID(), FirstOffset: run.EventsFrom()}
}

func requestKey(run store.Run) string {
	return knowledge.RunRef{Workspace: run.Workspace, Run: run.ID}.RequestKey()
}

// isPast reports whether an ended run has no event behind the given one.
func (f *follower) isPast(ctx context.Context, ref stream.RunRef, after int64) bool {
	for item, err := range f.relay.Items(ctx, ref, ref.FirstOffset+after) {
		if err != nil || item.Offset-ref.FirstOffset >= after {
			return false
		}
	}
	return true
}

// follow hands the items of a run to emit and calls alive when nothing has come for a
// while. It needs no goroutine of its own: ten thousand streams may be idle.
func (f *follower) follow(ctx context.Context, ref stream.RunRef, alive func() error, emit func(stream.Item) error) error {
	reader := f.relay.Open(ref, ref.FirstOffset)
	defer reader.Close()
	quiet := time.NewTicker(quietInterval)
	defer quiet.Stop()
	for {
		items, ended, changed, err := reader.Next()
		if err := f.emitAll(ctx, items, emit); err != nil {
			return err
		}
		switch {
		case len(items) > 0:
			quiet.Reset(quietInterval)
			continue
		case err != nil || ended:
			return err
		}
		select {
		case <-changed:
		case <-quiet.C:
			if err := alive(); err != nil {
				return err
			}
		case <-f.stopping:
			return errStopping
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// emitAll emits items until the reader leaves or the server stops.
func (f *follower) emitAll(ctx context.Context, items []stream.Item, emit func(stream.Item) error) error {
	for _, item := range items {
		select {
		case <-f.stopping:
			return errStopping
		default:
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := emit(item); err != nil {
			return err
		}
	}
	return nil
}

// awaitTurn returns where a run's events are. An ingest of a document whose older
// versions are still being ingested has none until its turn comes; meanwhile
// alive, which may be nil, is called now and then. It changes run to what it has become.
func (f *follower) awaitTurn(ctx context.Context, run *store.Run, alive func() error) (stream.RunRef, error) {
	if hasTurn(*run) {
		return runRef(*run), nil
	}
	if alive == nil {
		alive = func() error { return nil }
	}
	t := f.turns.join(*run)
	defer f.turns.leave(run.ID, t)
	quiet := time.NewTicker(quietInterval)
	defer quiet.Stop()
	for err := alive(); ; err = alive() {
		if err != nil {
			return stream.RunRef{}, err
		}
		select {
		case <-t.done:
			if t.err != nil {
				return stream.RunRef{}, t.err
			}
			*run = t.run
			return runRef(*run), nil
		case <-quiet.C:
		case <-f.stopping:
			return stream.RunRef{}, errStopping
		case <-ctx.Done():
			return stream.RunRef{}, ctx.Err()
		}
	}
}
