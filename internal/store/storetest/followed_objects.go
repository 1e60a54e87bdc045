package storetest

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
)

func testFollowedObjects(t *testing.T, open func(t *testing.T) Store) {
	each(t, open, map[string]func(f *fixture){
		"a_name_and_rights_change_without_a_version":           followAttributes,
		"rights_change_before_the_bytes_do":                    followRightsFirst,
		"what_is_gone_is_removed_by_a_listing_of_changes_too":  followGone,
		"what_a_later_page_has_again_is_not_gone":              followRestored,
		"a_listing_of_changes_removes_nothing_else":            followPartial,
		"an_excluded_object_is_gone":                           followExcluded,
		"what_failed_before_is_listed_until_it_is_listed_anew": followFailed,
		"hidden_objects_are_counted":                           followHidden,
	})
}

// followed is an object of a listing with the fingerprint of the steps "p." and attributes.
func followed(key, etag, attributes string) store.ListedObject {
	o := listed(key, etag)
	o.Fingerprint = "p." + attributes
	return o
}

// synced runs a sync that publishes objects with the etag 1.
func (f *fixture) synced(y store.Sync, keys ...string) {
	f.Helper()
	i := f.syncRun(y)
	var list []store.ListedObject
	for _, key := range keys {
		list = append(list, followed(key, "1", "a"))
	}
	f.listPage(i, 0, list...)
	r := store.ImportRecord{}
	for _, key := range keys {
		v := importedVersion(f.claim(i, key), key)
		v.Fingerprint = "p.a"
		r.Published = append(r.Published, v)
	}
	_, err := f.RecordImported(f.ctx, i, r)
	f.must(err)
	f.endImport(i)
}

// follow follows an object on page 0, and reports whether that is all.
func (f *fixture) follow(i store.Import, key, etag, fingerprint string, access *knowledge.Access) bool {
	f.Helper()
	settled, err := f.FollowObjects(f.ctx, i, 0, []store.FollowedObject{{
		Key: key, DocumentID: listed(key, etag).DocumentID, ETag: etag, Fingerprint: fingerprint, Only: "p.", Name: "new/" + key, Access: access,
	}})
	f.must(err)
	return len(settled) == 1
}

func (f *fixture) documentOfKey(key string) knowledge.Document {
	f.Helper()
	d, err := f.Document(f.ctx, manager("acme"), listed(key, "").DocumentID)
	f.must(err)
	return d
}

func followAttributes(f *fixture) {
	y := f.sync()
	f.synced(y, "k")
	before := f.documentOfKey("k")
	i := f.syncRun(y)
	if p := f.listPage(i, 0, followed("k", "1", "b")); p.Todo != 1 {
		f.Fatalf("the page is %+v", p)
	}
	if !f.follow(i, "k", "1", "p.b", &knowledge.Access{Users: []string{"bob"}}) {
		f.Error("the bytes are the published ones, and it is not settled")
	}
	if f.follow(i, "k", "1", "p.b", &knowledge.Access{Users: []string{"bob"}}) {
		f.Error("a repetition settles it again")
	}
	f.wantCounts(i, knowledge.ImportCounts{Discovered: 1, Published: 1})
	d := f.documentOfKey("k")
	if d.Name != "new/k" || d.PublishedVersion != before.PublishedVersion || d.Access.Workspace || !cmp.Equal(d.Access.Users, []string{"bob"}) {
		f.Errorf("the document is %+v", d)
	}
	f.endImport(i)
	if p := f.listPage(f.syncRun(y), 0, followed("k", "1", "b")); p.Todo != 0 {
		f.Errorf("unchanged, it is to be imported again: %+v", p)
	}
}

func followRightsFirst(f *fixture) {
	y := f.sync()
	f.synced(y, "k")
	i := f.syncRun(y)
	f.listPage(i, 0, followed("k", "2", "b"))
	if f.follow(i, "k", "2", "p.b", &knowledge.Access{Groups: []string{"staff"}}) {
		f.Error("new bytes are settled")
	}
	if d := f.documentOfKey("k"); d.Access.Workspace || len(d.Access.Groups) != 1 {
		f.Errorf("the rights are %+v", d.Access)
	}
	f.endImport(i)
	// Other steps make another document of the same bytes.
	i = f.syncRun(y)
	other := followed("k", "1", "b")
	other.Fingerprint = "q.b"
	f.listPage(i, 0, other)
	settled, err := f.FollowObjects(f.ctx, i, 0, []store.FollowedObject{{Key: "k", DocumentID: other.DocumentID, ETag: "1", Fingerprint: "q.b", Only: "q.", Name: "k"}})
	if err != nil || len(settled) != 0 {
		f.Errorf("settled %v, %v", settled, err)
	}
}

