package storetest

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/knowledge/knowledgetest"
	"github.com/cairn-rag/cairn/internal/source"
	"github.com/cairn-rag/cairn/internal/store"
)

func testImports(t *testing.T, open func(t *testing.T) Store) {
	each(t, open, map[string]func(f *fixture){
		"a_held_import_says_so_until_it_does_not_run":           heldImport,
		"an_import_starts_once":                                 startImportOnce,
		"a_source_has_one_import_at_a_time":                     oneImportOfASource,
		"only_the_write_scope_of_its_project_sees_an_import":    importScope,
		"a_page_is_counted_once":                                pageOnce,
		"a_duplicate_key_of_a_later_page_is_ignored":            duplicateKey,
		"a_batch_is_published_and_counted_once":                 recordOnce,
		"the_sweep_does_not_see_a_claim":                        claimHidden,
		"the_same_run_claims_a_version_again":                   claimAgain,
		"a_claim_that_was_taken_over_records_nothing":           claimTakenOver,
		"a_claim_that_a_retry_ingests_publishes_nothing":        claimRetried,
		"a_claim_of_an_object_with_an_outcome_is_given_up":      claimGivenUp,
		"a_removal_sees_a_claim_until_it_is_recorded":           claimBlocksRemoval,
		"an_object_removed_while_it_is_imported_fails":          removedWhileImported,
		"a_project_gets_no_more_documents_than_its_limit":       claimLimit,
		"a_project_gets_no_more_bytes_than_its_limit":           claimBytes,
		"the_end_gives_up_what_was_claimed":                     endReleases,
		"a_dry_run_counts_and_stores_no_object":                 dryRun,
		"time_without_work_is_not_counted":                      activeTime,
		"a_page_that_describes_an_earlier_object_takes_it_over": lateObject,
	})
}

// imported is an import of acme/handbook.
func (f *fixture) imported(name string, change ...func(*store.NewImport)) store.Import {
	f.Helper()
	i, err := f.startImport(name, change...)
	f.must(err)
	return i
}

func (f *fixture) startImport(name string, change ...func(*store.NewImport)) (store.Import, error) {
	n := store.NewImport{
		ImportRef: knowledge.ImportRef{Workspace: "acme", Project: "handbook", Import: knowledge.NewID()}, SourceName: name,
		Request:  store.ImportRequest{Source: source.Spec{Type: source.TypeS3, URI: "s3://" + name}},
		Splitter: knowledge.Splitter{ChunkSize: 500},
	}
	n.RunID = n.Import
	for _, c := range change {
		c(&n)
	}
	return f.StartImport(f.ctx, manager("acme"), n)
}

func (f *fixture) endImport(i store.Import) {
	f.Helper()
	f.must(f.EndRun(f.ctx, i.Workspace, i.RunID, store.RunEnd{Kind: knowledge.KindImport, Status: knowledge.RunCompleted}))
}

// counts returns the counts of an import as it is now.
func (f *fixture) counts(i store.Import) knowledge.ImportCounts {
	f.Helper()
	now, err := f.ImportForSystem(f.ctx, i.ImportRef)
	f.must(err)
	return now.Counts
}

func (f *fixture) wantCounts(i store.Import, want knowledge.ImportCounts) {
	f.Helper()
	if diff := cmp.Diff(want, f.counts(i)); diff != "" {
		f.Errorf("counts (-want +got):\n%s", diff)
	}
}

// listed is an object of a listing.
func listed(key, etag string) store.ListedObject {
	return store.ListedObject{Key: key, ETag: etag, Fingerprint: "f", Bytes: 10, DocumentID: knowledge.DocumentID("acme", "handbook", key)}
}

// listPage lists objects as the last page.
func (f *fixture) listPage(i store.Import, page int, list ...store.ListedObject) store.ImportPage {
	f.Helper()
	p, err := f.AddImportPage(f.ctx, i, store.ImportPage{Page: page}, list, nil)
	f.must(err)
	return p
}

