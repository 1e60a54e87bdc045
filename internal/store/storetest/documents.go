package storetest

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
)

func testDocuments(t *testing.T, open func(t *testing.T) Store) {
	each(t, open, map[string]func(f *fixture){
		"a_query_narrows_by_every_field":                      queryDocuments,
		"a_list_has_the_order_that_is_asked_for":              orderDocuments,
		"a_patch_changes_what_it_names":                       patchDocument,
		"a_deactivated_document_is_seen_again_when_activated": deactivate,
		"a_new_version_does_not_activate_a_document":          staysInactive,
		"a_patch_needs_the_write_scope_and_a_document":        patchRefused,
	})
}

func (f *fixture) names(p knowledge.Principal, q store.DocumentQuery) []string {
	f.Helper()
	list, _, err := f.Documents(f.ctx, p, q)
	f.must(err)
	total, err := f.CountDocuments(f.ctx, p, q)
	f.must(err)
	names := []string{}
	for _, d := range list {
		names = append(names, d.Name)
	}
	slices.Sort(names)
	if total != len(names) {
		f.Errorf("total %d of %d documents", total, len(names))
	}
	return names
}

func queryDocuments(f *fixture) {
	f.publish(upload("red", func(nv *store.NewVersion) { nv.Tags = []string{"red", "all"} }), "x")
	blue := f.add(upload("blue", func(nv *store.NewVersion) { nv.Tags, nv.MediaType = []string{"blue", "all"}, "text/csv; charset=utf-8" }))
	failed := f.add(upload("failed", func(nv *store.NewVersion) { nv.Project = "press" }))
	f.must(f.FailVersion(f.ctx, failed.VersionRef, failed.RunID, knowledge.DocumentError{Code: knowledge.CodeEmpty}))
	inactive, _ := f.publish(upload("inactive"), "x")
	off := knowledge.StatusInactive
	_, err := f.UpdateDocument(f.ctx, manager("acme"), inactive.Document, store.DocumentPatch{Status: &off})
	f.must(err)
	deleting, _ := f.publish(upload("deleting"), "x")
	_, err = f.MarkRemoving(f.ctx, manager("acme"), deleting.Document, knowledge.NewID(), time.Now())
	f.must(err)
	removed, _ := f.publish(upload("removed"), "x")
	f.remove(manager("acme"), removed.Document)

	for _, test := range []struct {
		query store.DocumentQuery
		want  []string
	}{
		{store.DocumentQuery{}, []string{"blue", "deleting", "failed", "inactive", "red"}},
		{store.DocumentQuery{Project: "press"}, []string{"failed"}},
		{store.DocumentQuery{Project: "missing"}, []string{}},
		{store.DocumentQuery{Tags: []string{"red"}}, []string{"red"}},
		{store.DocumentQuery{Tags: []string{"red", "blue", "green"}}, []string{"blue", "red"}},
		{store.DocumentQuery{Tags: []string{"all"}, Status: knowledge.StatusPending}, []string{"blue"}},
		{store.DocumentQuery{ExternalID: "red"}, []string{"red"}},
		{store.DocumentQuery{IDs: []string{blue.Document, removed.Document, inactive.Document, "none"}}, []string{"blue", "inactive"}},
		{store.DocumentQuery{Named: "red"}, []string{"red"}},
		{store.DocumentQuery{Named: inactive.Document}, []string{"inactive"}},
		{store.DocumentQuery{Named: inactive.Document[:8]}, []string{"inactive"}},
		{store.DocumentQuery{Named: inactive.Document[:3]}, []string{}},
		{store.DocumentQuery{Named: removed.Document}, []string{}},
		{store.DocumentQuery{Status: knowledge.StatusPublished}, []string{"red"}},
		{store.DocumentQuery{Status: knowledge.StatusError}, []string{"failed"}},
		{store.DocumentQuery{Status: knowledge.StatusInactive}, []string{"inactive"}},
		{store.DocumentQuery{Status: knowledge.StatusDeleting}, []string{"deleting"}},
		{store.DocumentQuery{Code: knowledge.CodeEmpty}, []string{"failed"}},
		{store.DocumentQuery{Language: "deu"}, []string{}},
		{store.DocumentQuery{MediaTypes: []string{"text/csv", "text/html"}}, []string{"blue"}},
		{store.DocumentQuery{MediaTypes: []string{"text/csv", "text/plain"}, Project: "press"}, []string{"failed"}},
		{store.DocumentQuery{MediaTypes: []string{"text/c"}}, []string{}},
		{store.DocumentQuery{Status: knowledge.StatusPending, Stage: f.document(blue.Document).Stage}, []string{"blue"}},
	} {
		if diff := cmp.Diff(test.want, f.names(manager("acme"), test.query)); diff != "" {
			f.Errorf("%+v: %s", test.query, diff)
		}
	}
	if diff := cmp.Diff([]string{"red"}, f.names(reader("ann"), store.DocumentQuery{})); diff != "" {
		f.Error("a reader: " + diff)
	}
	_, _, err = f.Documents(f.ctx, manager("acme"), store.DocumentQuery{Status: "gone"})
	f.wantField(err, "query.status")
}

