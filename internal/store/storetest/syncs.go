package storetest

import (
	"testing"
	"time"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/knowledge/knowledgetest"
	"github.com/cairn-rag/cairn/internal/source"
	"github.com/cairn-rag/cairn/internal/store"
)

func testSyncs(t *testing.T, open func(t *testing.T) Store) {
	each(t, open, map[string]func(f *fixture){
		"a_connection_is_made_once_and_seen_by_its_workspace_alone": connectionScope,
		"a_connection_that_a_sync_uses_stays":                       connectionUsed,
		"a_connection_gets_another_secret":                          connectionSecret,
		"a_connection_knows_when_its_secret_expires":                connectionSecretEnds,
		"the_runs_of_a_sync_are_listed":                             syncRunsListed,
		"a_sync_is_seen_by_those_who_cover_its_project":             syncScope,
		"a_sync_has_one_run_at_a_time":                              syncRuns,
		"a_paused_or_removed_sync_starts_no_run":                    syncStill,
		"the_cursor_moves_forward_only":                             cursorForward,
		"a_change_of_what_is_followed_forgets_the_cursor":           cursorForgotten,
		"a_schedule_is_to_be_made_until_it_was":                     syncSchedules,
		"they_go_with_their_project":                                syncsGone,
		"members_of_groups_are_those_that_were_read_last":           groupsRead,
		"members_of_groups_go_with_their_connection":                groupsGone,
	})
}

// ofProject has the write scope in a project of acme.
func ofProject(project string) knowledge.Principal {
	return knowledgetest.Principal(knowledge.Claims{Workspace: "acme", Project: project, Scopes: []knowledge.Scope{knowledge.ScopeWrite}, KeyID: "manager"})
}

// connection is a connection of acme.
func (f *fixture) connection(id string) store.Connection {
	f.Helper()
	c, err := f.AddConnection(f.ctx, manager("acme"), store.Connection{ID: id, Type: source.TypeWebDAV, Options: source.Settings{URL: "https://cloud"}, Sealed: "v1:x"})
	f.must(err)
	return c
}

// sync is the sync y of acme/handbook.
func (f *fixture) sync() store.Sync {
	f.Helper()
	const id = "y"
	f.connection("c-" + id)
	y, err := f.AddSync(f.ctx, manager("acme"), store.Sync{
		ID: id, Project: "handbook", Connection: "c-" + id, Every: time.Hour, Request: store.SyncRequest{Scope: source.Scope{Folder: "a"}, RemoveVanished: true},
	})
	f.must(err)
	return y
}

// startSync starts a run of a sync.
func (f *fixture) startSync(y store.Sync, id string) (store.Import, error) {
	return f.StartSyncRun(f.ctx, store.NewImport{
		ImportRef: knowledge.ImportRef{Workspace: "acme", Project: "handbook", Import: id}, RunID: id, SourceName: "sync " + y.ID,
		Request: store.ImportRequest{Source: source.Spec{Type: source.TypeWebDAV, URI: "https://cloud"}, Sync: y.ID, RemoveVanished: true},
	})
}

// syncRun starts a run of a sync that starts.
func (f *fixture) syncRun(y store.Sync) store.Import {
	f.Helper()
	i, err := f.startSync(y, knowledge.NewID())
	f.must(err)
	return i
}

// wantCursor checks the cursor of the sync.
func (f *fixture) wantCursor(want string) {
	f.Helper()
	y, err := f.SyncForSystem(f.ctx, "acme", "y")
	if err != nil || y.Cursor != want {
		f.Errorf("the cursor is %q, %v; want %q", y.Cursor, err, want)
	}
}