// claim claims the next version of an object's document.
func (f *fixture) claim(i store.Import, key string) store.ImportClaim {
	f.Helper()
	nv := f.object(i, key)
	nv.SourceKey = nv.DocumentID + "/upload-" + knowledge.NewID()
	claims, err := f.ClaimVersions(f.ctx, []store.NewVersion{nv}, knowledge.LimitsConfig{})
	f.must(err)
	return claims[0]
}

func (f *fixture) object(i store.Import, key string) store.NewVersion {
	return upload(key, func(nv *store.NewVersion) { nv.RunID, nv.Facts = i.RunID, store.Facts{ChunkCount: 1, Language: "eng"} })
}

// importedVersion is a claimed version with one chunk.
func importedVersion(c store.ImportClaim, key string) store.ImportedVersion {
	return store.ImportedVersion{
		Key: key, Ref: c.Version.VersionRef, SourceKey: c.Version.SourceKey, ETag: "1", Fingerprint: "f", Bytes: 10, Reused: c.Reused,
		Chunks: passages(c.Version.VersionRef, "text of "+key),
	}
}

// importObjects publishes objects of page 0.
func (f *fixture) importObjects(i store.Import, keys ...string) []store.ImportedVersion {
	f.Helper()
	var list []store.ListedObject
	for _, key := range keys {
		list = append(list, listed(key, "1"))
	}
	f.listPage(i, 0, list...)
	var versions []store.ImportedVersion
	for _, key := range keys {
		versions = append(versions, importedVersion(f.claim(i, key), key))
	}
	_, err := f.RecordImported(f.ctx, i, store.ImportRecord{Published: versions})
	f.must(err)
	return versions
}

func startImportOnce(f *fixture) {
	i := f.imported("bucket")
	again, err := f.startImport("bucket", func(n *store.NewImport) { n.Import, n.RunID = i.Import, i.RunID })
	f.must(err)
	if diff := cmp.Diff(i, again); diff != "" {
		f.Errorf("the second start (-first +second):\n%s", diff)
	}
	run, err := f.Run(f.ctx, manager("acme"), i.RunID)
	f.must(err)
	if run.Kind != knowledge.KindImport || run.Subject != i.Import || run.WorkflowID != i.WorkflowID(i.RunID) || run.Status != knowledge.RunRunning {
		f.Errorf("run %+v", run)
	}
	if i.Request.Source.URI != "s3://bucket" || i.Splitter.ChunkSize != 500 || i.Status != knowledge.ImportRunning {
		f.Errorf("import %+v", i)
	}
}

func oneImportOfASource(f *fixture) {
	first := f.imported("bucket")
	_, err := f.startImport("bucket")
	f.wantCode(err, knowledge.CodeConflict)
	f.imported("other bucket")
	f.must(f.SetImportStatus(f.ctx, first.ImportRef, knowledge.ImportPaused))
	_, err = f.startImport("bucket")
	f.wantCode(err, knowledge.CodeConflict)
	f.endImport(first)
	second := f.imported("bucket")
	if second.Source != first.Source || second.Number <= first.Number {
		f.Errorf("source %d and number %d after %d and %d", second.Source, second.Number, first.Source, first.Number)
	}
	f.must(f.SetImportStatus(f.ctx, first.ImportRef, knowledge.ImportPaused))
	if i, err := f.Import(f.ctx, manager("acme"), first.Import); err != nil || i.Status != knowledge.ImportCompleted || i.EndedAt.IsZero() {
		f.Errorf("an import that has ended is %s, %v", i.Status, err)
	}
}

