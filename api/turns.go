package api

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
)

// The server looks whether a run's turn has come at these intervals, which grow from the
// first to the last.
const (
	turnFirst = 50 * time.Millisecond
	turnLast  = time.Second
)

// turns looks whether the turns of runs have come, once for all readers of a run.
type turns struct {
	followed FollowedRuns

	mu      sync.Mutex
	waiting map[string]*turn // by the run's id
}

func newTurns(followed FollowedRuns) *turns {
	return &turns{followed: followed, waiting: map[string]*turn{}}
}

// turn is one run that waits. After done is closed, run or err is set.
type turn struct {
	readers int
	cancel  context.CancelFunc
	done    chan struct{}
	run     store.Run
	err     error
}

func hasTurn(run store.Run) bool {
	return run.FirstOffset >= 0 || run.Status != knowledge.RunRunning
}

func (s *turns) join(run store.Run) *turn {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.waiting[run.ID]
	if t == nil {
		ctx, cancel := context.WithCancel(context.Background()) // it ends with the last reader
		t = &turn{cancel: cancel, done: make(chan struct{})}
		s.waiting[run.ID] = t
		go s.watch(ctx, t, run)
	}
	t.readers++
	return t
}

func (s *turns) leave(run string, t *turn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if t.readers--; t.readers == 0 {
		t.cancel()
		delete(s.waiting, run)
	}
}

// watch reads a run until its turn has come.
func (s *turns) watch(ctx context.Context, t *turn, run store.Run) {
	defer close(t.done)
	for pause := turnFirst; !hasTurn(run); pause = min(pause+pause/10, turnLast) {
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			t.err = ctx.Err()
			return
		}
		var err error
		if run, err = s.followed.RunForSystem(ctx, run.Workspace, run.ID); err != nil {
			t.err = fmt.Errorf("read run %s: %w", run.ID, err)
			return
		}
	}
	t.run = run
}