// orderDocuments lists documents by each order, some at a time: none twice, and none left out
// where they are equal.
func orderDocuments(f *fixture) {
	var equal []string
	for _, name := range []string{"Zebra", "anchor", "buoy", "buoy", "crane"} {
		equal = append(equal, f.add(upload(name, func(nv *store.NewVersion) { nv.ExternalID, nv.Bytes = knowledge.NewID(), int64(len(name)) })).Document)
	}
	tags := []string{"new"}
	_, err := f.UpdateDocument(f.ctx, manager("acme"), equal[1], store.DocumentPatch{Tags: &tags})
	f.must(err)
	for order, want := range map[store.DocumentOrder][]string{
		store.ByName: {"Zebra", "anchor", "buoy", "buoy", "crane"}, store.BySize: {"anchor", "Zebra", "crane", "buoy", "buoy"}, store.ByChange: {"anchor"},
	} {
		var got []string
		seen := map[string]bool{}
		query := store.DocumentQuery{Sort: order, Page: store.Page{Limit: 2}}
		for {
			list, next, err := f.Documents(f.ctx, manager("acme"), query)
			f.must(err)
			for _, d := range list {
				got, seen[d.ID] = append(got, d.Name), true
			}
			if query.Cursor = next; next == "" {
				break
			}
		}
		if len(got) != 5 || len(seen) != 5 {
			f.Fatalf("%s: %v", order, got)
		}
		if order == store.BySize { // equal in size are two and two
			slices.Sort(got[1:3])
			slices.Sort(want[1:3])
		}
		if diff := cmp.Diff(want, got[:len(want)]); diff != "" {
			f.Errorf("%s: %s", order, diff)
		}
		_, _, err := f.Documents(f.ctx, manager("acme"), store.DocumentQuery{Page: store.Page{Cursor: f.cursor(order)}})
		f.wantField(err, "query.cursor")
	}
	_, _, err = f.Documents(f.ctx, manager("acme"), store.DocumentQuery{Sort: "colour"})
	f.wantField(err, "query.sort")
}

// cursor returns the cursor behind the first document of an order.
func (f *fixture) cursor(order store.DocumentOrder) string {
	f.Helper()
	_, next, err := f.Documents(f.ctx, manager("acme"), store.DocumentQuery{Sort: order, Page: store.Page{Limit: 1}})
	f.must(err)
	return next
}

