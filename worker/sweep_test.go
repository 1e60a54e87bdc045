package worker_test

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
	"github.com/cairn-rag/cairn/internal/stream"
	"github.com/cairn-rag/cairn/worker"
)

// backlog is a store, the workflows and the logs of a sweep.
type backlog struct {
	mu      sync.Mutex
	pending []store.Version
	begun   map[int]int // how often, by version
	runs    []store.Run
	settled []string
}

func (b *backlog) PendingVersions(_ context.Context, from, before time.Time, limit int) ([]store.Version, error) {
	var list []store.Version
	for _, v := range b.pending {
		if !v.UpdatedAt.Before(from) && v.UpdatedAt.Before(before) && len(list) < limit {
			list = append(list, v)
		}
	}
	return list, nil
}

func (b *backlog) PendingRemovals(context.Context, int) ([]store.Removal, error) { return nil, nil }

func (b *backlog) RunningRuns(_ context.Context, kinds []knowledge.RunKind, _ time.Time, limit int) ([]store.Run, error) {
	var list []store.Run
	for _, r := range b.runs {
		if slices.Contains(kinds, r.Kind) && len(list) < limit {
			list = append(list, r)
		}
	}
	return list, nil
}

func (b *backlog) Ingest(_ context.Context, v store.Version) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.begun[v.Version]++
	return nil
}

func (*backlog) Remove(context.Context, store.Removal) error { return nil }

func (*backlog) Running(context.Context, string) (running, known bool, err error) {
	return false, false, nil
}

func (b *backlog) TakeUp(_ context.Context, run stream.RunRef) error {
	b.settled = append(b.settled, run.Run)
	return nil
}

func (*backlog) Follow(context.Context, string) error { return nil }

// sweep lets a sweep look for some minutes of the bubble's clock.
func (b *backlog) sweep(t *testing.T, minutes int) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Duration(minutes)*time.Minute-time.Second)
	defer cancel()
	s := worker.Sweep{Store: b, Workflows: b, Settler: b, Attributes: b, Log: slog.New(slog.DiscardHandler)}
	s.Run(ctx)
}

func TestSweep(t *testing.T) {
	t.Parallel()

	t.Run("what a crash left is found behind a long backlog", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			b := &backlog{begun: map[int]int{}}
			for i := range 2500 {
				b.pending = append(b.pending, store.Version{
					VersionRef: knowledge.VersionRef{Version: i}, UpdatedAt: time.Now().Add(time.Duration(i-3000) * time.Second),
				})
			}
			b.sweep(t, 4)
			if len(b.begun) != 2500 || b.begun[0] != 2 {
				t.Errorf("in four looks %d versions were taken up, the oldest %d times", len(b.begun), b.begun[0])
			}
		})
	})

	t.Run("runs of every kind are settled, and many of one hold up no other", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			b := &backlog{begun: map[int]int{}}
			for range 2000 {
				b.runs = append(b.runs, store.Run{ID: "ingest", Kind: "ingest"})
			}
			b.runs = append(b.runs, store.Run{ID: "query", Kind: "query"}, store.Run{ID: "tool", Kind: "tool"})
			b.sweep(t, 1)
			if diff := cmp.Diff([]string{"ingest", "query", "tool"}, slices.Compact(slices.Sorted(slices.Values(b.settled)))); diff != "" {
				t.Error(diff)
			}
		})
	})
}
