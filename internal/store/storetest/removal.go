package storetest

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
)

func testRemoval(t *testing.T, open func(t *testing.T) Store) {
	each(t, open, map[string]func(f *fixture){
		"the_mark_hides_a_document_at_once":                 markHides,
		"a_legal_hold_refuses_the_removal":                  legalHold,
		"many_documents_are_hidden_in_batches":              markMany,
		"removing_again_has_the_same_result":                markAgain,
		"a_tombstone_keeps_the_version_counter":             tombstone,
		"a_version_uploaded_meanwhile_waits_and_lives_on":   uploadedMeanwhile,
		"removing_what_was_uploaded_meanwhile_takes_it_too": removedMeanwhile,
		"the_runs_of_doomed_versions_are_listed":            doomedRuns,
		"marks_at_once_make_one_removal":                    marksAtOnce,
		"an_original_that_goes_is_not_ingested_again":       reingestRemoved,
	})
}

func (f *fixture) mark(document string) int {
	f.Helper()
	r, err := f.MarkRemoving(f.ctx, manager("acme"), document, knowledge.NewID(), time.Now())
	f.must(err)
	return r.Upto
}

func markHides(f *fixture) {
	v, chunks := f.publish(upload("a.txt"), "one")
	run, now := knowledge.NewID(), time.Now().UTC().Truncate(time.Microsecond)
	_, err := f.MarkRemoving(f.ctx, reader("ann"), v.Document, run, now)
	f.wantCode(err, knowledge.CodeForbidden)
	marked, err := f.MarkRemoving(f.ctx, manager("acme"), v.Document, run, now)
	f.must(err)
	if d := f.document(v.Document); d.Status != knowledge.StatusDeleting {
		f.Errorf("document %+v", d)
	}
	if got := f.sees(reader("ann"), chunks...); len(got) != 0 {
		f.Errorf("still seen: %q", got)
	}
	_, err = f.Document(f.ctx, reader("ann"), v.Document)
	f.wantCode(err, knowledge.CodeNotFound)
	for _, p := range []knowledge.Principal{reader("ann"), manager("acme")} {
		_, err = f.Chunk(f.ctx, p, chunks[0].ID)
		f.wantCode(err, knowledge.CodeNotFound)
	}
	if missing, err := f.UnreachedDocuments(f.ctx, reader("ann"), []string{v.Document}); err != nil || len(missing) != 1 {
		f.Errorf("still reached, %v", err)
	}
	want := store.Removal{Workspace: "acme", Project: "handbook", Document: v.Document, RunID: run, Upto: 1}
	list, _, err := f.PendingRemovals(f.ctx, store.Position{}, 10)
	f.must(err)
	if diff := cmp.Diff([]store.Removal{want, want}, append(list, marked)); diff != "" {
		f.Error(diff)
	}
	r, err := f.Run(f.ctx, manager("acme"), run)
	f.must(err)
	if r.Kind != "remove" || r.Status != knowledge.RunRunning || r.Subject != v.Document || r.WorkflowID != "remove/acme/"+v.Document {
		f.Errorf("run %+v", r)
	}
}

func legalHold(f *fixture) {
	v, chunks := f.publish(upload("a.txt"), "one")
	hold := true
	_, err := f.UpdateDocument(f.ctx, manager("acme"), v.Document, store.DocumentPatch{LegalHold: &hold})
	f.must(err)
	_, err = f.MarkRemoving(f.ctx, manager("acme"), v.Document, knowledge.NewID(), time.Now())
	f.wantCode(err, knowledge.CodeConflict)
	if len(f.sees(reader("ann"), chunks...)) != 1 {
		f.Error("a removal that was refused hides the document")
	}
	hold = false
	_, err = f.UpdateDocument(f.ctx, manager("acme"), v.Document, store.DocumentPatch{LegalHold: &hold})
	f.must(err)
	f.mark(v.Document)
}

func markMany(f *fixture) {
	var marks []store.RemovalMark
	for i := range 300 {
		v := f.add(upload(fmt.Sprintf("%d.txt", i)))
		marks = append(marks, store.RemovalMark{Document: v.Document, RunID: knowledge.NewID()})
	}
	held, hold := marks[7].Document, true
	_, err := f.UpdateDocument(f.ctx, manager("acme"), held, store.DocumentPatch{LegalHold: &hold})
	f.must(err)
	marks = append(marks, store.RemovalMark{Document: "none", RunID: knowledge.NewID()})
	_, _, err = f.MarkManyRemoving(f.ctx, reader("ann"), marks, time.Now())
	f.wantCode(err, knowledge.CodeForbidden)
	for range 2 { // a repetition changes nothing
		removals, refused, err := f.MarkManyRemoving(f.ctx, manager("acme"), marks, time.Now())
		f.must(err)
		if len(removals) != 299 || len(refused) != 2 || !knowledge.IsCode(refused[held], knowledge.CodeConflict) || !knowledge.IsCode(refused["none"], knowledge.CodeNotFound) {
			f.Fatalf("%d removals, refused %v", len(removals), refused)
		}
	}
	pending := map[string]bool{}
	for page, after := 0, (store.Position{}); page == 0 || after != (store.Position{}); page++ {
		list, next, err := f.PendingRemovals(f.ctx, after, 100)
		f.must(err)
		for _, r := range list {
			pending[r.Document] = true
		}
		after = next
	}
	if len(pending) != 299 {
		f.Errorf("%d removals are listed", len(pending))
	}
	// A version that came since is not removed by a repetition.
	f.add(upload("1.txt"))
	_, refused, err := f.MarkManyRemoving(f.ctx, manager("acme"), marks[:2], time.Now())
	f.must(err)
	if len(refused) != 1 || !knowledge.IsCode(refused[marks[1].Document], knowledge.CodeConflict) {
		f.Errorf("refused %v", refused)
	}
}

