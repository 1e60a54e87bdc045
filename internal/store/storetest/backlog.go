package storetest

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
)

// testBacklog is about work that has not ended, which is walked page by page.
func testBacklog(t *testing.T, open func(t *testing.T) Store) {
	each(t, open, map[string]func(f *fixture){
		"pages_of_pending_versions_leave_none_out": pendingPages,
		"pending_versions_are_told_apart":          pendingKinds,
		"a_version_that_moves_on_is_found_behind":  pendingMoves,
		"pages_of_running_runs_leave_none_out":     runningPages,
		"running_runs_are_told_apart":              runningKinds,
	})
}

// walk reads pages of two until one is empty, and returns the names of what they
// list. page returns a page's names and the position of its last one.
func (f *fixture) walk(page func(after store.Position) (names []string, last store.Position)) []string {
	f.Helper()
	var all []string
	var after store.Position
	for range 100 {
		names, last := page(after)
		if len(names) == 0 {
			return all
		}
		if len(names) > 2 {
			f.Fatalf("a page of 2 has %d", len(names))
		}
		all, after = append(all, names...), last
	}
	f.Fatal("the walk does not end")
	return nil
}

func (f *fixture) pending(query store.PendingQuery) func(after store.Position) ([]string, store.Position) {
	query.Before, query.Limit = time.Now().Add(time.Hour), 2
	return func(after store.Position) (names []string, last store.Position) {
		query.After = after
		list, err := f.PendingVersions(f.ctx, query)
		f.must(err)
		for _, v := range list {
			names, last = append(names, numbered(v.Name+" ", v.Version)), v.Position()
		}
		return names, last
	}
}

func pendingPages(f *fixture) {
	at := time.Now().Add(-time.Hour)
	same := func(nv *store.NewVersion) { nv.Now = at } // many versions of one moment
	var want []string
	for i := range 5 {
		f.add(upload(numbered("", i), same))
		f.add(upload(numbered("", i), same))
		want = append(want, numbered(numbered("", i)+" ", 1), numbered(numbered("", i)+" ", 2))
	}
	f.publish(upload("published"), "x")
	removing := f.add(upload("removing", same))
	f.mark(removing.Document)
	got := f.walk(f.pending(store.PendingQuery{}))
	if slices.Sort(got); !slices.Equal(want, got) {
		f.Errorf("got %q, want %q", got, want)
	}
}

func pendingKinds(f *fixture) {
	old := f.add(upload("old", func(nv *store.NewVersion) { nv.Now = time.Now().Add(-time.Hour) }))
	begun := f.add(upload("begun"))
	if _, err := f.BeginVersion(f.ctx, begun.VersionRef, begun.RunID, 0); err != nil {
		f.Fatal(err)
	}
	for _, test := range []struct {
		begun *bool
		want  []string
	}{{nil, []string{"old 1", "begun 1"}}, {new(true), []string{"begun 1"}}, {new(false), []string{"old 1"}}} {
		if diff := cmp.Diff(test.want, f.walk(f.pending(store.PendingQuery{Begun: test.begun}))); diff != "" {
			f.Error(diff)
		}
	}
	list, err := f.PendingVersions(f.ctx, store.PendingQuery{Before: time.Now().Add(-time.Minute), Limit: 9})
	f.must(err)
	if len(list) != 1 || list[0].VersionRef != old.VersionRef || list[0].Begun || list[0].Reindex != "" {
		f.Errorf("old ones: %+v", list)
	}
}

func pendingMoves(f *fixture) {
	var versions []store.Version
	for i := range 4 {
		versions = append(versions, f.add(upload(numbered("", i), func(nv *store.NewVersion) { nv.Now = time.Now().Add(time.Duration(i-9) * time.Minute) })))
	}
	page, moved := f.pending(store.PendingQuery{}), false
	got := f.walk(func(after store.Position) ([]string, store.Position) {
		names, last := page(after)
		if !moved { // what was listed, and what was not
			moved = true
			for _, v := range []store.Version{versions[0], versions[2]} {
				f.must(f.SetStage(f.ctx, v.VersionRef, knowledge.StageChunk, 0.3, store.Facts{}))
			}
		}
		return names, last
	})
	// Both stand at the end now, and version 0 is listed once more.
	if diff := cmp.Diff([]string{"0 1", "1 1", "3 1", "0 1", "2 1"}, got); diff != "" {
		f.Error(diff)
	}
}

func (f *fixture) running(query store.RunningQuery) func(after store.Position) ([]string, store.Position) {
	query.Before, query.Limit = time.Now().Add(time.Hour), 2
	return func(after store.Position) (names []string, last store.Position) {
		query.After = after
		list, err := f.RunningRuns(f.ctx, query)
		f.must(err)
		for _, r := range list {
			names, last = append(names, r.ID), r.Position()
		}
		return names, last
	}
}

func runningPages(f *fixture) {
	at := time.Now().Add(-time.Hour)
	var want []string
	for i := range 7 {
		want = append(want, numbered("r", i))
		f.must(f.AddRun(f.ctx, run(want[i], func(r *store.Run) { r.CreatedAt = at })))
	}
	f.must(f.AddRun(f.ctx, run("ended", func(r *store.Run) { r.CreatedAt = at })))
	f.must(f.EndRun(f.ctx, "acme", "ended", store.RunEnd{Status: knowledge.RunCompleted}))
	f.must(f.AddRun(f.ctx, run("new")))
	if diff := cmp.Diff(append(want, "new"), f.walk(f.running(store.RunningQuery{}))); diff != "" {
		f.Error(diff)
	}
}

func runningKinds(f *fixture) {
	for _, kind := range []knowledge.RunKind{"query", "tool", "ingest"} {
		f.must(f.AddRun(f.ctx, run(string(kind), func(r *store.Run) { r.Kind, r.CreatedAt = kind, time.Now().Add(-time.Hour) })))
	}
	f.must(f.AddRun(f.ctx, run("young")))
	got := f.walk(f.running(store.RunningQuery{Kinds: knowledge.AnswerKinds()}))
	if slices.Sort(got); !slices.Equal([]string{"query", "tool", "young"}, got) {
		f.Errorf("got %q", got)
	}
	list, err := f.RunningRuns(f.ctx, store.RunningQuery{Kinds: []knowledge.RunKind{knowledge.KindQuery}, Before: time.Now().Add(-time.Minute), Limit: 9})
	f.must(err)
	if len(list) != 1 || list[0].ID != "query" {
		f.Errorf("old ones: %+v", list)
	}
}
