package storetest

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
)

func testClearance(t *testing.T, open func(t *testing.T) Store) {
	each(t, open, map[string]func(f *fixture){
		"a_clearance_bounds_every_read":               clearanceBounds,
		"the_write_scope_does_not_lift_it":            clearanceOfManagers,
		"a_change_of_the_classification_shows":        classificationChanges,
		"older_versions_keep_their_own":               classifiedVersions,
		"an_upload_over_a_hidden_document_is_refused": uploadOverHidden,
	})
}

// cleared returns a reading principal of acme with a clearance.
func cleared(level string) knowledge.Principal {
	return claims(func(c *knowledge.Claims) { c.Clearance, c.Covered = level, knowledge.Levels{}.Covered(level) })
}

func (f *fixture) classified(name, level string) (store.Version, []knowledge.Chunk) {
	return f.publish(upload(name, func(nv *store.NewVersion) { nv.Classification = &level }), name)
}

func clearanceBounds(f *fixture) {
	var chunks []knowledge.Chunk
	ids := map[string]string{}
	for _, level := range []string{"", "public", "internal", "confidential", "restricted", "a word of before"} {
		v, c := f.classified("of "+level, level)
		ids["of "+level], chunks = v.Document, append(chunks, c...)
	}
	for level, want := range map[string][]string{
		"public":       {"of public"},
		"internal":     {"of ", "of internal", "of public"},
		"confidential": {"of ", "of confidential", "of internal", "of public"},
		"restricted":   {"of ", "of a word of before", "of confidential", "of internal", "of public", "of restricted"},
	} {
		p := cleared(level)
		if diff := cmp.Diff(want, f.names(p, store.DocumentQuery{})); diff != "" {
			f.Errorf("with the clearance %s the list is: %s", level, diff)
		}
		found := map[string]bool{}
		for _, text := range f.sees(p, chunks...) {
			found[text] = true
		}
		if len(found) != len(want) {
			f.Errorf("with the clearance %s a search shows %v", level, found)
		}
		for _, c := range chunks {
			_, document := f.Document(f.ctx, p, ids[c.Text])
			_, chunk := f.Chunk(f.ctx, p, c.ID)
			_, _, list := f.DocumentChunks(f.ctx, p, ids[c.Text], store.Page{})
			_, _, versions := f.Versions(f.ctx, p, ids[c.Text], store.Page{})
			_, version := f.VersionFor(f.ctx, p, ids[c.Text], 1)
			for what, err := range map[string]error{"document": document, "chunk": chunk, "chunks": list, "versions": versions, "version": version} {
				if found[c.Text] != (err == nil) || err != nil && !knowledge.IsCode(err, knowledge.CodeNotFound) {
					f.Errorf("with the clearance %s the %s %s: %v", level, what, c.Text, err)
				}
			}
		}
	}
}

func clearanceOfManagers(f *fixture) {
	v, chunks := f.classified("plan", "restricted")
	below := claims(func(c *knowledge.Claims) { c.Scopes = []knowledge.Scope{knowledge.ScopeWrite} })
	above := claims(func(c *knowledge.Claims) {
		c.Scopes, c.Covered = []knowledge.Scope{knowledge.ScopeWrite}, knowledge.Levels{}.Covered("restricted")
	})
	tags := []string{"x"}
	for name, read := range map[string]func(p knowledge.Principal) error{
		"Document": func(p knowledge.Principal) error { _, err := f.Document(f.ctx, p, v.Document); return err },
		"Chunk":    func(p knowledge.Principal) error { _, err := f.Chunk(f.ctx, p, chunks[0].ID); return err },
		"UpdateDocument": func(p knowledge.Principal) error {
			_, err := f.UpdateDocument(f.ctx, p, v.Document, store.DocumentPatch{Tags: &tags})
			return err
		},
	} {
		f.wantCode(read(below), knowledge.CodeNotFound)
		if err := read(above); err != nil {
			f.Errorf("%s for a manager who is cleared: %v", name, err)
		}
	}
	if _, err := f.MarkRemoving(f.ctx, below, v.Document, knowledge.NewID(), v.CreatedAt); !knowledge.IsCode(err, knowledge.CodeNotFound) {
		f.Errorf("a removal by a manager who is not cleared: %v", err)
	}
}

func classificationChanges(f *fixture) {
	v, chunks := f.classified("plan", "internal")
	above := claims(func(c *knowledge.Claims) {
		c.Scopes, c.Covered = []knowledge.Scope{knowledge.ScopeWrite}, knowledge.Levels{}.Covered("restricted")
	})
	for _, step := range []struct {
		level string
		shows bool
	}{{"confidential", false}, {"public", true}, {"restricted", false}, {"", true}} {
		_, err := f.UpdateDocument(f.ctx, above, v.Document, store.DocumentPatch{Classification: &step.level})
		f.must(err)
		if got := len(f.sees(cleared("internal"), chunks...)) == 1; got != step.shows {
			f.Errorf("as %q the document shows: %t", step.level, got)
		}
		if len(f.sees(cleared("restricted"), chunks...)) != 1 {
			f.Errorf("as %q the document is hidden from the highest clearance", step.level)
		}
	}
}

func classifiedVersions(f *fixture) {
	v, old := f.classified("plan", "restricted")
	_, err := f.EnsureConversation(f.ctx, reader("ann"), store.Conversation{ID: "talk"})
	f.must(err)
	f.cite(reader("ann"), "talk", "m1", old...)
	now, chunks := f.classified("plan", "public")
	for level, want := range map[string]int{"internal": 1, "restricted": 2} {
		list, _, err := f.Versions(f.ctx, cleared(level), v.Document, store.Page{})
		f.must(err)
		if len(list) != want || list[0].Version != now.Version {
			f.Errorf("with the clearance %s there are %d versions", level, len(list))
		}
		if _, err := f.Chunk(f.ctx, cleared(level), chunks[0].ID); err != nil {
			f.Errorf("the chunk of the public version: %v", err)
		}
		if _, err := f.VersionFor(f.ctx, cleared(level), v.Document, v.Version); (err == nil) != (want == 2) {
			f.Errorf("the restricted version with the clearance %s: %v", level, err)
		}
	}
}

func uploadOverHidden(f *fixture) {
	below := claims(func(c *knowledge.Claims) { c.Scopes = []knowledge.Scope{knowledge.ScopeWrite} })
	for _, test := range []struct {
		level string
		code  knowledge.Code
	}{{"restricted", knowledge.CodeForbidden}, {"internal", ""}} {
		f.classified(test.level, test.level)
		_, _, err := f.AddVersion(f.ctx, upload(test.level, func(nv *store.NewVersion) { nv.Uploader = below }))
		if test.code == "" {
			f.must(err)
		} else {
			f.wantCode(err, test.code)
		}
	}
}