func importScope(f *fixture) {
	i := f.imported("bucket")
	press := knowledgetest.Principal(knowledge.Claims{Workspace: "acme", Project: "press", Scopes: []knowledge.Scope{knowledge.ScopeWrite}, KeyID: "press"})
	for _, test := range []struct {
		p    knowledge.Principal
		code knowledge.Code
	}{
		{reader("ann"), knowledge.CodeForbidden}, {manager("other"), knowledge.CodeNotFound}, {press, knowledge.CodeNotFound}, {knowledge.Principal{}, knowledge.CodeForbidden},
	} {
		_, err := f.Import(f.ctx, test.p, i.Import)
		f.wantCode(err, test.code)
		_, _, err = f.ImportFailures(f.ctx, test.p, i.Import, store.Page{})
		f.wantCode(err, test.code)
		_, err = f.RetryImport(f.ctx, test.p, i.Import, "run", time.Time{})
		f.wantCode(err, test.code)
		list, _, err := f.Imports(f.ctx, test.p, store.ImportFilter{}, store.Page{})
		if len(list) != 0 || test.code == knowledge.CodeForbidden && !knowledge.IsCode(err, test.code) {
			f.Errorf("the list has %d imports, %v", len(list), err)
		}
		_, err = f.StartImport(f.ctx, test.p, store.NewImport{ImportRef: i.ImportRef, RunID: "r", SourceName: "x"})
		f.wantCode(err, test.code)
	}
	list, _, err := f.Imports(f.ctx, manager("acme"), store.ImportFilter{Project: "handbook"}, store.Page{})
	f.must(err)
	if len(list) != 1 || list[0].ImportRef != i.ImportRef {
		f.Errorf("list %+v", list)
	}
	list, _, err = f.Imports(f.ctx, manager("acme"), store.ImportFilter{Project: "press"}, store.Page{})
	if err != nil || len(list) != 0 {
		f.Errorf("press has %d imports, %v", len(list), err)
	}
}

func pageOnce(f *fixture) {
	i := f.imported("bucket")
	var list []store.ListedObject
	for n := range 250 {
		list = append(list, listed(fmt.Sprintf("%03d", n), "e"))
	}
	_, err := f.AddImportPage(f.ctx, i, store.ImportPage{Page: 0, Next: "token"}, list[:120], nil) // a part, as a crash leaves it
	f.must(err)
	for range 2 {
		p, err := f.AddImportPage(f.ctx, i, store.ImportPage{Page: 1, Next: ""}, list[120:], nil)
		f.must(err)
		if want := (store.ImportPage{Page: 1, Objects: 130, Todo: 130}); p != want {
			f.Errorf("page %+v, want %+v", p, want)
		}
	}
	f.wantCounts(i, knowledge.ImportCounts{Discovered: 250})
	p, there, err := f.ImportPage(f.ctx, i, 0)
	f.must(err)
	if !there || p.Next != "token" || p.Todo != 120 {
		f.Errorf("page 0 is %+v, %t", p, there)
	}
	if _, there, err := f.ImportPage(f.ctx, i, 2); err != nil || there {
		f.Errorf("page 2 is there: %t, %v", there, err)
	}
	if now, err := f.ImportForSystem(f.ctx, i.ImportRef); err != nil || !now.Listed {
		f.Errorf("after the last page listed is %t, %v", now.Listed, err)
	}
}

func duplicateKey(f *fixture) {
	i := f.imported("bucket")
	f.listPage(i, 0, listed("a", "1"))
	if p := f.listPage(i, 1, listed("a", "2"), listed("b", "1")); p.Todo != 1 {
		f.Errorf("page %+v", p)
	}
	f.wantCounts(i, knowledge.ImportCounts{Discovered: 2})
}

func recordOnce(f *fixture) {
	i := f.imported("bucket")
	f.listPage(i, 0, listed("a", "1"), listed("b", "1"), listed("c", "1"))
	record := store.ImportRecord{
		Published: []store.ImportedVersion{importedVersion(f.claim(i, "a"), "a")},
		Failed: []store.FailedObject{{
			Key: "b", ETag: "1", Fingerprint: "f", Version: f.object(i, "b"),
			Error: knowledge.DocumentError{Code: knowledge.CodeCorrupt, Stage: knowledge.StageExtract, Message: "it is broken"},
		}},
		Skipped: []string{"c"},
	}
	for range 2 {
		recorded, err := f.RecordImported(f.ctx, i, record)
		f.must(err)
		if len(recorded.Replaced)+len(recorded.GivenUp) != 0 {
			f.Errorf("first versions leave %+v", recorded)
		}
	}
	want := knowledge.ImportCounts{Discovered: 3, Published: 1, Failed: 1, Skipped: 1, Bytes: 10}
	f.wantCounts(i, want)
	if want.Remaining() != 0 {
		f.Errorf("%d remain", want.Remaining())
	}
	a := f.document(record.Published[0].Ref.Document)
	if a.Status != knowledge.StatusPublished || a.PublishedVersion != 1 || a.ChunkCount != 1 || a.Language != "eng" || a.Progress != 1 {
		f.Errorf("document %+v", a)
	}
	if got := f.sees(reader("ann"), record.Published[0].Chunks...); !cmp.Equal(got, []string{"text of a"}) {
		f.Errorf("readers see %q", got)
	}
	b := f.document(knowledge.DocumentID("acme", "handbook", "b"))
	if b.Status != knowledge.StatusError || b.Error == nil || b.Error.Code != knowledge.CodeCorrupt || b.Version != 1 {
		f.Errorf("failed document %+v", b)
	}
	failures, _, err := f.ImportFailures(f.ctx, manager("acme"), i.Import, store.Page{})
	f.must(err)
	if len(failures) != 1 || failures[0].Key != "b" || failures[0].DocumentID != b.ID || failures[0].Error != *b.Error {
		f.Errorf("failures %+v", failures)
	}
	runs, _, err := f.Runs(f.ctx, manager("acme"), store.RunQuery{})
	f.must(err)
	if len(runs) != 1 {
		f.Errorf("an import has %d runs", len(runs))
	}
}