func connectionScope(f *fixture) {
	made := f.connection("c1")
	again, err := f.AddConnection(f.ctx, manager("acme"), store.Connection{ID: "c1", Type: source.TypeWebDAV, Sealed: "v1:other"})
	f.must(err)
	if again.Sealed != made.Sealed || again.Options.URL != "https://cloud" {
		f.Errorf("a repetition made %+v", again)
	}
	if _, err := f.Connection(f.ctx, manager("acme"), "c1"); err != nil {
		f.Errorf("its own workspace: %v", err)
	}
	_, err = f.Connection(f.ctx, manager("other"), "c1")
	f.wantCode(err, knowledge.CodeNotFound)
	f.wantCode(f.RemoveConnection(f.ctx, manager("other"), "c1"), knowledge.CodeNotFound)
	if list, _, err := f.Connections(f.ctx, manager("other"), store.Page{}); err != nil || len(list) != 0 {
		f.Errorf("the other workspace lists %v, %v", list, err)
	}
	until := time.Now().UTC().Truncate(time.Microsecond)
	f.must(f.SetConnectionWait(f.ctx, "acme", "c1", until))
	if c, err := f.ConnectionForSystem(f.ctx, "acme", "c1"); err != nil || !c.WaitsUntil.Equal(until) {
		f.Errorf("it waits until %v, %v", c.WaitsUntil, err)
	}
	f.must(f.RemoveConnection(f.ctx, manager("acme"), "c1"))
	_, err = f.Connection(f.ctx, manager("acme"), "c1")
	f.wantCode(err, knowledge.CodeNotFound)
}

func connectionUsed(f *fixture) {
	y := f.sync()
	f.wantCode(f.RemoveConnection(f.ctx, manager("acme"), y.Connection), knowledge.CodeConflict)
	_, err := f.RemoveSync(f.ctx, manager("acme"), y.ID)
	f.must(err)
	f.must(f.RemoveConnection(f.ctx, manager("acme"), y.Connection))
	_, err = f.AddSync(f.ctx, manager("acme"), store.Sync{ID: "z", Project: "handbook", Connection: y.Connection, Every: time.Hour})
	f.wantCode(err, knowledge.CodeNotFound)
}

func connectionSecret(f *fixture) {
	made := f.connection("c1")
	changed, err := f.UpdateConnection(f.ctx, manager("acme"), "c1", "v1:another")
	f.must(err)
	if changed.Sealed != "v1:another" || changed.Options != made.Options || !changed.CreatedAt.Equal(made.CreatedAt) {
		f.Errorf("it became %+v", changed)
	}
	_, err = f.UpdateConnection(f.ctx, manager("other"), "c1", "v1:taken")
	f.wantCode(err, knowledge.CodeNotFound)
	_, err = f.UpdateConnection(f.ctx, ofProject("handbook"), "c1", "v1:taken")
	f.wantCode(err, knowledge.CodeForbidden)
	if c, err := f.ConnectionForSystem(f.ctx, "acme", "c1"); err != nil || c.Sealed != "v1:another" {
		f.Errorf("stored is %+v, %v", c, err)
	}
}

func connectionSecretEnds(f *fixture) {
	c, now := f.connection("c1"), time.Now().UTC().Truncate(time.Microsecond)
	claims := func(c store.Connection, want bool) {
		f.Helper()
		if claimed, err := f.ClaimSecretCheck(f.ctx, c, now.Add(-time.Hour), now); err != nil || claimed != want {
			f.Errorf("claimed %t, %v", claimed, err)
		}
	}
	claims(c, true)
	claims(c, false)
	f.must(f.SetSecretEnds(f.ctx, c, now))
	wantEnds := func(want time.Time) {
		f.Helper()
		all, err := f.EndsOfSecrets(f.ctx)
		f.must(err)
		stored, err := f.Connection(f.ctx, manager("acme"), "c1")
		if err != nil || !stored.SecretEnds.Equal(want) || !all["c1"].Equal(want) {
			f.Errorf("it ends at %v and %v, %v; want %v", stored.SecretEnds, all["c1"], err, want)
		}
	}
	wantEnds(now)
	other, err := f.UpdateConnection(f.ctx, manager("acme"), "c1", "v1:another")
	f.must(err)
	wantEnds(time.Time{})
	f.must(f.SetSecretEnds(f.ctx, c, now)) // of the secret of before
	wantEnds(time.Time{})
	claims(c, false)
	claims(other, true)
}

