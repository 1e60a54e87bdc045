package storetest

import (
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
)

func testVersions(t *testing.T, open func(t *testing.T) Store) {
	each(t, open, map[string]func(f *fixture){
		"a_first_upload_makes_document_version_and_run":       firstUpload,
		"uploads_at_once_get_distinct_versions":               uploadsAtOnce,
		"tags_are_joined_or_replaced":                         joinTags,
		"metadata_is_joined_or_replaced":                      joinMetadata,
		"an_upload_that_was_refused_leaves_the_published_one": refusedUpload,
		"beginning_notes_the_offset_for_its_own_run_only":     beginVersion,
		"a_version_behind_a_published_one_is_not_begun":       beginOvertaken,
		"stages_and_facts_show_on_the_document":               stages,
		"a_failure_shows_on_the_newest_version_only":          failure,
		"only_a_retryable_failure_is_tried_again":             retry,
		"a_document_shows_that_its_step_waits":                waiting,
		"pending_versions_are_found_by_age":                   pending,
		"an_id_of_another_project_is_not_found":               foreignID,
	})
}

func firstUpload(f *fixture) {
	now := time.Date(2026, 3, 4, 5, 6, 7, 8000, time.UTC)
	nv := upload("a.txt", func(nv *store.NewVersion) {
		nv.Tags, nv.Metadata = []string{"x", "y", "x"}, map[string]any{"author": "Ann", "n": 1.5}
		nv.Classification, nv.Now = new("internal"), now
		nv.Splitter = knowledge.Splitter{Strategy: "fixed", ChunkSize: 300, ChunkOverlap: new(10)}
	})
	d, v, err := f.AddVersion(f.ctx, nv)
	f.must(err)
	want := knowledge.Document{
		ID: nv.DocumentID, Workspace: "acme", Project: "handbook", ExternalID: "a.txt", Name: "a.txt", MediaType: "text/plain",
		Bytes: 100, Status: knowledge.StatusPending, Stage: knowledge.StageFetch, Version: 1, Language: "und",
		Tags: []string{"x", "y"}, Metadata: nv.Metadata, Classification: "internal", Access: everyone, CreatedAt: now, UpdatedAt: now,
	}
	if diff := cmp.Diff(want, d); diff != "" {
		f.Error(diff)
	}
	if diff := cmp.Diff(want, f.document(nv.DocumentID)); diff != "" {
		f.Error("read again: " + diff)
	}
	wantVersion := store.Version{
		VersionRef: knowledge.VersionRef{Workspace: "acme", Project: "handbook", Document: nv.DocumentID, Version: 1},
		RunID:      nv.RunID, Status: knowledge.StatusPending, Stage: knowledge.StageFetch, Name: "a.txt", MediaType: "text/plain",
		Language: "und", SourceKey: nv.SourceKey, Bytes: 100, Splitter: nv.Splitter, Tags: want.Tags, Metadata: want.Metadata,
		Classification: "internal", Access: everyone, ACL: []string{"w:acme"}, CreatedAt: now, UpdatedAt: now, DocumentCreatedAt: now, ExternalID: "a.txt",
	}
	pending, err := f.PendingCounts(f.ctx)
	f.must(err)
	if diff := cmp.Diff([]store.PendingCount{{Stage: knowledge.StageFetch, Count: 1, Oldest: now}}, pending); diff != "" {
		f.Error(diff)
	}
	read, err := f.Version(f.ctx, v.VersionRef)
	f.must(err)
	for _, got := range []store.Version{v, read} {
		if diff := cmp.Diff(wantVersion, got); diff != "" {
			f.Error(diff)
		}
	}
	later := f.add(upload("a.txt", func(nv *store.NewVersion) { nv.Now = now.Add(time.Hour) }))
	if !later.CreatedAt.Equal(now.Add(time.Hour)) || !later.DocumentCreatedAt.Equal(now) {
		f.Errorf("a later version of %s, of a document of %s", later.CreatedAt, later.DocumentCreatedAt)
	}
	run, err := f.RunForSystem(f.ctx, "acme", nv.RunID)
	f.must(err)
	if run.Kind != "ingest" || run.Status != knowledge.RunRunning || run.Subject != nv.DocumentID || run.Version != 1 ||
		run.WorkflowID != "ingest/acme/"+nv.DocumentID || !run.CreatedAt.Equal(now) {
		f.Errorf("run %+v", run)
	}
}

