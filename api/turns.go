package api

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
	"github.com/cairn-rag/cairn/internal/stream"
)

// The server looks whether a run's turn has come at these intervals, which grow from the
// first to the last.
const (
	turnFirst = 50 * time.Millisecond
	turnLast  = time.Second
)

// turns looks whether the turns of runs have come, once for all readers of a run.
type turns struct {
	mu      sync.Mutex
	waiting map[string]*turn // by the run's id
}

// turn is one run that waits. After done is closed, run or err is set.
type turn struct {
	readers int
	cancel  context.CancelFunc
	done    chan struct{}
	run     store.Run
	err     error
}

// awaitTurn returns where a run's events are. An ingest of a document whose older
// versions are still being ingested has none until its turn comes; meanwhile
// alive, which may be nil, is called now and then. It changes run to what it has become.
func (s *Server) awaitTurn(ctx context.Context, run *store.Run, alive func() error) (stream.RunRef, error) {
	if hasTurn(*run) {
		return runRef(*run), nil
	}
	if alive == nil {
		alive = func() error { return nil }
	}
	t := s.joinTurn(*run)
	defer s.leaveTurn(run.ID, t)
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
		case <-s.stopping:
			return stream.RunRef{}, errStopping
		case <-ctx.Done():
			return stream.RunRef{}, ctx.Err()
		}
	}
}

func hasTurn(run store.Run) bool {
	return run.FirstOffset >= 0 || run.Status != knowledge.RunRunning
}

func (s *Server) joinTurn(run store.Run) *turn {
	s.turns.mu.Lock()
	defer s.turns.mu.Unlock()
	t := s.turns.waiting[run.ID]
	if t == nil {
		ctx, cancel := context.WithCancel(context.Background()) // it ends with the last reader
		t = &turn{cancel: cancel, done: make(chan struct{})}
		s.turns.waiting[run.ID] = t
		go s.watchTurn(ctx, t, run)
	}
	t.readers++
	return t
}

func (s *Server) leaveTurn(run string, t *turn) {
	s.turns.mu.Lock()
	defer s.turns.mu.Unlock()
	if t.readers--; t.readers == 0 {
		t.cancel()
		delete(s.turns.waiting, run)
	}
}

// watchTurn reads a run until its turn has come.
func (s *Server) watchTurn(ctx context.Context, t *turn, run store.Run) {
	defer close(t.done)
	for pause := turnFirst; !hasTurn(run); pause = min(pause+pause/10, turnLast) {
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			t.err = ctx.Err()
			return
		}
		var err error
		if run, err = s.deps.Followed.RunForSystem(ctx, run.Workspace, run.ID); err != nil {
			t.err = fmt.Errorf("read run %s: %w", run.ID, err)
			return
		}
	}
	t.run = run
}
