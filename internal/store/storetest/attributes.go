package storetest

import (
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
)

func testAttributes(t *testing.T, open func(t *testing.T) Store) {
	each(t, open, map[string]func(f *fixture){
		"an_upload_holds_from_its_publication_on":                 holdsWhenPublished,
		"an_upload_that_fails_leaves_the_document_as_it_was":      failedUpload,
		"a_document_shows_the_upload_that_is_published":           showsPublished,
		"a_patch_holds_for_versions_that_are_pending":             patchPending,
		"a_patch_is_on_record_until_the_index_follows":            staleInIndex,
		"an_upload_goes_on_from_the_one_that_is_pending":          goesOnFromPending,
		"ingesting_the_newest_version_again_keeps_who_may_see_it": reingest,
		"an_original_keeps_its_access_beside_uploads":             reingestAtOnce,
		"what_an_upload_does_not_say_is_kept":                     keepUnsaid,
		"a_cited_passage_stays_with_those_who_saw_it":             citedStays,
	})
}

// users is an access of these users alone.
func users(names ...string) *knowledge.Access { return &knowledge.Access{Users: names} }

// forUsers is an upload of a.txt that these users see.
func forUsers(names ...string) store.NewVersion {
	return upload("a.txt", func(nv *store.NewVersion) { nv.Access = users(names...) })
}

// silent is the next upload of a.txt, which says nothing but its name.
func silent() store.NewVersion {
	return upload("a.txt", func(nv *store.NewVersion) { nv.Access = nil })
}

// wide is the next upload of a.txt, which says everything anew.
func wide() store.NewVersion {
	return upload("a.txt", func(nv *store.NewVersion) {
		nv.Name, nv.Tags, nv.ReplaceTags, nv.Metadata = "b.txt", []string{"new"}, true, map[string]any{"k": "new"}
		nv.Classification = new("public")
	})
}

// narrow publishes a.txt for ann alone.
func (f *fixture) narrow() (store.Version, []knowledge.Chunk, knowledge.Document) {
	f.Helper()
	v, chunks := f.publish(upload("a.txt", func(nv *store.NewVersion) {
		nv.Tags, nv.Metadata, nv.Classification, nv.Access = []string{"old"}, map[string]any{"k": "old"}, new("internal"), users("ann")
	}), "one")
	return v, chunks, f.document(v.Document)
}

// unchanged fails the test if more of a document has changed than where its
// newest version stands.
func (f *fixture) unchanged(when string, before knowledge.Document) {
	f.Helper()
	now := f.document(before.ID)
	now.Status, now.Stage, now.Progress, now.Version, now.Error, now.UpdatedAt =
		before.Status, before.Stage, before.Progress, before.Version, before.Error, before.UpdatedAt
	if diff := cmp.Diff(before, now); diff != "" {
		f.Errorf("%s: %s", when, diff)
	}
}

func holdsWhenPublished(f *fixture) {
	v1, chunks, before := f.narrow()
	v2 := f.add(wide())
	if v2.Name != "b.txt" || !cmp.Equal(v2.ACL, []string{"w:acme"}) || !cmp.Equal(v2.Tags, []string{"new"}) {
		f.Errorf("the version is to be written as %+v", v2)
	}
	f.unchanged("while the next one is pending", before)
	if got := f.sees(reader("bob"), chunks...); len(got) != 0 {
		f.Errorf("bob sees %q, which is ann's", got)
	}
	if got := f.names(reader("bob"), store.DocumentQuery{}); len(got) != 0 {
		f.Errorf("bob lists %q", got)
	}
	if got := f.names(manager("acme"), store.DocumentQuery{Tags: []string{"new"}}); len(got) != 0 {
		f.Errorf("found by a tag of what is not published: %q", got)
	}
	written := passages(v2.VersionRef, "two")
	f.must(f.PutChunks(f.ctx, v2.VersionRef, written))
	_, err := f.Publish(f.ctx, v2.VersionRef)
	f.must(err)
	d := f.document(v1.Document)
	if d.Name != "b.txt" || d.Classification != "public" || !d.Access.Workspace || !cmp.Equal(d.Metadata, map[string]any{"k": "new"}) {
		f.Errorf("published: %+v", d)
	}
	if diff := cmp.Diff([]string{"two"}, f.sees(reader("bob"), append(chunks, written...)...)); diff != "" {
		f.Error("bob sees: " + diff)
	}
	for tag, want := range map[string]int{"old": 0, "new": 1} {
		if got := f.names(reader("bob"), store.DocumentQuery{Tags: []string{tag}}); len(got) != want {
			f.Errorf("by the tag %s bob finds %q", tag, got)
		}
	}
	f.publish(forUsers("eve"), "three")
	if got := f.names(reader("bob"), store.DocumentQuery{}); len(got) != 0 {
		f.Errorf("bob lists %q once it is eve's", got)
	}
}

