package worker_test

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
	"github.com/cairn-rag/cairn/internal/stream"
	"github.com/cairn-rag/cairn/worker"
)

// backlog is the store, the workflows and the settler of a sweep.
type backlog struct {
	mu           sync.Mutex
	pending      []store.Version
	running      map[string]bool // workflows
	begun        map[string]int  // how often each version was started or signaled, by document
	later        []string        // documents whose version was started with the priority of bulk work
	runs         []store.Run
	settled      map[string]int
	queues       []store.PendingQueue
	removals     []store.Removal // by document
	removed      map[string]int  // how often each removal was started, by document
	starts, most int             // of removals that start now, and at the same time
	woken        map[string]int  // webhooks
	dropped      []time.Time
	retained     []string    // workspaces with a retention
	ending       []string    // workspaces with grants that end
	endings      []string    // those whose grants were ended
	retentions   []store.Run // that were started
	busy         string      // the workspace in which one is under way
	sessions     int         // how often expired ones were dropped
	listed       []time.Time // bounds up to which webhooks were listed
}

func newBacklog() *backlog {
	return &backlog{running: map[string]bool{}, begun: map[string]int{}, settled: map[string]int{}, woken: map[string]int{}, removed: map[string]int{}}
}

// add adds a version that has waited for some minutes. running reports whether the
// document's workflow runs.
func (b *backlog) add(document string, version, minutes int, begun, running bool) {
	b.pending = append(b.pending, store.Version{
		VersionRef: knowledge.VersionRef{Workspace: "w", Document: document, Version: version}, RunID: document, Begun: begun,
		UpdatedAt: time.Now().Add(-time.Duration(minutes) * time.Minute),
	})
	b.running["ingest/w/"+document] = running
}

func (b *backlog) PendingVersions(_ context.Context, q store.PendingQuery) ([]store.Version, error) {
	slices.SortFunc(b.pending, func(x, y store.Version) int {
		return cmp.Or(x.UpdatedAt.Compare(y.UpdatedAt), strings.Compare(x.Document, y.Document))
	})
	var list []store.Version
	for _, v := range b.pending {
		behind := v.UpdatedAt.After(q.After.At) || v.UpdatedAt.Equal(q.After.At) && v.Document > q.After.ID
		if behind && (q.Before.IsZero() || v.UpdatedAt.Before(q.Before)) && len(list) < q.Limit {
			list = append(list, v)
		}
	}
	return list, nil
}

func (b *backlog) PendingRemovals(_ context.Context, after store.Position, limit int) (list []store.Removal, next store.Position, err error) {
	for _, r := range b.removals {
		if r.Document > after.ID && len(list) < limit {
			list = append(list, r)
		}
	}
	if len(list) == limit {
		next.ID = list[limit-1].Document
	}
	return list, next, nil
}

func (b *backlog) RunningRuns(_ context.Context, q store.RunningQuery) ([]store.Run, error) {
	var list []store.Run
	for _, r := range b.runs {
		behind := r.CreatedAt.After(q.After.At) || r.CreatedAt.Equal(q.After.At) && r.ID > q.After.ID
		if slices.Contains(q.Kinds, r.Kind) && behind && (q.Before.IsZero() || r.CreatedAt.Before(q.Before)) && len(list) < q.Limit {
			list = append(list, r)
		}
	}
	return list, nil
}

func (b *backlog) Ingest(_ context.Context, v store.Version) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.begun[v.Document]++
	b.running["ingest/w/"+v.Document] = true
	return nil
}

func (b *backlog) IngestLater(ctx context.Context, v store.Version) error {
	b.later = append(b.later, v.Document)
	return b.Ingest(ctx, v)
}

func (b *backlog) PendingQueues(_ context.Context, before time.Time) ([]store.PendingQueue, error) {
	b.listed = append(b.listed, before)
	return b.queues, nil
}

func (b *backlog) DropDeliveries(_ context.Context, before time.Time, _ int) error {
	b.dropped = append(b.dropped, before)
	return nil
}

func (b *backlog) DropSessions(_ context.Context, limit int) error {
	if limit > 0 {
		b.sessions++
	}
	return nil
}

func (b *backlog) RetentionWorkspaces(_ context.Context, since time.Time) ([]string, error) {
	var due []string
	for _, workspace := range b.retained {
		if !slices.ContainsFunc(b.retentions, func(r store.Run) bool { return r.Workspace == workspace && r.CreatedAt.After(since) }) {
			due = append(due, workspace)
		}
	}
	return due, nil
}