func markAgain(f *fixture) {
	v, _ := f.publish(upload("a.txt"), "one")
	first := f.mark(v.Document)
	before, err := f.Removal(f.ctx, manager("acme"), v.Document)
	f.must(err)
	if again := f.mark(v.Document); again != first {
		f.Errorf("upto %d, then %d", first, again)
	}
	after, err := f.MarkRemoving(f.ctx, manager("acme"), v.Document, knowledge.NewID(), time.Now())
	f.must(err)
	if diff := cmp.Diff(before, after); diff != "" {
		f.Error(diff)
	}
	runs, _, err := f.Runs(f.ctx, manager("acme"), store.RunQuery{Kind: "remove"})
	if err != nil || len(runs) != 1 {
		f.Errorf("%d runs, %v", len(runs), err)
	}
	f.must(f.RemoveRows(f.ctx, after))
	f.must(f.RemoveRows(f.ctx, after))
	_, err = f.MarkRemoving(f.ctx, manager("acme"), v.Document, knowledge.NewID(), time.Now())
	f.wantCode(err, knowledge.CodeNotFound)
	_, err = f.Removal(f.ctx, manager("acme"), v.Document)
	f.wantCode(err, knowledge.CodeNotFound)
}

func tombstone(f *fixture) {
	v, old := f.publish(upload("a.txt", func(nv *store.NewVersion) {
		nv.Tags, nv.Metadata, nv.Access = []string{"tag"}, map[string]any{"k": "v"}, &knowledge.Access{Users: []string{"ann"}}
	}), "one")
	f.publish(upload("a.txt"), "two")
	r := f.remove(manager("acme"), v.Document)
	if _, err := f.Document(f.ctx, manager("acme"), v.Document); !knowledge.IsCode(err, knowledge.CodeNotFound) {
		f.Errorf("a removed document: %v", err)
	}
	if got := f.names(manager("acme"), store.DocumentQuery{}); len(got) != 0 {
		f.Errorf("lists %v", got)
	}
	if list, _, err := f.PendingRemovals(f.ctx, store.Position{}, 10); err != nil || len(list) != 0 {
		f.Errorf("removals %v, %v", list, err)
	}
	_, err := f.Version(f.ctx, v.VersionRef)
	f.wantCode(err, knowledge.CodeNotFound)

	again, chunks := f.publish(upload("a.txt"), "three")
	if again.Version != r.Upto+1 || again.Version != 3 {
		f.Errorf("version %d after version %d was removed", again.Version, r.Upto)
	}
	d := f.document(v.Document)
	if len(d.Tags) != 0 || len(d.Metadata) != 0 || d.Name != "a.txt" || d.PublishedVersion != 3 {
		f.Errorf("the document of before shines through: %+v", d)
	}
	if diff := cmp.Diff([]string{"three"}, f.sees(reader("bob"), append(old, chunks...)...)); diff != "" {
		f.Error(diff)
	}
	f.must(f.RemoveRows(f.ctx, r)) // a late repeat
	if len(f.sees(reader("bob"), chunks...)) != 1 {
		f.Error("a repeated removal took the new version away")
	}
}

