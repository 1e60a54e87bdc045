package storetest

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
)

func testRetention(t *testing.T, open func(t *testing.T) Store) {
	each(t, open, map[string]func(f *fixture){
		"documents_go_when_their_time_is_over": retainedDocuments,
		"an_inactive_document_is_kept":         retainedInactive,
		"a_hold_keeps_a_document":              retainedHeld,
		"a_clock_that_is_ahead_removes_none":   retentionClock,
		"conversations_and_runs_go":            retainedConversations,
		"one_run_at_a_time":                    retentionRuns,
	})
}

// scope is acme at a time, zero = that of the store.
func scope(now time.Time) store.RetentionScope {
	return store.RetentionScope{Workspace: "acme", Now: now, Base: "internal"}
}

// keeps sets the retention of the project handbook of acme.
func (f *fixture) keeps(c knowledge.RetentionConfig) {
	f.Helper()
	_, err := f.UpdateProject(f.ctx, manager("acme"), "handbook", func(p *knowledge.Project) error {
		p.Config.Retention = c
		return nil
	})
	f.must(err)
}

// aged publishes a document whose version was uploaded some days ago.
func (f *fixture) aged(name string, days int, change ...func(*store.NewVersion)) store.Version {
	v, _ := f.publish(upload(name, append(change, func(nv *store.NewVersion) { nv.Now = time.Now().Add(-time.Duration(days) * 24 * time.Hour) })...), name)
	return v
}

// retain applies the retention until nothing is due, and returns how many documents it has
// removed and hidden.
func (f *fixture) retain() (removed []string, hidden int) {
	f.Helper()
	var place store.RetentionPlace
	for range 100 {
		page, err := f.RetainDocuments(f.ctx, scope(time.Time{}), place, 2)
		f.must(err)
		if page.Done {
			slices.Sort(removed)
			return removed, hidden
		}
		place = page.Next
		hidden += len(page.Hidden)
		for _, r := range page.Removals {
			removed = append(removed, r.Document)
		}
	}
	f.Fatal("the retention does not end")
	return nil, 0
}

func retainedDocuments(f *fixture) {
	tagged := func(nv *store.NewVersion) { nv.Tags = []string{"draft"} }
	level := func(level string) func(*store.NewVersion) {
		return func(nv *store.NewVersion) { nv.Classification = &level }
	}
	var due []string
	for i := range 5 {
		due = append(due, f.aged(numbered("draft", i), 8, tagged).Document)
	}
	due = append(due, f.aged("public", 31, level("public")).Document, f.aged("none", 91).Document, f.aged("internal", 91, level("internal")).Document)
	f.aged("a young draft", 6, tagged)
	f.aged("a young public one", 29, level("public"))
	f.aged("confidential", 400, level("confidential"))
	f.aged("of another project", 400, tagged, func(nv *store.NewVersion) { nv.Project = "press" })
	renewed := f.aged("renewed", 100)
	f.publish(upload("renewed"), "again")
	f.keeps(knowledge.RetentionConfig{Documents: []knowledge.RetentionRule{
		{Tag: "draft", Days: 7, Action: knowledge.RetentionRemove}, {Classification: "public", Days: 30, Action: knowledge.RetentionRemove},
		{Classification: "internal", Days: 90, Action: knowledge.RetentionRemove},
	}})
	counted, err := f.RetentionDue(f.ctx, scope(time.Time{}))
	f.must(err)
	if counted.Documents != len(due) || counted.KeptByHold != 0 || counted.Due() != len(due) {
		f.Errorf("due are %+v, want %d documents", counted, len(due))
	}
	removed, hidden := f.retain()
	slices.Sort(due)
	if diff := cmp.Diff(due, removed); diff != "" || hidden != 0 {
		f.Errorf("removed (-want +got), and %d hidden: %s", hidden, diff)
	}
	if d := f.document(renewed.Document); d.Status == knowledge.StatusDeleting {
		f.Error("a document with a new version was removed")
	}
	if removed, _ := f.retain(); len(removed) != 0 {
		f.Errorf("a repetition removes %v", removed)
	}
}

func retainedInactive(f *fixture) {
	v := f.aged("old", 8)
	f.keeps(knowledge.RetentionConfig{Documents: []knowledge.RetentionRule{{Days: 7, Action: knowledge.RetentionInactive}}})
	if removed, hidden := f.retain(); len(removed) != 0 || hidden != 1 {
		f.Errorf("removed %v, hidden %d", removed, hidden)
	}
	if d := f.document(v.Document); d.Status != knowledge.StatusInactive {
		f.Errorf("the document is %s", d.Status)
	}
	if _, hidden := f.retain(); hidden != 0 {
		f.Error("a repetition hides it again")
	}
}

func retainedHeld(f *fixture) {
	held, free := f.aged("held", 8), f.aged("free", 8)
	h := f.hold("Smith", nil, held.Document)
	f.keeps(knowledge.RetentionConfig{Documents: []knowledge.RetentionRule{{Days: 7, Action: knowledge.RetentionRemove}}})
	due, err := f.RetentionDue(f.ctx, scope(time.Time{}))
	f.must(err)
	if due.Documents != 1 || due.KeptByHold != 1 {
		f.Errorf("due are %+v", due)
	}
	if removed, _ := f.retain(); !slices.Equal(removed, []string{free.Document}) {
		f.Errorf("removed %v, want %s", removed, free.Document)
	}
	_, err = f.LiftHold(f.ctx, manager("acme"), h.ID, "settled")
	f.must(err)
	if removed, _ := f.retain(); !slices.Equal(removed, []string{held.Document}) {
		f.Errorf("when the hold is lifted, removed %v", removed)
	}
}