func uploadsAtOnce(f *fixture) {
	const uploads = 20
	got := make([]int, uploads)
	var wg sync.WaitGroup
	for i := range uploads {
		wg.Go(func() {
			_, v, err := f.AddVersion(f.ctx, upload("a.txt"))
			if err != nil {
				f.Error(err)
			}
			got[i] = v.Version
		})
	}
	wg.Wait()
	slices.Sort(got)
	for i, version := range got {
		if version != i+1 {
			f.Fatalf("versions %v", got)
		}
	}
	if d := f.document(upload("a.txt").DocumentID); d.Version != uploads || d.PublishedVersion != 0 {
		f.Errorf("document has version %d, published %d", d.Version, d.PublishedVersion)
	}
}

func joinTags(f *fixture) {
	tagged := func(replace bool, tags ...string) []string {
		v := f.add(upload("a.txt", func(nv *store.NewVersion) { nv.Tags, nv.ReplaceTags = tags, replace }))
		if diff := cmp.Diff(v.Tags, f.document(v.Document).Tags); diff != "" {
			f.Error(diff)
		}
		return v.Tags
	}
	for _, step := range []struct{ got, want []string }{
		{tagged(false, "a", "b"), []string{"a", "b"}},
		{tagged(false, "b", "c"), []string{"a", "b", "c"}},
		{tagged(false), []string{"a", "b", "c"}},
		{tagged(true, "d"), []string{"d"}},
		{tagged(true), []string{}},
	} {
		if diff := cmp.Diff(step.want, step.got); diff != "" {
			f.Error(diff)
		}
	}
	many := make([]string, 65)
	for i := range many {
		many[i] = numbered("tag", i)
	}
	_, _, err := f.AddVersion(f.ctx, upload("a.txt", func(nv *store.NewVersion) { nv.Tags = many }))
	f.wantField(err, "body.tags")
}

func joinMetadata(f *fixture) {
	described := func(replace bool, metadata map[string]any) map[string]any {
		v := f.add(upload("a.txt", func(nv *store.NewVersion) { nv.Metadata, nv.ReplaceTags = metadata, replace }))
		return v.Metadata
	}
	for _, step := range []struct{ got, want map[string]any }{
		{described(false, map[string]any{"a": "1", "b": "1"}), map[string]any{"a": "1", "b": "1"}},
		{described(false, map[string]any{"b": "2"}), map[string]any{"a": "1", "b": "2"}},
		{described(false, nil), map[string]any{"a": "1", "b": "2"}},
		{described(true, map[string]any{"c": "3"}), map[string]any{"c": "3"}},
		{described(true, nil), map[string]any{}},
	} {
		if diff := cmp.Diff(step.want, step.got); diff != "" {
			f.Error(diff)
		}
	}
	long := func(key string) func(nv *store.NewVersion) {
		return func(nv *store.NewVersion) {
			nv.Metadata = map[string]any{key: strings.Repeat("x", knowledge.MaxMetadata-100)}
		}
	}
	f.add(upload("a.txt", long("a")))
	_, _, err := f.AddVersion(f.ctx, upload("a.txt", long("b")))
	f.wantField(err, "body.metadata")
}

