package storetest

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
)

func testFound(t *testing.T, open func(t *testing.T) Store) {
	each(t, open, map[string]func(f *fixture){
		"what_a_file_says_of_itself_is_added":               foundIsAdded,
		"the_next_version_does_not_inherit_what_was_found":  foundIsNotInherited,
		"what_a_user_sets_after_it_was_found_is_the_user_s": foundIsPatched,
		"a_patch_keeps_what_was_found_in_each_version":      foundIsKept,
	})
}

// find notes what was found in a version.
func (f *fixture) find(v store.Version, author string) {
	f.Helper()
	facts := store.Facts{Metadata: map[string]any{"author": author, "title": "Found"}, Tags: []string{"found", "x"}}
	for range 2 {
		f.must(f.SetStage(f.ctx, v.VersionRef, knowledge.StageEnrich, 0.3, facts))
	}
}

func described(nv *store.NewVersion) {
	nv.Tags, nv.Metadata = []string{"x"}, map[string]any{"title": "Mine"}
}

func (f *fixture) wantDescribed(id string, metadata map[string]any, tags ...string) {
	f.Helper()
	d := f.document(id)
	if diff := cmp.Diff(metadata, d.Metadata) + cmp.Diff(tags, d.Tags); diff != "" {
		f.Error(diff)
	}
}

func foundIsAdded(f *fixture) {
	v := f.add(upload("a.txt", described))
	f.find(v, "Ann")
	f.wantDescribed(v.Document, map[string]any{"title": "Mine", "author": "Ann"}, "x", "found")
}

func foundIsNotInherited(f *fixture) {
	v1 := f.add(upload("a.txt", described))
	f.find(v1, "Ann")
	f.must(f.PutChunks(f.ctx, v1.VersionRef, passages(v1.VersionRef, "one")))
	_, err := f.Publish(f.ctx, v1.VersionRef)
	f.must(err)
	v2 := f.add(upload("a.txt"))
	f.wantDescribed(v1.Document, map[string]any{"title": "Mine", "author": "Ann"}, "x", "found")
	if diff := cmp.Diff(map[string]any{"title": "Mine"}, v2.Metadata); diff != "" {
		f.Error(diff)
	}
	f.find(v2, "Bob")
	f.must(f.PutChunks(f.ctx, v2.VersionRef, passages(v2.VersionRef, "two")))
	_, err = f.Publish(f.ctx, v2.VersionRef)
	f.must(err)
	f.wantDescribed(v1.Document, map[string]any{"title": "Mine", "author": "Bob"}, "x", "found")
	v3 := f.reingest(v1.Document)
	if diff := cmp.Diff([]string{"x"}, v3.Tags); diff != "" {
		f.Error(diff)
	}
}

func foundIsPatched(f *fixture) {
	v := f.add(upload("a.txt"))
	f.find(v, "Ann")
	_, err := f.UpdateDocument(f.ctx, manager("acme"), v.Document, store.DocumentPatch{Metadata: &map[string]any{"author": "Carl"}})
	f.must(err)
	later := f.add(upload("a.txt"))
	if diff := cmp.Diff(map[string]any{"author": "Carl"}, later.Metadata); diff != "" {
		f.Error(diff)
	}
}

// foundIsKept patches a document of which one version is published and another one is read.
func foundIsKept(f *fixture) {
	v1 := f.add(upload("a.txt", described))
	f.find(v1, "Ann")
	_, err := f.Publish(f.ctx, v1.VersionRef)
	f.must(err)
	v2 := f.add(upload("a.txt"))
	f.find(v2, "Bob")
	patch := func(metadata map[string]any) {
		_, err := f.UpdateDocument(f.ctx, manager("acme"), v1.Document, store.DocumentPatch{Metadata: &metadata})
		f.must(err)
	}
	patch(map[string]any{"room": 7.0})
	f.wantDescribed(v1.Document, map[string]any{"author": "Ann", "room": 7.0}, "x", "found")
	_, err = f.Publish(f.ctx, v2.VersionRef)
	f.must(err)
	f.wantDescribed(v1.Document, map[string]any{"author": "Bob", "room": 7.0}, "x", "found")
	patch(map[string]any{"author": nil})
	f.wantDescribed(v1.Document, map[string]any{}, "x", "found")
}
