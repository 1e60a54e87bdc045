package following_test

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"testing"
	"time"

	"github.com/cairn-rag/cairn/internal/blob"
	"github.com/cairn-rag/cairn/internal/following"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/knowledge/knowledgetest"
	"github.com/cairn-rag/cairn/internal/source"
	"github.com/cairn-rag/cairn/internal/source/throttle"
	"github.com/cairn-rag/cairn/internal/store"
)

// schedules are workflows that only start and unschedule.
type schedules struct{ unscheduled int }

func (*schedules) Import(context.Context, store.Import) error     { return nil }
func (*schedules) ScheduleSync(context.Context, store.Sync) error { return nil }

func (s *schedules) UnscheduleSync(context.Context, store.Sync) error {
	s.unscheduled++
	return nil
}

// service is a place whose secret ends, and that counts who asks when.
type service struct {
	following.Places
	ends  time.Time
	fails error
	asked int
}

func (s *service) SecretEnds(context.Context, source.Follow, *throttle.Gate) (time.Time, error) {
	s.asked++
	return s.ends, s.fails
}

func (*service) Follow(source.Follow, *throttle.Gate) (source.Source, error) { return nil, nil }

// fixture is a Runner with a database, and a connection of which there are syncs.
type fixture struct {
	*testing.T
	store   *store.Store
	blobs   *blob.Store
	service *service
	work    *schedules
	now     time.Time
	runner  *following.Runner
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	f := &fixture{T: t, service: &service{}, work: &schedules{}, now: time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)}
	var err error
	f.store, err = store.Open(t.Context(), store.Config{URL: "sqlite://" + filepath.Join(t.TempDir(), "cairn.db")})
	f.must(err)
	f.blobs, err = blob.Open(t.Context(), "file://"+t.TempDir())
	f.must(err)
	t.Cleanup(func() {
		if err := errors.Join(f.store.Close(), f.blobs.Close()); err != nil {
			t.Error(err)
		}
	})
	f.must(f.store.CreateWorkspace(t.Context(), store.Workspace{ID: "w", Name: "w"}))
	f.must(f.store.CreateProject(t.Context(), knowledge.Project{ID: "p", Workspace: "w", Name: "p"}))
	_, err = f.store.AddConnection(t.Context(), manager(), store.Connection{ID: "c", Type: source.TypeCrawl})
	f.must(err)
	f.runner = following.NewRunner(following.RunnerDeps{
		Store: f.store, Blobs: f.blobs, Places: f.service, Workflows: f.work, Log: slog.New(slog.DiscardHandler), Now: func() time.Time { return f.now },
	})
	return f
}

func manager() knowledge.Principal {
	return knowledgetest.Principal(knowledge.Claims{Workspace: "w", KeyID: "m", Covered: []string{knowledge.EveryLevel}, Scopes: []knowledge.Scope{knowledge.ScopeWrite}})
}

func (f *fixture) must(err error) {
	f.Helper()
	if err != nil {
		f.Fatal(err)
	}
}

// add adds a sync.
func (f *fixture) add(id string) {
	f.Helper()
	_, err := f.store.AddSync(f.Context(), manager(), store.Sync{ID: id, Project: "p", Connection: "c", Every: time.Hour})
	f.must(err)
}

// start starts a run of a sync whose listing keeps something.
func (f *fixture) start(sync string) store.Import {
	f.Helper()
	i, err := f.runner.Start(f.Context(), "w", sync, knowledge.NewID())
	f.must(err)
	_, err = f.blobs.Put(f.Context(), i.StateKey("page/a"), []byte("a"))
	f.must(err)
	return i
}

// complete starts a run of a sync, and ends it.
func (f *fixture) complete(sync string) store.Import {
	f.Helper()
	i := f.start(sync)
	f.must(f.store.EndRun(f.Context(), "w", i.RunID, store.RunEnd{Kind: knowledge.KindImport, Status: knowledge.RunCompleted}))
	return i
}

// brokenBlobs delete nothing.
type brokenBlobs struct{}

func (brokenBlobs) DeletePrefix(context.Context, string, func(string, time.Time) bool) (int, error) {
	return 0, errors.New("no answer")
}

// TestARemovedSyncLeavesNoState removes syncs with what their last completed runs have kept. A
// sync stays to be removed while that fails, and what others have kept stays.
func TestARemovedSyncLeavesNoState(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	for _, id := range []string{"rests", "runs", "stays", "new"} {
		f.add(id)
	}
	rested, before, stays := f.complete("rests"), f.complete("runs"), f.complete("stays")
	running := f.start("runs")
	broken := following.NewRunner(following.RunnerDeps{Store: f.store, Blobs: brokenBlobs{}, Workflows: f.work, Log: slog.New(slog.DiscardHandler), Now: time.Now})
	for _, id := range []string{"rests", "runs", "new"} {
		y, err := f.store.RemoveSync(t.Context(), manager(), id)
		f.must(err)
		if err := broken.Schedule(t.Context(), y); (err == nil) != (id == "new") {
			t.Errorf("without the blob store, the removal of %s: %v", id, err)
		}
		if _, err := f.store.SyncForSystem(t.Context(), "w", id); (err != nil) != (id == "new") {
			t.Errorf("then %s is: %v", id, err)
		}
		for range 2 { // the sweep may do it while the edge does
			f.must(f.runner.Schedule(t.Context(), y))
		}
		if _, err := f.store.SyncForSystem(t.Context(), "w", id); !knowledge.IsCode(err, knowledge.CodeNotFound) {
			t.Errorf("%s is there: %v", id, err)
		}
	}
	for n, want := range []bool{false, false, true, true} {
		i := []store.Import{rested, before, stays, running}[n] // a run deletes its own when it ends
		if there, err := f.blobs.Exists(t.Context(), i.StateKey("page/a")); there != want || err != nil {
			t.Errorf("the state of run %d of a sync is there: %v, %v; want %v", n+1, there, err, want)
		}
	}
}