func refusedUpload(f *fixture) {
	v1, chunks := f.publish(upload("a.txt"), "one")
	nv := upload("a.txt", func(nv *store.NewVersion) {
		nv.Name, nv.Tags, nv.Access = "a.exe", []string{"bad"}, &knowledge.Access{Users: []string{"eve"}}
		nv.Error = &knowledge.DocumentError{Code: knowledge.CodeUnsupportedFormat, Stage: knowledge.StageCheck, Message: "a program"}
	})
	d, v, err := f.AddVersion(f.ctx, nv)
	f.must(err)
	if d.Status != knowledge.StatusError || d.Version != 2 || d.PublishedVersion != 1 || d.Name != "a.txt" || len(d.Tags) != 0 {
		f.Errorf("document %+v", d)
	}
	if diff := cmp.Diff(nv.Error, d.Error); diff != "" || v.Status != knowledge.StatusError {
		f.Errorf("version %s: %s", v.Status, diff)
	}
	run, err := f.RunForSystem(f.ctx, "acme", nv.RunID)
	f.must(err)
	if run.Status != knowledge.RunFailed || run.EndedAt.IsZero() || run.Error == nil || run.Error.Code != knowledge.CodeUnsupportedFormat {
		f.Errorf("run %+v", run)
	}
	if got := f.sees(reader("bob"), chunks...); len(got) != 1 {
		f.Error("the published version is no longer seen")
	}
	list, err := f.PendingVersions(f.ctx, store.PendingQuery{Before: time.Now().Add(time.Hour), Limit: 10})
	f.must(err)
	if len(list) != 0 {
		f.Errorf("%d versions wait for their ingestion", len(list))
	}
	first := f.add(upload("b.exe", func(nv *store.NewVersion) { nv.Error = v.Error }))
	if d := f.document(first.Document); d.Name != "b.exe" || d.Status != knowledge.StatusError || v1.Version != 1 {
		f.Errorf("document %+v", d)
	}
}

func beginVersion(f *fixture) {
	v := f.add(upload("a.txt"))
	other, err := f.BeginVersion(f.ctx, v.VersionRef, "another run", 7)
	f.must(err)
	if other.Begun || other.RunID != v.RunID {
		f.Errorf("another run began the version: %+v", other)
	}
	for range 2 { // a retry has the same result
		begun, err := f.BeginVersion(f.ctx, v.VersionRef, v.RunID, 42)
		f.must(err)
		if !begun.Begun || begun.Status != knowledge.StatusPending {
			f.Errorf("version %+v", begun)
		}
	}
	run, err := f.RunForSystem(f.ctx, "acme", v.RunID)
	f.must(err)
	if run.FirstOffset != 42 {
		f.Errorf("first offset %d", run.FirstOffset)
	}
	missing := v.VersionRef
	missing.Version = 2
	_, err = f.BeginVersion(f.ctx, missing, v.RunID, 0)
	f.wantCode(err, knowledge.CodeNotFound)
}

func beginOvertaken(f *fixture) {
	overtaken := f.add(upload("a.txt"))
	f.publish(upload("a.txt"), "newer")
	before := f.document(overtaken.Document)
	if v, err := f.BeginVersion(f.ctx, overtaken.VersionRef, "another run", 7); err != nil || v.Status != knowledge.StatusPending {
		f.Errorf("another run has ended it: %s, %v", v.Status, err)
	}
	for range 2 {
		v, err := f.BeginVersion(f.ctx, overtaken.VersionRef, overtaken.RunID, 7)
		if err != nil || v.Status != knowledge.StatusInactive || v.Begun {
			f.Errorf("status %s, begun %t, %v", v.Status, v.Begun, err)
		}
	}
	if run, err := f.RunForSystem(f.ctx, "acme", overtaken.RunID); err != nil || run.FirstOffset >= 0 {
		f.Errorf("its events begin at %d, %v", run.FirstOffset, err)
	}
	if diff := cmp.Diff(before, f.document(overtaken.Document)); diff != "" {
		f.Error(diff)
	}
	if list, err := f.PendingVersions(f.ctx, store.PendingQuery{Before: time.Now().Add(time.Hour), Limit: 10}); err != nil || len(list) != 0 {
		f.Errorf("still wait: %+v, %v", list, err)
	}
}