func failedUpload(f *fixture) {
	_, chunks, before := f.narrow()
	v2 := f.add(wide())
	f.must(f.FailVersion(f.ctx, v2.VersionRef, v2.RunID, knowledge.DocumentError{Code: knowledge.CodeEncrypted, Stage: knowledge.StageExtract}))
	f.unchanged("when the next one has failed", before)
	if got := f.sees(reader("bob"), chunks...); len(got) != 0 {
		f.Errorf("bob sees %q, which is ann's", got)
	}
	if v3 := f.add(silent()); !cmp.Equal(v3.ACL, []string{"u:ann"}) {
		f.Errorf("the upload after it is for %q", v3.ACL)
	}
}

func showsPublished(f *fixture) {
	v1, v2 := f.add(forUsers("ann")), f.add(wide())
	if d := f.document(v1.Document); d.Name != "b.txt" {
		f.Errorf("with nothing published it shows %q", d.Name)
	}
	for _, v := range []store.Version{v1, v2} {
		_, err := f.Publish(f.ctx, v.VersionRef)
		f.must(err)
		if d := f.document(v.Document); d.Name != v.Name || !cmp.Equal(d.ACL(), v.ACL) {
			f.Errorf("version %d is published, and it is %q for %q", v.Version, d.Name, d.ACL())
		}
	}
}

func patchPending(f *fixture) {
	v1, _ := f.publish(forUsers("ann"), "one")
	failed := f.add(wide())
	f.must(f.FailVersion(f.ctx, failed.VersionRef, failed.RunID, knowledge.DocumentError{Code: knowledge.CodeProviderFailed}))
	v3 := f.add(upload("a.txt", func(nv *store.NewVersion) { nv.ConversationID = new("talk") }))
	tags, access := []string{"patched"}, knowledge.Access{Users: []string{"eve"}}
	_, err := f.UpdateDocument(f.ctx, manager("acme"), v1.Document, store.DocumentPatch{Tags: &tags, Access: &access})
	f.must(err)
	class := "public"
	_, err = f.UpdateDocument(f.ctx, manager("acme"), v1.Document, store.DocumentPatch{Classification: &class})
	f.must(err)
	for _, ref := range []knowledge.VersionRef{v1.VersionRef, failed.VersionRef, v3.VersionRef} {
		v, err := f.Version(f.ctx, ref)
		f.must(err)
		if !cmp.Equal(v.ACL, []string{"u:eve"}) || !cmp.Equal(v.Tags, tags) || v.Classification != class {
			f.Errorf("version %d is %+v", v.Version, v)
		}
	}
	chunks := passages(v3.VersionRef, "three")
	f.must(f.PutChunks(f.ctx, v3.VersionRef, chunks))
	_, err = f.Publish(f.ctx, v3.VersionRef)
	f.must(err)
	for user, want := range map[string]int{"eve": 1, "ann": 0, "bob": 0} {
		if got := f.sees(reader(user), chunks...); len(got) != want {
			f.Errorf("%s sees %q", user, got)
		}
	}
}

