package storetest

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
)

func testChildren(t *testing.T, open func(t *testing.T) Store) {
	each(t, open, map[string]func(f *fixture){
		"an_attachment_goes_with_its_parent":              removedWithParent,
		"an_attachment_has_the_access_of_its_parent":      accessOfParent,
		"an_attachment_that_a_newer_version_lacks_goes":   retiredChildren,
		"a_parent_that_goes_gets_no_attachments":          childOfRemoved,
		"attachments_are_nested_ten_levels_deep_at_most":  nestedChildren,
		"an_attachment_stays_one_after_it_is_ingested_on": childStaysChild,
	})
}

// attach adds an attachment to a version.
func (f *fixture) attach(parent knowledge.VersionRef, name string) store.Version {
	f.Helper()
	return f.add(upload(name, func(nv *store.NewVersion) { nv.Parent = parent }))
}

func removedWithParent(f *fixture) {
	mail := f.add(upload("mail.eml"))
	inner := f.attach(mail.VersionRef, "inner.eml")
	note := f.attach(inner.VersionRef, "note.txt")
	held := f.attach(mail.VersionRef, "held.txt")
	_, err := f.UpdateDocument(f.ctx, manager("acme"), held.Document, store.DocumentPatch{LegalHold: new(true)})
	f.must(err)
	f.mark(mail.Document)
	for id, want := range map[string]knowledge.Status{
		inner.Document: knowledge.StatusDeleting, note.Document: knowledge.StatusDeleting, held.Document: knowledge.StatusPending,
	} {
		if d := f.document(id); d.Status != want {
			f.Errorf("%s is %s, not %s", d.Name, d.Status, want)
		}
	}
	removals, err := f.ChildRemovals(f.ctx, mail.Document)
	f.must(err)
	if len(removals) != 1 || removals[0].Document != inner.Document {
		f.Errorf("removals %+v", removals)
	}
}

func accessOfParent(f *fixture) {
	mail := f.add(upload("mail.eml"))
	inner := f.attach(mail.VersionRef, "inner.eml")
	note := f.attach(inner.VersionRef, "note.txt")
	bobs := knowledge.Access{Users: []string{"bob"}}
	_, err := f.UpdateDocument(f.ctx, manager("acme"), mail.Document, store.DocumentPatch{Access: &bobs})
	f.must(err)
	for _, id := range []string{inner.Document, note.Document} {
		if d := f.document(id); !cmp.Equal(d.Access.Users, bobs.Users) || d.Access.Workspace || d.ParentID == "" {
			f.Errorf("%s is for %+v", d.Name, d.Access)
		}
	}
}

func retiredChildren(f *fixture) {
	v1 := f.add(upload("mail.eml"))
	f.attach(v1.VersionRef, "both.txt")
	gone := f.attach(v1.VersionRef, "first.txt")
	v2 := f.add(upload("mail.eml"))
	both := f.attach(v2.VersionRef, "both.txt")
	for range 2 {
		f.must(f.RetireChildren(f.ctx, v2.VersionRef))
	}
	removals, err := f.ChildRemovals(f.ctx, v1.Document)
	f.must(err)
	if len(removals) != 1 || removals[0].Document != gone.Document || both.Version != 2 {
		f.Errorf("removals %+v", removals)
	}
}

func childOfRemoved(f *fixture) {
	mail := f.add(upload("mail.eml"))
	f.mark(mail.Document)
	_, _, err := f.AddVersion(f.ctx, upload("note.txt", func(nv *store.NewVersion) { nv.Parent = mail.VersionRef }))
	f.wantCode(err, knowledge.CodeNotFound)
}

func nestedChildren(f *fixture) {
	v := f.add(upload("mail.eml"))
	for i := range 10 {
		v = f.attach(v.VersionRef, numbered("inner", i))
	}
	_, _, err := f.AddVersion(f.ctx, upload("note.txt", func(nv *store.NewVersion) { nv.Parent = v.VersionRef }))
	f.wantCode(err, knowledge.CodeParseLimit)
}

func childStaysChild(f *fixture) {
	mail := f.add(upload("mail.eml"))
	note := f.attach(mail.VersionRef, "note.txt")
	_, _, err := f.ReingestVersion(f.ctx, manager("acme"), note.Document, knowledge.NewID(), knowledge.ProjectConfig{}, time.Now())
	f.must(err)
	if d := f.document(note.Document); d.ParentID != mail.Document {
		f.Errorf("the parent is %q", d.ParentID)
	}
}