func stages(f *fixture) {
	v := f.add(upload("a.txt"))
	f.must(f.SetStage(f.ctx, v.VersionRef, knowledge.StageExtract, 0.1, store.Facts{MediaType: "text/markdown", PageCount: 3}))
	f.must(f.SetStage(f.ctx, v.VersionRef, knowledge.StageEnrich, 0.3, store.Facts{Language: "deu", Bytes: 12}))
	d := f.document(v.Document)
	if d.Stage != knowledge.StageEnrich || d.Progress != 0.3 || d.MediaType != "text/markdown" || d.PageCount != 3 || d.Language != "deu" || d.Bytes != 12 {
		f.Errorf("document %+v", d)
	}
	_, err := f.Publish(f.ctx, v.VersionRef)
	f.must(err)
	f.must(f.SetStage(f.ctx, v.VersionRef, knowledge.StageChunk, 0.5, store.Facts{ChunkCount: 9}))
	if d := f.document(v.Document); d.Stage != knowledge.StagePublish || d.Progress != 1 || d.ChunkCount != 0 || d.Status != knowledge.StatusPublished {
		f.Errorf("a late stage changed a published document: %+v", d)
	}
	v2 := f.add(upload("a.txt"))
	doubt := []knowledge.Warning{{Code: knowledge.WarnUnknownCharacters, Message: "some characters have no meaning", Pages: []int{2, 7}}}
	f.must(f.SetStage(f.ctx, v2.VersionRef, knowledge.StageExtract, 0.1, store.Facts{PageCount: 8, Warnings: doubt}))
	if d := f.document(v.Document); d.Warnings != nil {
		f.Errorf("warnings of a version that nobody sees: %+v", d.Warnings)
	}
	if d := f.document(v.Document); d.PageCount != 3 || d.Stage != knowledge.StageExtract {
		f.Errorf("%d pages in stage %s: facts are of the version that readers see", d.PageCount, d.Stage)
	}
	_, err = f.Publish(f.ctx, v2.VersionRef)
	f.must(err)
	if d := f.document(v.Document); d.PageCount != 8 || d.PublishedVersion != 2 || !cmp.Equal(d.Warnings, doubt) {
		f.Errorf("%d pages in version %d, warnings %+v", d.PageCount, d.PublishedVersion, d.Warnings)
	}
	v3 := f.add(upload("a.txt"))
	_, err = f.Publish(f.ctx, v3.VersionRef)
	f.must(err)
	if d := f.document(v.Document); d.Warnings != nil {
		f.Errorf("a version without warnings shows the warnings of the version before it: %+v", d.Warnings)
	}
}

func failure(f *fixture) {
	v1, chunks := f.publish(upload("a.txt"), "one")
	v2, v3 := f.add(upload("a.txt")), f.add(upload("a.txt"))
	e := knowledge.DocumentError{Code: knowledge.CodeCorrupt, Stage: knowledge.StageExtract, Message: "no PDF"}
	f.must(f.FailVersion(f.ctx, v2.VersionRef, v2.RunID, e))
	if d := f.document(v2.Document); d.Status != knowledge.StatusPending || d.Error != nil {
		f.Errorf("the failure of an older version shows: %+v", d)
	}
	for range 2 {
		f.must(f.FailVersion(f.ctx, v3.VersionRef, v3.RunID, e))
	}
	d := f.document(v2.Document)
	if diff := cmp.Diff(&e, d.Error); diff != "" || d.Status != knowledge.StatusError || d.Stage != knowledge.StageExtract || d.PublishedVersion != 1 {
		f.Errorf("document %+v %s", d, diff)
	}
	if len(f.sees(reader("bob"), chunks...)) != 1 {
		f.Error("a failure hides the published version")
	}
	f.must(f.FailVersion(f.ctx, v1.VersionRef, v1.RunID, e))
	if v, err := f.Version(f.ctx, v1.VersionRef); err != nil || v.Status != knowledge.StatusPublished {
		f.Errorf("a published version failed: %s, %v", v.Status, err)
	}
	v1.Version = 9
	f.wantCode(f.FailVersion(f.ctx, v1.VersionRef, v1.RunID, e), knowledge.CodeNotFound)
}