// stale fails the test unless the index has to follow these documents.
func (f *fixture) stale(want ...string) {
	f.Helper()
	ids, err := f.StaleInIndex(f.ctx, 10)
	f.must(err)
	if !slices.Equal(ids, want) {
		f.Errorf("stale are %q, want %q", ids, want)
	}
}

// leaseStale leases the index entries of a document that is stale.
func (f *fixture) leaseStale(id string) store.StaleDocument {
	f.Helper()
	d, leased, err := f.LeaseStale(f.ctx, id)
	f.must(err)
	if !leased || d.ID != id || d.Patience <= 0 {
		f.Errorf("leased %t: %+v", leased, d)
	}
	return d
}

// inIndex notes that the index has the attributes of a leased document, and fails the
// test unless they have changed since as again says.
func (f *fixture) inIndex(d store.StaleDocument, again bool) {
	f.Helper()
	got, err := f.InIndex(f.ctx, d)
	f.must(err)
	if got != again {
		f.Errorf("to be written again: %t, want %t", got, again)
	}
}

func staleInIndex(f *fixture) {
	patch := func(id, class string) {
		f.Helper()
		_, err := f.UpdateDocument(f.ctx, manager("acme"), id, store.DocumentPatch{Classification: &class})
		f.must(err)
	}
	v1 := f.add(upload("a.txt"))
	patch(v1.Document, "unseen")
	f.stale() // nobody sees it yet
	if _, leased, err := f.LeaseStale(f.ctx, v1.Document); err != nil || leased {
		f.Errorf("leased %t, %v", leased, err)
	}
	_, err := f.Publish(f.ctx, v1.VersionRef)
	f.must(err)
	f.stale(v1.Document)
	d := f.leaseStale(v1.Document)
	patch(v1.Document, "again")
	f.inIndex(d, true) // it was changed again meanwhile
	f.stale(v1.Document)
	d = f.leaseStale(v1.Document)
	v2 := f.add(upload("a.txt"))
	f.inIndex(d, false)
	f.stale(v1.Document) // the entries of the next version may be older than the change
	d = f.leaseStale(v1.Document)
	_, err = f.Publish(f.ctx, v2.VersionRef)
	f.must(err)
	f.inIndex(d, true) // the entries of the version before were written
	d = f.leaseStale(v1.Document)
	if d.Classification != "again" || d.PublishedVersion != 2 {
		f.Errorf("it is %+v", d)
	}
	f.inIndex(d, false)
	f.stale()
	f.inIndex(d, false) // without a lease, so older attributes may have been written last
	f.stale(v1.Document)
	f.inIndex(f.leaseStale(v1.Document), false)
	f.stale()
	hold := true
	_, err = f.UpdateDocument(f.ctx, manager("acme"), v1.Document, store.DocumentPatch{LegalHold: &hold})
	f.must(err)
	f.stale() // the index does not know of it
}

func goesOnFromPending(f *fixture) {
	f.publish(upload("a.txt"), "one")
	f.add(forUsers("ann"))
	if v := f.add(silent()); !cmp.Equal(v.ACL, []string{"u:ann"}) {
		f.Errorf("an upload behind one for ann is for %q", v.ACL)
	}
}

func (f *fixture) reingest(document string) store.Version {
	f.Helper()
	config := knowledge.ProjectConfig{AI: knowledge.AIConfig{Splitter: knowledge.Splitter{ChunkSize: 700}}}
	d, v, err := f.ReingestVersion(f.ctx, manager("acme"), document, knowledge.NewID(), config, time.Now())
	f.must(err)
	if d.Version != v.Version || v.Splitter.ChunkSize != 700 || f.run(v.RunID).Version != v.Version {
		f.Errorf("document %+v, version %+v", d, v)
	}
	return v
}