func syncRunsListed(f *fixture) {
	y := f.sync()
	f.imported("bucket")
	run := f.syncRun(y)
	runs := func(p knowledge.Principal, sync string) []store.Import {
		f.Helper()
		list, _, err := f.Imports(f.ctx, p, store.ImportFilter{Sync: sync}, store.Page{})
		f.must(err)
		return list
	}
	if list := runs(manager("acme"), y.ID); len(list) != 1 || list[0].Import != run.Import {
		f.Errorf("the runs of the sync are %+v", list)
	}
	if list := runs(manager("acme"), "none"); len(list) != 0 {
		f.Errorf("the runs of no sync are %+v", list)
	}
	for _, p := range []knowledge.Principal{manager("other"), ofProject("press")} {
		if list := runs(p, y.ID); len(list) != 0 {
			f.Errorf("somebody else lists %+v", list)
		}
	}
}

func syncScope(f *fixture) {
	y := f.sync()
	for name, p := range map[string]knowledge.Principal{"the workspace": manager("acme"), "the project": ofProject("handbook")} {
		if got, err := f.Sync(f.ctx, p, y.ID); err != nil || got.Request.Scope.Folder != "a" {
			f.Errorf("a key of %s: %+v, %v", name, got, err)
		}
	}
	for _, p := range []knowledge.Principal{manager("other"), ofProject("press")} {
		_, err := f.Sync(f.ctx, p, y.ID)
		f.wantCode(err, knowledge.CodeNotFound)
		if list, _, err := f.Syncs(f.ctx, p, "", store.Page{}); err != nil || len(list) != 0 {
			f.Errorf("another one lists %v, %v", list, err)
		}
	}
	_, err := f.Sync(f.ctx, reader("ann"), y.ID)
	f.wantCode(err, knowledge.CodeForbidden)
	_, err = f.RemoveSync(f.ctx, manager("other"), y.ID)
	f.wantCode(err, knowledge.CodeNotFound)
	_, err = f.UpdateSync(f.ctx, manager("other"), y.ID, store.SyncPatch{})
	f.wantCode(err, knowledge.CodeNotFound)
	_, err = f.AddSync(f.ctx, manager("acme"), store.Sync{ID: "z", Project: "nothing", Connection: y.Connection, Every: time.Hour})
	f.wantCode(err, knowledge.CodeNotFound)
}

func syncRuns(f *fixture) {
	y := f.sync()
	first := f.syncRun(y)
	if second := f.syncRun(y); second.Import != first.Import {
		f.Errorf("a second run %s starts beside %s", second.Import, first.Import)
	}
	f.endImport(first)
	second := f.syncRun(y)
	if second.Import == first.Import || second.Source != first.Source {
		f.Errorf("after its end comes %+v", second)
	}
	if again, err := f.startSync(y, first.Import); err != nil || again.Import != first.Import {
		f.Errorf("a repeated start returns %s, %v", again.Import, err)
	}
	now, err := f.Sync(f.ctx, manager("acme"), y.ID)
	if err != nil || now.LastImport != second.Import {
		f.Errorf("the last run is %s, %v", now.LastImport, err)
	}
	f.must(f.EndRun(f.ctx, second.Workspace, second.RunID, store.RunEnd{Kind: knowledge.KindImport, Status: knowledge.RunFailed, Error: &knowledge.Failure{Code: knowledge.CodeUnavailable}}))
	third := f.syncRun(y)
	if first.Request.Fresh || !second.Request.Fresh || !third.Request.Fresh {
		f.Errorf("fresh are %t, %t, %t", first.Request.Fresh, second.Request.Fresh, third.Request.Fresh)
	}
	if got, err := f.PreviousImport(f.ctx, third); err != nil || got != first.Import { // the second one was not completed
		f.Errorf("the run before the third is %s, %v; want %s", got, err, first.Import)
	}
}

func syncStill(f *fixture) {
	y := f.sync()
	paused := true
	_, err := f.UpdateSync(f.ctx, manager("acme"), y.ID, store.SyncPatch{Paused: &paused})
	f.must(err)
	_, err = f.startSync(y, "i1")
	f.wantCode(err, knowledge.CodeConflict)
	paused = false
	_, err = f.UpdateSync(f.ctx, manager("acme"), y.ID, store.SyncPatch{Paused: &paused})
	f.must(err)
	f.endImport(f.syncRun(y))
	_, err = f.RemoveSync(f.ctx, manager("acme"), y.ID)
	f.must(err)
	_, err = f.startSync(y, "i2")
	f.wantCode(err, knowledge.CodeNotFound)
	_, err = f.Sync(f.ctx, manager("acme"), y.ID)
	f.wantCode(err, knowledge.CodeNotFound)
}