func retry(f *fixture) {
	v := f.add(upload("a.txt"))
	try := func(p knowledge.Principal) (store.Version, error) {
		return f.RetryVersion(f.ctx, p, v.Document, knowledge.NewID(), time.Now())
	}
	_, err := try(manager("acme"))
	f.wantCode(err, knowledge.CodeConflict)
	f.must(f.FailVersion(f.ctx, v.VersionRef, v.RunID, knowledge.DocumentError{Code: knowledge.CodeCorrupt, Stage: knowledge.StageExtract}))
	_, err = try(manager("acme"))
	f.wantCode(err, knowledge.CodeConflict)

	f.must(f.FailVersion(f.ctx, v.VersionRef, v.RunID, knowledge.DocumentError{Code: knowledge.CodeProviderFailed, Stage: knowledge.StageEmbed, Retryable: true}))
	_, err = try(reader("ann"))
	f.wantCode(err, knowledge.CodeForbidden)
	_, err = try(manager("other"))
	f.wantCode(err, knowledge.CodeNotFound)
	again, err := try(manager("acme"))
	f.must(err)
	if again.Status != knowledge.StatusPending || again.Begun || again.Error != nil || again.RunID == v.RunID || again.Version != 1 {
		f.Errorf("version %+v", again)
	}
	if d := f.document(v.Document); d.Status != knowledge.StatusPending || d.Error != nil {
		f.Errorf("document %+v", d)
	}
	run, err := f.RunForSystem(f.ctx, "acme", again.RunID)
	f.must(err)
	if run.Status != knowledge.RunRunning || run.Subject != v.Document || run.Kind != "ingest" {
		f.Errorf("run %+v", run)
	}
	_, err = try(manager("acme"))
	f.wantCode(err, knowledge.CodeConflict)
	f.must(f.FailVersion(f.ctx, v.VersionRef, v.RunID, knowledge.DocumentError{Code: knowledge.CodeCorrupt})) // a late repeat
	if begun, err := f.BeginVersion(f.ctx, v.VersionRef, again.RunID, 0); err != nil || !begun.Begun || begun.Status != knowledge.StatusPending {
		f.Errorf("the run before it has ended it: %+v, %v", begun, err)
	}
	if d := f.document(v.Document); d.Status != knowledge.StatusPending {
		f.Errorf("document %+v", d)
	}
}