func reingest(f *fixture) {
	f.publish(upload("a.txt"), "one")
	v2 := f.add(forUsers("ann"))
	f.must(f.FailVersion(f.ctx, v2.VersionRef, v2.RunID, knowledge.DocumentError{Code: knowledge.CodeCorrupt}))
	v3 := f.reingest(v2.Document)
	if v3.SourceKey != v2.SourceKey || v3.Name != v2.Name || v3.MediaType != v2.MediaType || v3.Bytes != v2.Bytes || !cmp.Equal(v3.ACL, []string{"u:ann"}) {
		f.Errorf("version %+v of %+v", v3, v2)
	}
	_, _, err := f.ReingestVersion(f.ctx, reader("ann"), v2.Document, knowledge.NewID(), knowledge.ProjectConfig{}, time.Now())
	f.wantCode(err, knowledge.CodeForbidden)
	_, _, err = f.ReingestVersion(f.ctx, manager("other"), v2.Document, knowledge.NewID(), knowledge.ProjectConfig{}, time.Now())
	f.wantCode(err, knowledge.CodeNotFound)

	refused := upload("refused.txt")
	refused.SourceKey = ""
	_, _, err = f.ReingestVersion(f.ctx, manager("acme"), f.add(refused).Document, knowledge.NewID(), knowledge.ProjectConfig{}, time.Now())
	f.wantCode(err, knowledge.CodeConflict)
}

// reingestAtOnce takes documents in and again side by side: each version that is
// made of an original has the access that came with that original.
func reingestAtOnce(f *fixture) {
	first := f.add(forUsers("user0"))
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() { f.add(forUsers(numbered("user", i+1))) })
		wg.Go(func() { f.reingest(first.Document) })
	}
	wg.Wait()
	list, _, err := f.Versions(f.ctx, manager("acme"), first.Document, store.Page{})
	f.must(err)
	originals := map[string][]string{}
	for _, v := range list {
		if acl, ok := originals[v.SourceKey]; ok && !cmp.Equal(acl, v.ACL) {
			f.Errorf("version %d of an original for %q is for %q", v.Version, acl, v.ACL)
		}
		originals[v.SourceKey] = v.ACL
	}
	if len(list) != 17 || len(originals) != 9 {
		f.Errorf("%d versions of %d originals", len(list), len(originals))
	}
}

func keepUnsaid(f *fixture) {
	if v := f.add(silent()); !cmp.Equal(v.ACL, []string{"w:acme"}) || v.Metadata == nil {
		f.Errorf("a new document that says nothing: %+v", v)
	}
	v1, _ := f.publish(upload("a.txt", func(nv *store.NewVersion) { nv.Metadata = map[string]any{"k": "old"} }), "one")
	metadata, class, access := map[string]any{"k": "v"}, "secret", knowledge.Access{Users: []string{"ann"}}
	_, err := f.UpdateDocument(f.ctx, manager("acme"), v1.Document, store.DocumentPatch{
		Metadata: &metadata, Classification: &class, Access: &access,
	})
	f.must(err)
	f.publish(silent(), "two")
	want := f.document(v1.Document)
	want.Metadata, want.Classification, want.Access = metadata, class, access
	if diff := cmp.Diff(want, f.document(v1.Document)); diff != "" {
		f.Error(diff)
	}
	f.publish(upload("a.txt", func(nv *store.NewVersion) { nv.Access, nv.ConversationID = nil, new("talk") }), "three")
	v4, _ := f.publish(silent(), "four")
	if diff := cmp.Diff([]string{"s:talk"}, v4.ACL); diff != "" {
		f.Error("a document of a conversation: " + diff)
	}
}

func citedStays(f *fixture) {
	_, chunks, _ := f.narrow()
	f.cite(reader("ann"), "talk", "m1", chunks[0])
	f.publish(wide(), "two")
	for user, want := range map[string]bool{"ann": true, "bob": false} {
		view, err := f.Chunk(f.ctx, reader(user), chunks[0].ID)
		if (err == nil) != want || want && !view.Superseded {
			f.Errorf("%s opens a passage that was ann's: %v, %v", user, view.Text, err)
		}
	}
	if _, err := f.Chunk(f.ctx, manager("acme"), chunks[0].ID); err != nil {
		f.Errorf("a manager opens it: %v", err)
	}
}
