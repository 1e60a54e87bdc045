package storetest

import (
	"sync"
	"testing"
	"time"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
)

func testUnchanged(t *testing.T, open func(t *testing.T) Store) {
	each(t, open, map[string]func(f *fixture){
		"an_unchanged_upload_makes_no_version":           unchangedUpload,
		"a_change_of_any_setting_makes_a_version":        changedUploads,
		"a_version_that_failed_is_uploaded_again":        uploadAfterFailure,
		"a_reingested_document_is_unchanged":             unchangedReingest,
		"the_lease_of_an_unchanged_upload_is_not_ended":  unchangedLease,
		"what_was_found_in_a_file_does_not_count":        unchangedFound,
		"a_removed_document_is_uploaded_again":           uploadAfterRemoval,
		"unchanged_uploads_at_once_make_one_new_version": unchangedAtOnce,
	})
}

// unchangeable is an upload that may be skipped.
func unchangeable(change ...func(*store.NewVersion)) store.NewVersion {
	return upload("a.txt", append([]func(*store.NewVersion){func(nv *store.NewVersion) {
		nv.Digest, nv.SkipUnchanged, nv.Access = "digest", true, nil
		nv.Tags, nv.Metadata = []string{"x"}, map[string]any{"n": 1.0}
	}}, change...)...)
}

func unchangedUpload(f *fixture) {
	first := f.add(unchangeable())
	if pending := f.add(unchangeable()); pending.VersionRef != first.VersionRef || pending.RunID != first.RunID {
		f.Errorf("while it is pending: %+v of %s, want %+v of %s", pending.VersionRef, pending.RunID, first.VersionRef, first.RunID)
	}
	f.publishAsItIs(first)
	for what, nv := range map[string]store.NewVersion{
		"the same":                 unchangeable(),
		"no tags and no metadata":  unchangeable(func(nv *store.NewVersion) { nv.Tags, nv.Metadata = nil, nil }),
		"the access that it has":   unchangeable(func(nv *store.NewVersion) { nv.Access = &everyone }),
		"another enrichment model": unchangeable(func(nv *store.NewVersion) { nv.Enrichment.Model = "other" }),
	} {
		d, v, err := f.AddVersion(f.ctx, nv)
		f.must(err)
		if v.VersionRef != first.VersionRef || v.RunID != first.RunID || d.Status != knowledge.StatusPublished || d.Version != 1 {
			f.Errorf("%s: version %d of %s, document %+v", what, v.Version, v.RunID, d)
		}
	}
	if _, err := f.RunForSystem(f.ctx, "acme", unchangeable().RunID); !knowledge.IsCode(err, knowledge.CodeNotFound) {
		f.Errorf("a run of an unchanged upload: %v", err)
	}
}

func changedUploads(f *fixture) {
	f.publishAsItIs(f.add(unchangeable()))
	want := 1
	for what, change := range map[string]func(nv *store.NewVersion){
		"the bytes":      func(nv *store.NewVersion) { nv.Digest = "other" },
		"a digest":       func(nv *store.NewVersion) { nv.Digest = "" },
		"it is forced":   func(nv *store.NewVersion) { nv.SkipUnchanged = false },
		"the name":       func(nv *store.NewVersion) { nv.Name = "b.txt" },
		"a tag":          func(nv *store.NewVersion) { nv.Tags = []string{"y"} },
		"the metadata":   func(nv *store.NewVersion) { nv.Metadata = map[string]any{"n": 2.0} },
		"the access":     func(nv *store.NewVersion) { nv.Access = &knowledge.Access{Users: []string{"ann"}} },
		"the user":       func(nv *store.NewVersion) { nv.ExternalUserID = new("bob") },
		"the splitter":   func(nv *store.NewVersion) { nv.Splitter.ChunkSize = 300 },
		"the override":   func(nv *store.NewVersion) { nv.Override.Languages = []string{"deu"} },
		"the enrichment": func(nv *store.NewVersion) { nv.Enrichment.Pictures = true },
	} {
		want++
		v := f.add(unchangeable(change))
		if v.Version != want {
			f.Errorf("%s has changed: got version %d, want %d", what, v.Version, want)
		}
		want++ // back to what it was
		f.publishAsItIs(f.add(unchangeable(func(nv *store.NewVersion) {
			nv.SkipUnchanged, nv.ReplaceTags, nv.Access, nv.ExternalUserID = false, true, &everyone, new("")
		})))
	}
}

func uploadAfterFailure(f *fixture) {
	f.publishAsItIs(f.add(unchangeable()))
	v := f.add(unchangeable(func(nv *store.NewVersion) { nv.Digest = "other" }))
	f.fail(v)
	if again := f.add(unchangeable(func(nv *store.NewVersion) { nv.Digest = "other" })); again.Version != 3 {
		f.Errorf("got version %d of a file that failed", again.Version)
	}
}

func unchangedReingest(f *fixture) {
	f.publishAsItIs(f.add(unchangeable()))
	_, v, err := f.ReingestVersion(f.ctx, manager("acme"), unchangeable().DocumentID, knowledge.NewID(), knowledge.ProjectConfig{}, time.Now())
	f.must(err)
	f.publishAsItIs(v)
	config := knowledge.ProjectConfig{}.WithDefaults()
	if again := f.add(unchangeable(func(nv *store.NewVersion) { nv.Splitter = config.AI.Splitter })); again.Version != 2 {
		f.Errorf("got version %d, want 2", again.Version)
	}
}

func unchangedLease(f *fixture) {
	f.add(unchangeable())
	nv := unchangeable(func(nv *store.NewVersion) { nv.Leased = true })
	f.must(f.BeginUpload(f.ctx, store.Upload{SourceKey: nv.SourceKey, Document: nv.DocumentID}))
	f.add(nv)
	if err := f.RenewUpload(f.ctx, nv.SourceKey); err != nil {
		f.Errorf("the lease that protects the bytes has ended: %v", err)
	}
}

func unchangedFound(f *fixture) {
	v := f.add(unchangeable())
	_, err := f.BeginVersion(f.ctx, v.VersionRef, v.RunID, 0)
	f.must(err)
	f.must(f.SetStage(f.ctx, v.VersionRef, knowledge.StageChunk, 0.35, store.Facts{Metadata: map[string]any{"author": "Ann"}, Tags: []string{"found"}, MediaType: "text/markdown"}))
	f.publishAsItIs(v)
	if again := f.add(unchangeable()); again.Version != 1 {
		f.Errorf("got version %d", again.Version)
	}
}

func uploadAfterRemoval(f *fixture) {
	f.publishAsItIs(f.add(unchangeable()))
	f.remove(manager("acme"), unchangeable().DocumentID)
	if again := f.add(unchangeable()); again.Version != 2 || again.Status != knowledge.StatusPending {
		f.Errorf("got %+v", again)
	}
}

func unchangedAtOnce(f *fixture) {
	const uploads = 8
	versions, errs := make([]store.Version, uploads), make([]error, uploads)
	var wg sync.WaitGroup
	for i := range uploads {
		wg.Go(func() { _, versions[i], errs[i] = f.AddVersion(f.ctx, unchangeable()) })
	}
	wg.Wait()
	for i, v := range versions {
		f.must(errs[i])
		if v.Version != 1 || v.RunID != versions[0].RunID {
			f.Errorf("upload %d has version %d of run %s, want 1 of %s", i, v.Version, v.RunID, versions[0].RunID)
		}
	}
}
