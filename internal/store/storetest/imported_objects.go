package storetest

import (
	"testing"
	"time"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
)

func testImportedObjects(t *testing.T, open func(t *testing.T) Store) {
	each(t, open, map[string]func(f *fixture){
		"unchanged_objects_are_skipped":                    unchangedObjects,
		"an_object_whose_document_was_removed_comes_again": removedComesAgain,
		"a_lasting_failure_is_not_tried_again":             failsAgain,
		"excluded_objects_have_not_vanished":               excludedStay,
		"vanished_objects_are_counted_and_removed_once":    vanishedOnce,
		"a_retried_object_is_counted_by_what_became_of_it": retriedObjects,
		"a_retry_needs_failures_of_the_latest_import":      retryConflicts,
	})
}

// next starts another import of the source, after the one before has ended.
func (f *fixture) next(before store.Import, change ...func(*store.NewImport)) store.Import {
	f.Helper()
	f.endImport(before)
	return f.imported("bucket", change...)
}

func unchangedObjects(f *fixture) {
	first := f.imported("bucket")
	f.importObjects(first, "a", "b", "c", "d")
	second := f.next(first)
	other := listed("c", "1")
	other.Fingerprint = "other tags"
	unknown := listed("d", "")
	if p := f.listPage(second, 0, listed("a", "1"), listed("b", "2"), other, unknown); p.Todo != 3 {
		f.Errorf("page %+v", p)
	}
	f.wantCounts(second, knowledge.ImportCounts{Discovered: 4, Skipped: 1})
	objects, err := f.ImportedObjects(f.ctx, second, []string{"a", "b"})
	f.must(err)
	if a := objects["a"]; a.Pending || !a.Alive || a.ETag != "1" || a.Import != second.Number {
		f.Errorf("a is %+v", a)
	}
	if b := objects["b"]; !b.Pending || b.ETag != "1" {
		f.Errorf("b is %+v", b)
	}
}

func removedComesAgain(f *fixture) {
	first := f.imported("bucket")
	versions := f.importObjects(first, "a")
	f.remove(manager("acme"), versions[0].Ref.Document)
	second := f.next(first)
	if p := f.listPage(second, 0, listed("a", "1")); p.Todo != 1 {
		f.Errorf("page %+v", p)
	}
	if c := f.claim(second, "a"); c.Refused != nil || c.Version.Version != 2 {
		f.Errorf("claim %+v", c)
	}
}

// failed records failures of objects on page 0.
func (f *fixture) failed(i store.Import, e knowledge.DocumentError, keys ...string) {
	f.Helper()
	var list []store.FailedObject
	for _, key := range keys {
		list = append(list, store.FailedObject{Key: key, ETag: "1", Fingerprint: "f", Version: f.object(i, key), Error: e})
	}
	_, err := f.RecordImported(f.ctx, i, store.ImportRecord{Failed: list})
	f.must(err)
}

func failsAgain(f *fixture) {
	first := f.imported("bucket")
	f.listPage(first, 0, listed("corrupt", "1"), listed("changed", "1"), listed("busy", "1"))
	f.failed(first, knowledge.DocumentError{Code: knowledge.CodeCorrupt, Message: "broken"}, "corrupt", "changed")
	f.failed(first, knowledge.DocumentError{Code: knowledge.CodeUnavailable, Message: "busy", Retryable: true}, "busy")
	second := f.next(first)
	if p := f.listPage(second, 0, listed("corrupt", "1"), listed("changed", "2"), listed("busy", "1")); p.Todo != 2 {
		f.Errorf("page %+v", p)
	}
	f.wantCounts(second, knowledge.ImportCounts{Discovered: 3, Failed: 1})
	for _, i := range []store.Import{first, second} {
		failures, _, err := f.ImportFailures(f.ctx, manager("acme"), i.Import, store.Page{})
		f.must(err)
		if want := map[int64]int{first.Number: 3, second.Number: 1}[i.Number]; len(failures) != want {
			f.Errorf("import %d lists %d failures, want %d", i.Number, len(failures), want)
		}
	}
	if d := f.document(knowledge.DocumentID("acme", "handbook", "corrupt")); d.Version != 1 {
		f.Errorf("the failure that was not tried again made version %d", d.Version)
	}
}

func excludedStay(f *fixture) {
	first := f.imported("bucket")
	f.importObjects(first, "a", "b")
	second := f.next(first, func(n *store.NewImport) { n.Request.RemoveVanished = true })
	excluded, unknown := listed("b", "1"), listed("c", "1")
	excluded.Excluded, unknown.Excluded = true, true
	f.listPage(second, 0, listed("a", "1"), excluded, unknown)
	n, err := f.CountVanished(f.ctx, second, true)
	f.must(err)
	if n != 0 {
		f.Errorf("%d vanished", n)
	}
	f.wantCounts(second, knowledge.ImportCounts{Discovered: 1, Skipped: 1})
	third := f.next(second)
	if p := f.listPage(third, 0, listed("a", "1"), listed("b", "1")); p.Todo != 0 {
		f.Errorf("an object that was excluded once is imported again: %+v", p)
	}
}