func (b *backlog) StartRetention(_ context.Context, workspace, _, id string, _ time.Time) (store.Run, bool, error) {
	if b.busy == workspace {
		return store.Run{}, false, nil
	}
	return store.Run{ID: id, Workspace: workspace, Kind: knowledge.KindRetention, CreatedAt: time.Now()}, true, nil
}

func (b *backlog) EndingGrants(context.Context, time.Time) ([]string, error) { return b.ending, nil }

func (b *backlog) EndGrants(_ context.Context, workspace string, _ time.Time) error {
	b.endings = append(b.endings, workspace)
	return nil
}

func (b *backlog) RemoveWithdrawn(context.Context, int) ([]store.Removal, error) { return nil, nil }

func (b *backlog) Retain(_ context.Context, r store.Run) error {
	b.retentions = append(b.retentions, r)
	return nil
}

func (b *backlog) DeliverWebhook(_ context.Context, q store.WebhookQueue) error {
	b.woken[q.Webhook]++
	return nil
}

func (b *backlog) Remove(_ context.Context, r store.Removal) error {
	b.mu.Lock()
	b.starts++
	b.most = max(b.most, b.starts)
	b.mu.Unlock()
	time.Sleep(time.Millisecond) // of the bubble's clock
	b.mu.Lock()
	defer b.mu.Unlock()
	b.starts--
	b.removed[r.Document]++
	return nil
}

func (b *backlog) Running(_ context.Context, workflowID string) (running, known bool, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.running[workflowID], true, nil
}

func (b *backlog) SettleNow(_ context.Context, run stream.RunRef) error {
	b.settled[run.Run]++
	return nil
}

func (*backlog) UpdateIndex(context.Context, string) error { return nil }

// sweep runs a sweep for some minutes of the bubble's clock.
func (b *backlog) sweep(t *testing.T, minutes int, change ...func(*worker.Sweep)) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Duration(minutes)*time.Minute-time.Second)
	defer cancel()
	s := worker.Sweep{Store: b, Workflows: b, Settler: b, Attributes: b, Alone: true, Log: slog.New(slog.DiscardHandler)}
	for _, c := range change {
		c(&s)
	}
	s.Run(ctx)
}

func TestSweepOfVersions(t *testing.T) {
	t.Parallel()

	t.Run("a version of a reindex starts with the priority of bulk work", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			b := newBacklog()
			b.add("upload", 1, 5, false, false)
			b.add("reindexed", 2, 5, false, false)
			b.pending[1].Reindex = "run"
			b.sweep(t, 1)
			if !slices.Equal(b.later, []string{"reindexed"}) || b.begun["upload"] != 1 || b.begun["reindexed"] != 1 {
				t.Errorf("started %v, of these later: %v", b.begun, b.later)
			}
		})
	})
	t.Run("what a clock that was ahead has dated later than now is started too", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			b := newBacklog()
			b.add("later", 1, -60, false, false)
			b.runs = []store.Run{{ID: "later", Workspace: "w", Kind: knowledge.KindQuery, CreatedAt: time.Now().Add(time.Hour)}}
			b.sweep(t, 1)
			if b.begun["later"] != 1 || b.settled["later"] != 1 {
				t.Errorf("started %v, settled %v", b.begun, b.settled)
			}
		})
	})

	t.Run("versions that a running workflow has are not signaled", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			b := newBacklog()
			b.add("queued", 1, 10, false, true)
			b.add("ingested", 3, 10, true, true)
			b.sweep(t, 60)
			if len(b.begun) != 0 {
				t.Errorf("started or signaled: %v", b.begun)
			}
		})
	})

	t.Run("a version behind another one is signaled every ten minutes, because its signal may be lost", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			b := newBacklog()
			b.add("waits", 2, 10, false, true)
			b.sweep(t, 60)
			if n := b.begun["waits"]; n < 5 || n > 6 {
				t.Errorf("signaled %d times in an hour", n)
			}
		})
	})
}