// vanish settles what vanished from a listing.
func (f *fixture) vanish(i store.Import, full bool) (n int64, removals []store.Removal) {
	f.Helper()
	n, err := f.CountVanished(f.ctx, i, full)
	f.must(err)
	page, err := f.MarkVanished(f.ctx, i, full, "")
	f.must(err)
	return n, page.Removals
}

func followGone(f *fixture) {
	y := f.sync()
	f.synced(y, "a", "b", "c")
	i := f.syncRun(y)
	f.listPage(i, 0, followed("b", "1", "a"))
	for range 2 {
		f.must(f.MarkGone(f.ctx, i, 1, []string{"a", "b", "never listed"}))
	}
	f.wantCounts(i, knowledge.ImportCounts{})
	if n, removals := f.vanish(i, false); n != 2 || len(removals) != 2 {
		f.Errorf("%d vanished, the removals are %v", n, removals)
	}
	if counts := f.counts(i); counts.Deleted != 2 || counts.Vanished != 2 {
		f.Errorf("the counts are %+v", counts)
	}
	if d := f.documentOfKey("c"); d.Status != knowledge.StatusPublished {
		f.Errorf("c is %s", d.Status)
	}
}

func followRestored(f *fixture) {
	y := f.sync()
	f.synced(y, "a")
	i := f.syncRun(y)
	f.must(f.MarkGone(f.ctx, i, 0, []string{"a"}))
	found, err := f.ImportedObjects(f.ctx, i, []string{"a"})
	if err != nil || !found["a"].Gone {
		f.Errorf("found %+v, %v", found, err)
	}
	_, err = f.AddImportPage(f.ctx, i, store.ImportPage{Page: 1}, nil, []store.ListedObject{followed("a", "1", "b")})
	f.must(err)
	f.wantCounts(i, knowledge.ImportCounts{Discovered: 1})
	if n, removals := f.vanish(i, false); n != 0 || len(removals) != 0 {
		f.Errorf("%d vanished, the removals are %v", n, removals)
	}
}

func followPartial(f *fixture) {
	y := f.sync()
	f.synced(y, "a", "b")
	i := f.syncRun(y)
	f.listPage(i, 0, followed("a", "1", "a"))
	if n, removals := f.vanish(i, false); n != 0 || len(removals) != 0 {
		f.Errorf("%d vanished, the removals are %v", n, removals)
	}
	if n, removals := f.vanish(i, true); n != 1 || len(removals) != 1 || removals[0].Document != listed("b", "").DocumentID {
		f.Errorf("of a listing of everything %d vanished, the removals are %v", n, removals)
	}
}

func followExcluded(f *fixture) {
	y := f.sync()
	f.synced(y, "a")
	i := f.syncRun(y)
	o := followed("a", "1", "a")
	o.Excluded = true
	f.listPage(i, 0, o)
	if n, removals := f.vanish(i, false); n != 1 || len(removals) != 1 {
		f.Errorf("%d vanished, the removals are %v", n, removals)
	}
}

func followFailed(f *fixture) {
	y := f.sync()
	first := f.syncRun(y)
	f.listPage(first, 0, followed("a", "1", "a"), followed("b", "1", "a"))
	var failed []store.FailedObject
	for _, key := range []string{"a", "b"} {
		failed = append(failed, store.FailedObject{
			Key: key, Object: []byte("{}"), Version: f.object(first, key),
			Error: knowledge.DocumentError{Code: knowledge.CodeUnavailable, Stage: knowledge.StageFetch, Retryable: true},
		})
	}
	_, err := f.RecordImported(f.ctx, first, store.ImportRecord{Failed: failed})
	f.must(err)
	f.endImport(first)
	second := f.syncRun(y)
	f.wantFailedBefore(second, "a", "b")
	f.listPage(second, 0, followed("a", "1", "a"))
	f.wantFailedBefore(second, "b")
}

func (f *fixture) wantFailedBefore(i store.Import, keys ...string) {
	f.Helper()
	list, err := f.FailedBefore(f.ctx, i, "", 10)
	f.must(err)
	var got []string
	for _, one := range list {
		got = append(got, one.Key)
	}
	if diff := cmp.Diff(keys, got); diff != "" {
		f.Errorf("failed before (-want +got):\n%s", diff)
	}
}

func followHidden(f *fixture) {
	y := f.sync()
	i := f.syncRun(y)
	hidden := followed("a", "1", "a")
	hidden.Hidden = true
	f.listPage(i, 0, hidden, followed("b", "1", "a"))
	if n, err := f.HiddenObjects(f.ctx, manager("acme"), i); err != nil || n != 1 {
		f.Errorf("%d are hidden, %v", n, err)
	}
	f.endImport(i)
	i = f.syncRun(y)
	f.listPage(i, 0, followed("a", "1", "a"))
	if n, err := f.HiddenObjects(f.ctx, manager("acme"), i); err != nil || n != 0 {
		f.Errorf("afterwards %d are hidden, %v", n, err)
	}
}
