package storetest

import (
	"testing"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
)

func testSuperseded(t *testing.T, open func(t *testing.T) Store) {
	each(t, open, map[string]func(f *fixture){
		"hits_of_a_version_are_superseded_once_a_newer_one_is_seen": supersededOnceSeen,
		"one_document_of_many_is_enough":                            supersededAmongMany,
		"who_may_not_see_the_newer_version_is_not_sent_to_it":       supersededUnseen,
		"it_keeps_to_the_projects_that_are_asked":                   supersededElsewhere,
	})
}

// superseded asks whether hits are, and fails the test unless that is want.
func (f *fixture) superseded(want bool, when string, p knowledge.Principal, projects []string, hits ...knowledge.Hit) {
	f.Helper()
	got, err := f.Superseded(f.ctx, p, projects, hits)
	f.must(err)
	if got != want {
		f.Errorf("%s: superseded %t, want %t", when, got, want)
	}
}

func supersededOnceSeen(f *fixture) {
	v1, chunks := f.publish(upload("a.txt"), "one", "two")
	old := hitsOf(chunks...)
	f.superseded(false, "without a newer version", reader("ann"), nil, old...)
	f.superseded(false, "without hits", reader("ann"), nil)
	f.superseded(false, "a document that is not there", reader("ann"), nil, knowledge.Hit{ChunkID: "c", DocumentID: "d", Version: 1})

	v2 := f.add(upload("a.txt"))
	written := passages(v2.VersionRef, "three")
	f.must(f.PutChunks(f.ctx, v2.VersionRef, written))
	f.superseded(false, "while the newer one is written", reader("ann"), nil, old...)
	f.superseded(false, "hits of the one that is written", reader("ann"), nil, hitsOf(written...)...)
	if _, err := f.Publish(f.ctx, v2.VersionRef); err != nil {
		f.Fatal(err)
	}
	f.superseded(true, "once the newer one is published", reader("ann"), nil, old...)
	f.superseded(true, "one hit of it", reader("ann"), nil, old[1])
	f.superseded(false, "hits of the published one", reader("ann"), nil, hitsOf(written...)...)

	f.mark(v1.Document)
	f.superseded(false, "once it is being removed", reader("ann"), nil, old...)
}

func supersededAmongMany(f *fixture) {
	var hits []knowledge.Hit
	for i := range 20 {
		_, chunks := f.publish(upload(numbered("document ", i)), "text")
		hits = append(hits, hitsOf(chunks...)...)
	}
	f.superseded(false, "none of them", reader("ann"), nil, hits...)
	f.publish(upload(numbered("document ", 13)), "text")
	f.superseded(true, "one of them", reader("ann"), nil, hits...)
}

func supersededUnseen(f *fixture) {
	private := func(nv *store.NewVersion) { nv.Access = &knowledge.Access{Users: []string{"ann"}} }
	v, chunks := f.publish(upload("a.txt", private), "one")
	f.publish(upload("a.txt", private), "two")
	old := hitsOf(chunks...)
	f.superseded(true, "who may see it", reader("ann"), nil, old...)
	f.superseded(false, "who shares no token with it", reader("bob"), nil, old...)
	f.superseded(false, "who manages but shares no token", manager("acme"), nil, old...)
	f.superseded(false, "another workspace", manager("other"), nil, old...)
	_, err := f.Superseded(f.ctx, knowledge.Principal{}, nil, old)
	f.wantCode(err, knowledge.CodeForbidden)
	off := knowledge.StatusInactive
	_, err = f.UpdateDocument(f.ctx, manager("acme"), v.Document, store.DocumentPatch{Status: &off})
	f.must(err)
	f.superseded(false, "of an inactive document", reader("ann"), nil, old...)
}

func supersededElsewhere(f *fixture) {
	_, chunks := f.publish(upload("a.txt"), "one")
	f.publish(upload("a.txt"), "two")
	old := hitsOf(chunks...)
	held := func(project string) knowledge.Principal {
		return claims(func(c *knowledge.Claims) { c.Project = project })
	}
	f.superseded(true, "its project is asked", reader("ann"), []string{"press", "handbook"}, old...)
	f.superseded(false, "another project is asked", reader("ann"), []string{"press"}, old...)
	f.superseded(true, "a principal of its project", held("handbook"), nil, old...)
	f.superseded(false, "a principal of another project", held("press"), nil, old...)
	f.superseded(false, "a principal of another project that asks for it", held("press"), []string{"handbook"}, old...)
}