func dryRun(f *fixture) {
	before := f.imported("bucket")
	f.importObjects(before, "a", "b", "gone")
	f.endImport(before)
	i := f.imported("bucket", func(n *store.NewImport) { n.Request.DryRun = true })
	if p := f.listPage(i, 0, listed("a", "1"), listed("b", "2"), listed("c", "1")); p.Todo != 2 {
		f.Errorf("page %+v", p)
	}
	n, err := f.CountVanished(f.ctx, i, true)
	f.must(err)
	if n != 1 {
		f.Errorf("%d vanished", n)
	}
	f.wantCounts(i, knowledge.ImportCounts{Discovered: 3, Skipped: 1, Vanished: 1, Bytes: 20})
	objects, err := f.ImportedObjects(f.ctx, i, []string{"a", "b", "c"})
	f.must(err)
	if len(objects) != 2 || objects["b"].Import != before.Number || objects["b"].ETag != "1" {
		f.Errorf("objects %+v", objects)
	}
}

func activeTime(f *fixture) {
	i := f.imported("bucket", func(n *store.NewImport) { n.Now = time.Now().Add(-time.Hour) })
	f.listPage(i, 0, listed("a", "1"))
	now, err := f.ImportForSystem(f.ctx, i.ImportRef)
	f.must(err)
	if now.Active < time.Minute || now.Active > 62*time.Second {
		f.Errorf("active for %v", now.Active)
	}
}

func lateObject(f *fixture) {
	i := f.imported("bucket")
	f.importObjects(i, "a", "b")
	f.must(f.PutSidecars(f.ctx, i, []store.Sidecar{{Key: "a", ETag: "s", Object: []byte(`{"key":"a.meta.json"}`)}}))
	late := listed("a", "1")
	late.Fingerprint = "with tags"
	p, err := f.AddImportPage(f.ctx, i, store.ImportPage{Page: 1}, []store.ListedObject{listed("c", "1")}, []store.ListedObject{late})
	f.must(err)
	if p.Todo != 2 || p.Objects != 2 {
		f.Errorf("page %+v", p)
	}
	f.wantCounts(i, knowledge.ImportCounts{Discovered: 3, Published: 1, Bytes: 20})
	sidecars, err := f.ImportSidecars(f.ctx, i, []string{"a", "b"})
	f.must(err)
	if len(sidecars) != 1 || sidecars["a"].ETag != "s" || string(sidecars["a"].Object) != `{"key":"a.meta.json"}` {
		f.Errorf("sidecars %+v", sidecars)
	}
	c := f.claim(i, "a")
	for page, published := range []int64{1, 2} { // of the page before, the object is left
		_, err := f.RecordImported(f.ctx, i, store.ImportRecord{Page: page, Skipped: []string{"a"}})
		f.must(err)
		if got := f.counts(i); got.Published+got.Skipped != published {
			f.Errorf("after page %d: %+v", page, got)
		}
	}
	if c.Version.Version != 2 {
		f.Errorf("claimed %+v", c.Version)
	}
}