func uploadedMeanwhile(f *fixture) {
	v1, old := f.publish(upload("a.txt", func(nv *store.NewVersion) { nv.Tags = []string{"old"} }), "one")
	f.mark(v1.Document)
	v2 := f.add(upload("a.txt", func(nv *store.NewVersion) { nv.Tags = []string{"new"} }))
	if !v2.Blocked || v2.Removing || v2.Version != 2 {
		f.Errorf("version %+v", v2)
	}
	begun, err := f.BeginVersion(f.ctx, v2.VersionRef, v2.RunID, 0)
	f.must(err)
	if begun.Begun || !begun.Blocked {
		f.Errorf("begun while an older removal is under way: %+v", begun)
	}
	if v, err := f.Version(f.ctx, v1.VersionRef); err != nil || !v.Removing || v.Blocked {
		f.Errorf("version %+v, %v", v, err)
	}
	if d := f.document(v1.Document); d.Status != knowledge.StatusDeleting {
		f.Errorf("document %+v", d)
	}
	if got := f.names(reader("ann"), store.DocumentQuery{}); len(got) != 0 {
		f.Errorf("a reader lists %q", got)
	}
	keys, err := f.SourceKeys(f.ctx, "acme", v1.Document, 1)
	f.must(err)
	if diff := cmp.Diff([]string{v2.SourceKey}, keys); diff != "" {
		f.Error(diff)
	}
	r, err := f.Removal(f.ctx, manager("acme"), v1.Document)
	f.must(err)
	f.must(f.RemoveRows(f.ctx, r))
	d := f.document(v1.Document)
	if d.Status != knowledge.StatusPending || d.PublishedVersion != 0 || d.Version != 2 || len(d.Tags) != 1 || d.Tags[0] != "new" {
		f.Errorf("document %+v", d)
	}
	if v, err := f.Version(f.ctx, v2.VersionRef); err != nil || v.Blocked {
		f.Errorf("still blocked: %+v, %v", v, err)
	}
	chunks := passages(v2.VersionRef, "two")
	f.must(f.PutChunks(f.ctx, v2.VersionRef, chunks))
	if got, err := f.Publish(f.ctx, v2.VersionRef); err != nil || !got.Done {
		f.Errorf("published %+v, %v", got, err)
	}
	if diff := cmp.Diff([]string{"two"}, f.sees(reader("ann"), append(old, chunks...)...)); diff != "" {
		f.Error(diff)
	}
}

func removedMeanwhile(f *fixture) {
	v1, _ := f.publish(upload("a.txt"), "one")
	f.mark(v1.Document)
	first, err := f.Removal(f.ctx, manager("acme"), v1.Document)
	f.must(err)
	f.add(upload("a.txt"))
	if upto := f.mark(v1.Document); upto != 2 {
		f.Errorf("the second removal goes up to version %d", upto)
	}
	second, err := f.Removal(f.ctx, manager("acme"), v1.Document)
	f.must(err)
	f.must(f.RemoveRows(f.ctx, first))
	list, _, err := f.PendingRemovals(f.ctx, store.Position{}, 10)
	f.must(err)
	if diff := cmp.Diff([]store.Removal{second}, list); diff != "" || second.RunID == first.RunID {
		f.Error(diff)
	}
	f.must(f.RemoveRows(f.ctx, second))
	_, err = f.Document(f.ctx, manager("acme"), v1.Document)
	f.wantCode(err, knowledge.CodeNotFound)
}

func doomedRuns(f *fixture) {
	v1, _ := f.publish(upload("a.txt"), "one")
	v2 := f.add(upload("a.txt"))
	upto := f.mark(v1.Document)
	f.add(upload("a.txt"))
	list, err := f.RunningVersions(f.ctx, "acme", v1.Document, upto)
	f.must(err)
	if len(list) != 1 || list[0].VersionRef != v2.VersionRef || list[0].RunID != v2.RunID {
		f.Errorf("running: %+v", list)
	}
	f.must(f.EndRun(f.ctx, "acme", v2.RunID, store.RunEnd{Status: knowledge.RunCanceled}))
	if list, err = f.RunningVersions(f.ctx, "acme", v1.Document, upto); err != nil || len(list) != 0 {
		f.Errorf("running: %+v, %v", list, err)
	}
}

func marksAtOnce(f *fixture) {
	v, _ := f.publish(upload("a.txt"), "one")
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if r, err := f.MarkRemoving(f.ctx, manager("acme"), v.Document, knowledge.NewID(), time.Now()); err != nil || r.Upto != 1 {
				f.Errorf("upto %d, %v", r.Upto, err)
			}
		})
	}
	wg.Wait()
	runs, _, err := f.Runs(f.ctx, manager("acme"), store.RunQuery{Kind: "remove"})
	if err != nil || len(runs) != 1 {
		f.Errorf("%d runs, %v", len(runs), err)
	}
}

func reingestRemoved(f *fixture) {
	v1, _ := f.publish(forUsers("ann"), "one")
	refused := func(want knowledge.Code) {
		f.Helper()
		_, _, err := f.ReingestVersion(f.ctx, manager("acme"), v1.Document, knowledge.NewID(), knowledge.ProjectConfig{}, time.Now())
		f.wantCode(err, want)
	}
	f.mark(v1.Document)
	refused(knowledge.CodeConflict)
	v2 := f.add(silent())
	refused(knowledge.CodeConflict)
	r, err := f.Removal(f.ctx, manager("acme"), v1.Document)
	f.must(err)
	f.must(f.RemoveRows(f.ctx, r))
	if v3 := f.reingest(v1.Document); v3.SourceKey != v2.SourceKey || v3.SourceKey == v1.SourceKey {
		f.Errorf("version %+v was not made of version 2", v3)
	}
	f.remove(manager("acme"), v1.Document)
	refused(knowledge.CodeNotFound)
}