func retentionClock(f *fixture) {
	f.aged("old", 8)
	f.keeps(knowledge.RetentionConfig{Documents: []knowledge.RetentionRule{{Days: 10, Action: knowledge.RetentionRemove}}})
	for ahead, want := range map[time.Duration]int{-24 * time.Hour: 0, 0: 0, 30 * 24 * time.Hour: 0} {
		page, err := f.RetainDocuments(f.ctx, scope(time.Now().Add(ahead)), store.RetentionPlace{}, 10)
		f.must(err)
		if len(page.Removals) != want {
			f.Errorf("with a clock that is %v ahead %d documents are removed", ahead, len(page.Removals))
		}
	}
	f.keeps(knowledge.RetentionConfig{Documents: []knowledge.RetentionRule{{Days: 7, Action: knowledge.RetentionRemove}}})
	for behind, want := range map[time.Duration]int{2 * 24 * time.Hour: 0} {
		page, err := f.RetainDocuments(f.ctx, scope(time.Now().Add(-behind)), store.RetentionPlace{}, 10)
		f.must(err)
		if len(page.Removals) != want {
			f.Errorf("with a clock that is %v behind %d documents are removed", behind, len(page.Removals))
		}
	}
	if removed, _ := f.retain(); len(removed) != 1 {
		f.Errorf("with the right clock %v are removed", removed)
	}
}

func retainedConversations(f *fixture) {
	old, none := time.Now().Add(-8*24*time.Hour), 7.0
	for _, c := range []store.Conversation{{ID: "old", CreatedAt: old, UpdatedAt: old}, {ID: "young"}, {ID: "elsewhere", Project: "press", CreatedAt: old, UpdatedAt: old}} {
		if c.Project == "" {
			c.Project = "handbook"
		}
		_, err := f.EnsureConversation(f.ctx, reader("ann"), c)
		f.must(err)
	}
	for id, ended := range map[string]time.Time{"old-run": old, "young-run": time.Now(), "running": {}} {
		r := store.Run{ID: id, Workspace: "acme", Project: "handbook", Kind: knowledge.KindQuery, Status: knowledge.RunRunning, Owner: "u:ann", CreatedAt: old, ConversationID: "young"}
		f.must(f.AddRun(f.ctx, r))
		if !ended.IsZero() {
			f.must(f.EndRun(f.ctx, "acme", id, store.RunEnd{Status: knowledge.RunCompleted, At: ended}))
		}
	}
	f.keeps(knowledge.RetentionConfig{Conversations: &none, Runs: &none})
	due, err := f.RetentionDue(f.ctx, scope(time.Time{}))
	f.must(err)
	if due.Conversations != 1 || due.Runs != 1 {
		f.Errorf("due are %+v", due)
	}
	n, err := f.RetainConversations(f.ctx, scope(time.Time{}), 10)
	f.must(err)
	list, _, err := f.Conversations(f.ctx, reader("ann"), store.Page{})
	f.must(err)
	if n != 1 || len(list) != 2 {
		f.Errorf("%d conversations were deleted, %d are left", n, len(list))
	}
	runs, err := f.DueRuns(f.ctx, scope(time.Time{}), 10)
	f.must(err)
	if len(runs) != 1 || runs[0].ID != "old-run" {
		f.Fatalf("due are the runs %+v", runs)
	}
	f.must(f.DropRuns(f.ctx, "acme", []string{"old-run"}))
	if n, err := f.RetainConversations(f.ctx, scope(time.Time{}), 10); err != nil || n != 0 {
		f.Errorf("a repetition deletes %d conversations, %v", n, err)
	}
}

func retentionRuns(f *fixture) {
	if list, err := f.RetentionWorkspaces(f.ctx, time.Now().Add(-time.Hour)); err != nil || len(list) != 0 {
		f.Errorf("without a rule: %v, %v", list, err)
	}
	f.keeps(knowledge.RetentionConfig{Documents: []knowledge.RetentionRule{{Days: 7, Action: knowledge.RetentionRemove}}})
	if list, err := f.RetentionWorkspaces(f.ctx, time.Now().Add(-time.Hour)); err != nil || !slices.Equal(list, []string{"acme"}) {
		f.Errorf("with a rule: %v, %v", list, err)
	}
	first, started, err := f.StartRetention(f.ctx, "acme", "k:manager", "run-1", time.Time{})
	f.must(err)
	if !started || first.WorkflowID != "retention/acme/acme" {
		f.Errorf("started %t: %+v", started, first)
	}
	again, started, err := f.StartRetention(f.ctx, "acme", "k:manager", "run-2", time.Time{})
	f.must(err)
	if started || again.ID != "run-1" {
		f.Errorf("beside a run that is under way another one begins: %+v", again)
	}
	f.must(f.NoteRetention(f.ctx, knowledge.RunRef{Workspace: "acme", Run: "run-1"}, knowledge.RetentionProgress{Removed: 3}))
	f.must(f.EndRun(f.ctx, "acme", "run-1", store.RunEnd{Status: knowledge.RunCompleted, At: time.Now()}))
	for _, test := range []struct {
		since   time.Time
		started bool
	}{{time.Now().Add(-time.Hour), false}, {time.Time{}, true}} {
		_, started, err := f.StartRetention(f.ctx, "acme", "", knowledge.NewID(), test.since)
		f.must(err)
		if started != test.started {
			f.Errorf("since %v: started %t", test.since, started)
		}
	}
	if list, err := f.RetentionWorkspaces(f.ctx, time.Now().Add(-time.Hour)); err != nil || len(list) != 0 {
		f.Errorf("after a run: %v, %v", list, err)
	}
}