func TestFirstSweep(t *testing.T) {
	t.Parallel()

	t.Run("beside other processes the first sweep leaves what they may be starting", func(t *testing.T) {
		t.Parallel()
		for _, alone := range []bool{true, false} {
			synctest.Test(t, func(t *testing.T) {
				b := newBacklog()
				b.add("lost", 1, 1, false, false)
				b.add("starting", 1, 0, false, false)
				for id, age := range map[string]time.Duration{"lost": time.Minute, "starting": time.Second} {
					b.runs = append(b.runs, store.Run{ID: id, Kind: knowledge.KindQuery, CreatedAt: time.Now().Add(-age)})
				}
				time.Sleep(time.Second)
				start := time.Now()
				b.sweep(t, 1, func(s *worker.Sweep) { s.Alone = alone })
				if b.begun["lost"] != 1 || b.settled["lost"] != 1 || (b.begun["starting"] == 1) != alone || (b.settled["starting"] == 1) != alone {
					t.Errorf("alone %t: started %v, settled %v", alone, b.begun, b.settled)
				}
				if grace := start.Sub(b.listed[0]); (grace == 0) != alone || grace > time.Minute {
					t.Errorf("alone %t: webhooks have a grace of %v", alone, grace)
				}
			})
		}
	})

	t.Run("the first sweep starts all removals, a few at a time", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			b := newBacklog()
			for i := range 2500 {
				b.removals = append(b.removals, store.Removal{Workspace: "w", Document: fmt.Sprintf("gone-%04d", i)})
			}
			b.sweep(t, 1)
			if len(b.removed) != 2500 || b.most > 4 {
				t.Errorf("%d removals were started, %d at the same time", len(b.removed), b.most)
			}
		})
	})

	t.Run("the first sweep goes through everything", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			b := newBacklog()
			for i := range 2500 {
				b.add(fmt.Sprintf("lost-%04d", i), 1, 10, i%2 == 0, false)
				b.runs = append(b.runs, store.Run{ID: fmt.Sprintf("run-%04d", i), Kind: knowledge.KindQuery, CreatedAt: time.Now().Add(-time.Minute)})
			}
			b.sweep(t, 1)
			if len(b.begun) != 2500 || len(b.settled) != 2500 {
				t.Errorf("%d versions were started and %d runs settled", len(b.begun), len(b.settled))
			}
		})
	})
}

func TestSweep(t *testing.T) {
	t.Parallel()
	t.Run("a webhook is woken whose wake-up was lost, or whose workflow is not there", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			b := newBacklog()
			for _, name := range []string{"lost", "rests", "ended"} {
				q := store.WebhookQueue{Workspace: "w", Project: "p", Webhook: name}
				b.queues = append(b.queues, store.PendingQueue{WebhookQueue: q, Awake: name == "lost"})
				b.running["webhook/w/"+name] = name != "ended"
			}
			start := time.Now()
			b.sweep(t, 1)
			if !maps.Equal(b.woken, map[string]int{"lost": 1, "ended": 1}) {
				t.Errorf("woken: %v", b.woken)
			}
			if len(b.dropped) != 1 || start.Sub(b.dropped[0]) != 30*24*time.Hour {
				t.Errorf("deliveries are dropped that ended before %v", b.dropped)
			}
		})
	})

	t.Run("later sweeps go through a long backlog page by page", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			b := newBacklog()
			for i := range 2500 {
				b.runs = append(b.runs, store.Run{ID: fmt.Sprintf("run-%04d", i), Kind: knowledge.KindIngest, CreatedAt: time.Now().Add(-time.Minute)})
			}
			b.sweep(t, 4)
			if b.sessions != 4 {
				t.Errorf("in four looks expired sessions were dropped %d times", b.sessions)
			}
			if b.settled["run-0000"] != 2 || b.settled["run-2499"] != 2 {
				t.Errorf("in four looks the first run was settled %d times and the last %d times", b.settled["run-0000"], b.settled["run-2499"])
			}
		})
	})

	t.Run("runs of every kind are settled, and many of one kind delay no other", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			b := newBacklog()
			for i := range 2000 {
				b.runs = append(b.runs, store.Run{ID: fmt.Sprintf("ingest-%04d", i), Kind: knowledge.KindIngest, CreatedAt: time.Now().Add(-time.Minute)})
			}
			b.runs = append(b.runs,
				store.Run{ID: "query", Kind: knowledge.KindQuery, CreatedAt: time.Now().Add(-time.Minute)}, store.Run{ID: "tool", Kind: knowledge.KindTool, CreatedAt: time.Now().Add(-time.Minute)})
			b.sweep(t, 1)
			if len(b.settled) != 2002 {
				t.Errorf("%d of 2002 runs were settled", len(b.settled))
			}
		})
	})
}