func waiting(f *fixture) {
	v := f.add(upload("a.txt"))
	at := time.Date(2026, 5, 6, 7, 8, 9, 0, time.UTC)
	wait := &knowledge.Waiting{Since: at, Attempt: 3, Of: 60, NextAt: at.Add(time.Minute), Code: knowledge.CodeProviderFailed, Message: "later"}
	shown := func(want *knowledge.Waiting) {
		f.Helper()
		if diff := cmp.Diff(want, f.document(v.Document).Waiting); diff != "" {
			f.Errorf("document: %s", diff)
		}
		list, _, err := f.Documents(f.ctx, manager("acme"), store.DocumentQuery{Page: store.Page{Limit: 10}})
		f.must(err)
		if diff := cmp.Diff(want, list[0].Waiting); diff != "" {
			f.Errorf("list: %s", diff)
		}
	}
	for range 2 {
		f.must(f.SetWaiting(f.ctx, v.VersionRef, wait))
		shown(wait)
	}
	again, err := f.RetryVersion(f.ctx, manager("acme"), v.Document, knowledge.NewID(), time.Now())
	f.must(err)
	if again.RunID != v.RunID || again.Status != knowledge.StatusPending {
		f.Errorf("a retry of a version that waits gave %+v", again)
	}
	newer := f.add(upload("a.txt"))
	shown(wait) // the newer version waits for it too
	f.must(f.SetWaiting(f.ctx, v.VersionRef, nil))
	shown(nil)
	f.must(f.SetWaiting(f.ctx, newer.VersionRef, wait))
	f.must(f.FailVersion(f.ctx, newer.VersionRef, newer.RunID, knowledge.DocumentError{Code: knowledge.CodeProviderFailed, Stage: knowledge.StageEmbed, Retryable: true}))
	f.must(f.SetWaiting(f.ctx, newer.VersionRef, wait)) // a late repeat
	shown(nil)
	_, err = f.RetryVersion(f.ctx, manager("acme"), v.Document, knowledge.NewID(), time.Now())
	f.must(err)
	shown(nil)
	f.must(f.SetWaiting(f.ctx, newer.VersionRef, wait))
	_, err = f.MarkRemoving(f.ctx, manager("acme"), v.Document, knowledge.NewID(), time.Now())
	f.must(err)
	shown(nil)
}

func pending(f *fixture) {
	old := f.add(upload("old.txt", func(nv *store.NewVersion) { nv.Now = time.Now().Add(-time.Hour) }))
	f.add(upload("new.txt"))
	failed := f.add(upload("failed.txt", func(nv *store.NewVersion) { nv.Now = time.Now().Add(-time.Hour) }))
	f.must(f.FailVersion(f.ctx, failed.VersionRef, failed.RunID, knowledge.DocumentError{Code: knowledge.CodeCorrupt}))
	going := f.add(upload("removed.txt", func(nv *store.NewVersion) { nv.Now = time.Now().Add(-time.Hour) }))
	_, err := f.MarkRemoving(f.ctx, manager("acme"), going.Document, knowledge.NewID(), time.Now())
	f.must(err)
	list, err := f.PendingVersions(f.ctx, store.PendingQuery{Before: time.Now().Add(-time.Minute), Limit: 10})
	f.must(err)
	if len(list) != 1 || list[0].VersionRef != old.VersionRef || list[0].RunID != old.RunID {
		f.Errorf("pending: %+v", list)
	}
	if list, err = f.PendingVersions(f.ctx, store.PendingQuery{Before: time.Now().Add(time.Minute), Limit: 1}); err != nil || len(list) != 1 {
		f.Errorf("%d of at most 1, %v", len(list), err)
	}
	list, err = f.PendingVersions(f.ctx, store.PendingQuery{Before: time.Now().Add(time.Minute), After: list[0].Position(), Limit: 10})
	if err != nil || len(list) != 1 || list[0].Document == old.Document {
		f.Errorf("behind the oldest: %+v, %v", list, err)
	}
}

func foreignID(f *fixture) {
	v := f.add(upload("a.txt"))
	for _, change := range []func(*store.NewVersion){
		func(nv *store.NewVersion) { nv.Workspace = "other" },
		func(nv *store.NewVersion) { nv.Project = "press" },
	} {
		nv := upload("a.txt", change)
		nv.DocumentID = v.Document
		_, _, err := f.AddVersion(f.ctx, nv)
		f.wantCode(err, knowledge.CodeNotFound)
	}
	if d := f.document(v.Document); d.Version != 1 {
		f.Errorf("version %d", d.Version)
	}
	_, _, err := f.AddVersion(f.ctx, upload("a.txt", func(nv *store.NewVersion) { nv.RunID = v.RunID }))
	f.wantCode(err, knowledge.CodeConflict)
	if d := f.document(v.Document); d.Version != 1 {
		f.Errorf("a run that exists left version %d behind", d.Version)
	}
}