func vanishedOnce(f *fixture) {
	first := f.imported("bucket")
	f.importObjects(first, "a", "b", "c")
	hold := true
	_, err := f.UpdateDocument(f.ctx, manager("acme"), knowledge.DocumentID("acme", "handbook", "c"), store.DocumentPatch{LegalHold: &hold})
	f.must(err)
	second := f.next(first, func(n *store.NewImport) { n.Request.RemoveVanished = true })
	f.listPage(second, 0, listed("a", "1"))
	removals := map[string]bool{}
	for range 2 {
		n, err := f.CountVanished(f.ctx, second, true)
		f.must(err)
		page, err := f.MarkVanished(f.ctx, second, true, "")
		f.must(err)
		for _, r := range page.Removals {
			removals[r.Document] = true
		}
		if page.Next != "" || n != 2 && n != 1 {
			f.Errorf("%d vanished, next %q", n, page.Next)
		}
	}
	f.wantCounts(second, knowledge.ImportCounts{Discovered: 1, Skipped: 1, Vanished: 2, Deleted: 1})
	if len(removals) != 1 || !removals[knowledge.DocumentID("acme", "handbook", "b")] {
		f.Errorf("removals %v", removals)
	}
	if d := f.document(knowledge.DocumentID("acme", "handbook", "b")); d.Status != knowledge.StatusDeleting {
		f.Errorf("the vanished document is %s", d.Status)
	}
	if pending, _, err := f.PendingRemovals(f.ctx, store.Position{}, 10); err != nil || len(pending) != 1 {
		f.Errorf("pending removals %+v, %v", pending, err)
	}
}

func retriedObjects(f *fixture) {
	i := f.imported("bucket")
	f.listPage(i, 0, listed("a", "1"), listed("b", "1"), listed("c", "1"))
	f.failed(i, knowledge.DocumentError{Code: knowledge.CodeUnavailable, Message: "busy", Retryable: true}, "a", "b", "c")
	f.endImport(i)
	retry, err := f.RetryImport(f.ctx, manager("acme"), i.Import, "second run", time.Now())
	f.must(err)
	if retry.Status != knowledge.ImportRunning || retry.RunID != "second run" || !retry.EndedAt.IsZero() {
		f.Errorf("retried import %+v", retry)
	}
	failed, err := f.FailedObjects(f.ctx, retry, "", 2)
	f.must(err)
	rest, err := f.FailedObjects(f.ctx, retry, failed[1].Key, 2)
	f.must(err)
	if len(failed) != 2 || len(rest) != 1 || rest[0].Key != "c" {
		f.Fatalf("failed %+v and %+v", failed, rest)
	}
	versions := map[string]store.Version{}
	for _, key := range []string{"a", "b"} {
		versions[key] = f.add(upload(key))
		for range 2 {
			f.must(f.MarkRetried(f.ctx, retry, store.RetriedObject{Key: key, ETag: "2", Fingerprint: "g", Version: versions[key].Version}))
		}
	}
	f.wantCounts(i, knowledge.ImportCounts{Discovered: 3, Failed: 1})
	if left, err := f.SettleRetried(f.ctx, retry); err != nil || left != 2 {
		f.Errorf("%d left, %v", left, err)
	}
	f.must(f.PutChunks(f.ctx, versions["a"].VersionRef, passages(versions["a"].VersionRef, "one")))
	_, err = f.Publish(f.ctx, versions["a"].VersionRef)
	f.must(err)
	f.must(f.FailVersion(f.ctx, versions["b"].VersionRef, versions["b"].RunID, knowledge.DocumentError{Code: knowledge.CodeCorrupt, Message: "broken"}))
	for range 2 {
		if left, err := f.SettleRetried(f.ctx, retry); err != nil || left != 0 {
			f.Errorf("%d left, %v", left, err)
		}
	}
	f.wantCounts(i, knowledge.ImportCounts{Discovered: 3, Published: 1, Failed: 2, Bytes: 100})
	failures, _, err := f.ImportFailures(f.ctx, manager("acme"), i.Import, store.Page{})
	f.must(err)
	if len(failures) != 2 || failures[0].Key != "b" || failures[0].Error.Code != knowledge.CodeCorrupt {
		f.Errorf("failures %+v", failures)
	}
	objects, err := f.ImportedObjects(f.ctx, retry, []string{"a"})
	f.must(err)
	if a := objects["a"]; a.ETag != "2" || a.Fingerprint != "g" || !a.Alive {
		f.Errorf("the retried object is %+v", a)
	}
}

func retryConflicts(f *fixture) {
	first := f.imported("bucket")
	f.listPage(first, 0, listed("a", "1"))
	retry := func(i store.Import, code knowledge.Code) {
		f.Helper()
		_, err := f.RetryImport(f.ctx, manager("acme"), i.Import, knowledge.NewID(), time.Now())
		f.wantCode(err, code)
	}
	f.failed(first, knowledge.DocumentError{Code: knowledge.CodeUnavailable, Retryable: true}, "a")
	retry(first, knowledge.CodeConflict) // it has not ended
	second := f.next(first)
	retry(first, knowledge.CodeConflict) // a later import has its objects
	f.listPage(second, 0)
	f.endImport(second)
	retry(second, knowledge.CodeConflict) // nothing failed
}