func cursorForward(f *fixture) {
	y := f.sync()
	first := f.syncRun(y)
	f.must(f.MoveCursor(f.ctx, first))
	f.wantCursor("") // its listing is not complete
	f.must(f.SetSyncListing(f.ctx, first, store.SyncListing{Full: true, Cursor: "old"}))
	f.must(f.SetSyncListing(f.ctx, first, store.SyncListing{Full: true, Cursor: "one"}))
	if l, there, err := f.SyncListingOf(f.ctx, first); err != nil || !there || !l.Full || l.Cursor != "one" {
		f.Errorf("the listing is %+v, %t, %v", l, there, err)
	}
	f.endImport(first)
	second := f.syncRun(y)
	f.must(f.SetSyncListing(f.ctx, second, store.SyncListing{Cursor: "two"}))
	f.must(f.MoveCursor(f.ctx, second))
	f.must(f.MoveCursor(f.ctx, first))
	f.wantCursor("two")
	f.endImport(second)
	third := f.syncRun(y)
	f.must(f.ForgetCursor(f.ctx, second)) // it has ended
	f.wantCursor("two")
	f.must(f.ForgetCursor(f.ctx, third))
	f.wantCursor("")
}

func cursorForgotten(f *fixture) {
	y := f.sync()
	first := f.syncRun(y)
	f.must(f.SetSyncListing(f.ctx, first, store.SyncListing{Cursor: "one"}))
	include, paused := []string{"*.md"}, true
	_, err := f.UpdateSync(f.ctx, manager("acme"), y.ID, store.SyncPatch{Include: &include})
	f.must(err)
	f.must(f.MoveCursor(f.ctx, first)) // it began before the change
	f.wantCursor("")
	f.endImport(first)
	second := f.syncRun(y)
	f.must(f.SetSyncListing(f.ctx, second, store.SyncListing{Cursor: "two"}))
	_, err = f.UpdateSync(f.ctx, manager("acme"), y.ID, store.SyncPatch{Paused: &paused})
	f.must(err)
	f.must(f.MoveCursor(f.ctx, second)) // a pause changes nothing that is followed
	f.wantCursor("two")
}

func syncSchedules(f *fixture) {
	y := f.sync()
	f.wantUnscheduled(1)
	f.must(f.MarkScheduled(f.ctx, y))
	f.wantUnscheduled(0)
	every := 2 * time.Hour
	changed, err := f.UpdateSync(f.ctx, manager("acme"), y.ID, store.SyncPatch{Every: &every})
	f.must(err)
	f.must(f.MarkScheduled(f.ctx, y)) // of before the change
	f.wantUnscheduled(1)
	f.must(f.MarkScheduled(f.ctx, changed))
	f.wantUnscheduled(0)
	_, err = f.RemoveSync(f.ctx, manager("acme"), y.ID)
	f.must(err)
	f.wantUnscheduled(1)
	f.must(f.DropSync(f.ctx, "acme", y.ID))
	f.wantUnscheduled(0)
	_, err = f.SyncForSystem(f.ctx, "acme", y.ID)
	f.wantCode(err, knowledge.CodeNotFound)
}

func (f *fixture) wantUnscheduled(n int) {
	f.Helper()
	list, err := f.UnscheduledSyncs(f.ctx, time.Time{}, 10)
	f.must(err)
	if len(list) != n {
		f.Errorf("%d syncs have no schedule, want %d", len(list), n)
	}
}

func syncsGone(f *fixture) {
	y := f.sync()
	i := f.syncRun(y)
	f.must(f.SetSyncListing(f.ctx, i, store.SyncListing{Cursor: "one"}))
	f.endImport(i)
	_, removal := f.removeProject()
	f.must(f.DropRuns(f.ctx, "acme", []string{i.RunID}))
	dropped, err := f.DropProject(f.ctx, removal)
	if err != nil || !dropped {
		f.Fatalf("dropped %t, %v", dropped, err)
	}
	_, err = f.SyncForSystem(f.ctx, "acme", y.ID)
	f.wantCode(err, knowledge.CodeNotFound)
	if _, there, err := f.SyncListingOf(f.ctx, i); err != nil || there {
		f.Errorf("its listing is still there: %v", err)
	}
}