func patchDocument(f *fixture) {
	v, chunks := f.publish(upload("a.txt", func(nv *store.NewVersion) { nv.Tags = []string{"old"} }), "x")
	tags, metadata, class, hold := []string{"new", "new"}, map[string]any{"k": "v"}, "public", true
	access := knowledge.Access{Groups: []string{"legal"}}
	d, err := f.UpdateDocument(f.ctx, manager("acme"), v.Document, store.DocumentPatch{
		Tags: &tags, Metadata: &metadata, Classification: &class, LegalHold: &hold, Access: &access,
	})
	f.must(err)
	want := f.document(v.Document)
	want.Tags, want.Metadata, want.Classification, want.LegalHold, want.Access = []string{"new"}, metadata, class, true, access
	if diff := cmp.Diff(want, d); diff != "" {
		f.Error(diff)
	}
	if got := f.names(manager("acme"), store.DocumentQuery{Tags: []string{"old"}}); len(got) != 0 {
		f.Errorf("found by a tag that was taken away: %v", got)
	}
	if got := f.names(manager("acme"), store.DocumentQuery{Tags: []string{"new"}}); len(got) != 1 {
		f.Errorf("not found by its new tag")
	}
	if len(f.sees(reader("ann"), chunks...)) != 0 || len(f.sees(reader("ann", "legal"), chunks...)) != 1 {
		f.Error("the new access does not hold")
	}
	version, err := f.Version(f.ctx, v.VersionRef)
	f.must(err)
	if diff := cmp.Diff([]string{"g:legal"}, version.ACL); diff != "" {
		f.Error(diff)
	}
	unchanged, err := f.UpdateDocument(f.ctx, manager("acme"), v.Document, store.DocumentPatch{})
	f.must(err)
	want.UpdatedAt, unchanged.UpdatedAt = time.Time{}, time.Time{}
	if diff := cmp.Diff(want, unchanged); diff != "" {
		f.Error("an empty patch: " + diff)
	}
}

func deactivate(f *fixture) {
	v, chunks := f.publish(upload("a.txt"), "x")
	for status, seen := range map[knowledge.Status]int{knowledge.StatusInactive: 0, knowledge.StatusPublished: 1} {
		d, err := f.UpdateDocument(f.ctx, manager("acme"), v.Document, store.DocumentPatch{Status: &status})
		f.must(err)
		if d.Status != status {
			f.Errorf("status %s", d.Status)
		}
		if got := f.names(reader("ann"), store.DocumentQuery{}); len(got) != seen {
			f.Errorf("%s: a reader lists %q", status, got)
		}
		if got := f.sees(reader("ann"), chunks...); len(got) != seen {
			f.Errorf("%s: a reader sees %d chunks", status, len(got))
		}
		if got := f.sees(manager("acme"), chunks...); len(got) != seen {
			f.Errorf("%s: a search by a manager sees %d chunks", status, len(got))
		}
		if _, err := f.Chunk(f.ctx, manager("acme"), chunks[0].ID); err != nil {
			f.Errorf("%s: a manager cannot open the chunk: %v", status, err)
		}
	}
}

func staysInactive(f *fixture) {
	v, _ := f.publish(upload("a.txt"), "x")
	off := knowledge.StatusInactive
	_, err := f.UpdateDocument(f.ctx, manager("acme"), v.Document, store.DocumentPatch{Status: &off})
	f.must(err)
	_, chunks := f.publish(upload("a.txt"), "y")
	if d := f.document(v.Document); d.Status != knowledge.StatusInactive || d.PublishedVersion != 2 {
		f.Errorf("document %+v", d)
	}
	if got := f.sees(reader("ann"), chunks...); len(got) != 0 {
		f.Errorf("seen: %q", got)
	}
}

func patchRefused(f *fixture) {
	v := f.add(upload("a.txt"))
	on, deleting := knowledge.StatusPublished, knowledge.StatusDeleting
	for _, test := range []struct {
		p     knowledge.Principal
		id    string
		patch store.DocumentPatch
		want  knowledge.Code
	}{
		{reader("ann"), v.Document, store.DocumentPatch{}, knowledge.CodeForbidden},
		{manager("other"), v.Document, store.DocumentPatch{}, knowledge.CodeNotFound},
		{manager("acme"), "missing", store.DocumentPatch{}, knowledge.CodeNotFound},
		{manager("acme"), v.Document, store.DocumentPatch{Status: &on}, knowledge.CodeConflict},
		{manager("acme"), v.Document, store.DocumentPatch{Status: &deleting}, knowledge.CodeInvalid},
	} {
		_, err := f.UpdateDocument(f.ctx, test.p, test.id, test.patch)
		f.wantCode(err, test.want)
	}
	_, err := f.MarkRemoving(f.ctx, manager("acme"), v.Document, knowledge.NewID(), time.Now())
	f.must(err)
	_, err = f.UpdateDocument(f.ctx, manager("acme"), v.Document, store.DocumentPatch{})
	f.wantCode(err, knowledge.CodeConflict)
}
