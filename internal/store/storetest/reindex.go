package storetest

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
)

func testReindex(t *testing.T, open func(t *testing.T) Store) {
	each(t, open, map[string]func(f *fixture){
		"outdated_are_those_that_would_be_made_otherwise":         outdatedDocuments,
		"outdated_documents_are_listed_in_pages":                  outdatedPages,
		"a_pending_version_that_is_up_to_date_counts":             outdatedPending,
		"a_version_is_made_once_from_the_one_that_is_published":   reindexOnce,
		"a_project_has_one_reindex_at_a_time":                     oneReindex,
		"the_progress_has_the_outcomes_of_the_started_versions":   reindexOutcomes,
		"a_reindex_is_counted_and_started_with_the_write_scope":   reindexScope,
		"a_document_that_is_being_removed_is_listed_and_refused":  reindexRemoving,
		"attachments_follow_the_document_that_contains_them":      reindexAttachments,
		"an_override_the_configuration_does_not_allow_is_skipped": reindexWrongOverride,
	})
}

// sized is a configuration whose chunks have this size.
func sized(size int) knowledge.ProjectConfig {
	return knowledge.ProjectConfig{AI: knowledge.AIConfig{Splitter: knowledge.Splitter{ChunkSize: size}}}
}

// cut is an upload that is made with a configuration and its override.
func (f *fixture) cut(name string, config knowledge.ProjectConfig, override string) store.NewVersion {
	f.Helper()
	return upload(name, func(nv *store.NewVersion) {
		if override != "" {
			nv.Override.Splitter = json.RawMessage(override)
		}
		var err error
		nv.Splitter, err = nv.Override.ApplyTo(config)
		f.must(err)
		nv.Enrichment = knowledge.Override{}.EnrichmentIn(config)
	})
}

// outdated lists the outdated documents of acme/handbook by name, in pages.
func (f *fixture) outdated(config knowledge.ProjectConfig, limit int) []string {
	f.Helper()
	names, after := []string{}, ""
	for {
		list, more, err := f.OutdatedDocuments(f.ctx, store.OutdatedQuery{Workspace: "acme", Project: "handbook", Config: config, After: after, Limit: limit})
		f.must(err)
		for _, o := range list {
			names = append(names, f.document(o.Document).Name)
		}
		if more == "" {
			break
		}
		after = more
	}
	count, err := f.CountOutdated(f.ctx, manager("acme"), "handbook", config)
	f.must(err)
	if count != len(names) {
		f.Errorf("%d outdated documents are counted, and %q listed", count, names)
	}
	slices.Sort(names)
	filter, err := f.FilterOutdated(f.ctx, manager("acme"), knowledge.Project{ID: "handbook", Config: config})
	f.must(err)
	if filtered := f.names(manager("acme"), store.DocumentQuery{Outdated: filter}); !slices.Equal(filtered, names) {
		f.Errorf("the filter chooses %q, and listed are %q", filtered, names)
	}
	return names
}

func (f *fixture) wantOutdated(config knowledge.ProjectConfig, want ...string) {
	f.Helper()
	if diff := cmp.Diff(append([]string{}, want...), f.outdated(config, 10)); diff != "" {
		f.Errorf("outdated documents (-want +listed):\n%s", diff)
	}
}

// outdatedOf is a document as OutdatedDocuments lists it.
func (f *fixture) outdatedOf(document string, config knowledge.ProjectConfig) store.Outdated {
	f.Helper()
	list, _, err := f.OutdatedDocuments(f.ctx, store.OutdatedQuery{Workspace: "acme", Project: "handbook", Config: config, Limit: 10})
	f.must(err)
	for _, o := range list {
		if o.Document == document {
			return o
		}
	}
	f.Fatalf("document %s is not outdated", document)
	return store.Outdated{}
}

func outdatedDocuments(f *fixture) {
	before, now := sized(500), sized(600)
	f.publish(f.cut("old.txt", before, ""), "one")
	f.publish(f.cut("new.txt", now, ""), "one")
	f.publish(f.cut("same.txt", before, `{"chunkSize":300}`), "one") // its own size, and the same overlap
	f.publish(f.cut("partly.txt", before, `{"strategy":"fixed"}`), "one")
	f.add(f.cut("pending.txt", before, ""))
	f.fail(f.add(f.cut("failed.txt", before, "")))
	gone, _ := f.publish(f.cut("gone.txt", before, ""), "one")
	f.remove(manager("acme"), gone.Document)
	elsewhere := f.cut("elsewhere.txt", before, "")
	elsewhere.Project = "press"
	f.publish(elsewhere, "one")
	f.wantOutdated(now, "old.txt", "partly.txt")
	f.wantOutdated(before, "new.txt")
	enriched := before
	enriched.AI.Enrichment.Summary = true
	f.wantOutdated(enriched, "new.txt", "old.txt", "partly.txt", "same.txt")
	multimodal := before
	multimodal.AI.Multimodal = true
	f.wantOutdated(multimodal, "new.txt", "old.txt", "partly.txt", "same.txt")
	otherModel := before
	otherModel.AI.Model = "another"
	f.wantOutdated(otherModel, "new.txt")
}

func outdatedPages(f *fixture) {
	var want []string
	for i := range 7 {
		nv := f.cut(fmt.Sprintf("%d.txt", i), sized(500), "")
		f.publish(nv, "one")
		want = append(want, nv.Name)
	}
	for _, limit := range []int{1, 3, 7, 8} {
		if diff := cmp.Diff(want, f.outdated(sized(600), limit)); diff != "" {
			f.Errorf("in pages of %d (-want +listed):\n%s", limit, diff)
		}
	}
}

func outdatedPending(f *fixture) {
	f.publish(f.cut("a.txt", sized(500), ""), "one")
	next := f.add(f.cut("a.txt", sized(600), ""))
	f.wantOutdated(sized(600))
	f.wantOutdated(sized(500), "a.txt") // it will be published
	f.fail(next)
	f.wantOutdated(sized(600), "a.txt")
}

func reindexOnce(f *fixture) {
	v1, _ := f.publish(f.cut("a.txt", sized(500), `{"strategy":"fixed"}`), "one")
	f.fail(f.add(f.cut("a.txt", sized(500), ""))) // another original, which cannot be read
	o := f.outdatedOf(v1.Document, sized(600))
	if o.Version != 1 || o.SourceKey != v1.SourceKey || o.HadPassword || o.Removing {
		f.Errorf("listed as %+v", o)
	}
	v3, started, err := f.ReindexVersion(f.ctx, "reindex-1", o, sized(600))
	f.must(err)
	if !started || v3.Version != 3 || v3.SourceKey != v1.SourceKey || v3.Splitter.ChunkSize != 600 || v3.Splitter.Strategy != "fixed" || v3.Status != knowledge.StatusPending {
		f.Errorf("started %t: %+v", started, v3)
	}
	if run := f.run(v3.RunID); run.Parent != "reindex-1" || run.Subject != v1.Document {
		f.Errorf("its run is %+v", run)
	}
	waiting, err := f.PendingVersions(f.ctx, store.PendingQuery{Before: time.Now().Add(time.Hour), Limit: 9})
	f.must(err)
	if len(waiting) != 1 || waiting[0].VersionRef != v3.VersionRef || waiting[0].Reindex != "reindex-1" {
		f.Errorf("pending: %+v", waiting)
	}
	again, started, err := f.ReindexVersion(f.ctx, "reindex-1", o, sized(600))
	f.must(err)
	if !started || again.Version != 3 || again.RunID != v3.RunID {
		f.Errorf("the repetition started %t: %+v", started, again)
	}
	if _, started, err = f.ReindexVersion(f.ctx, "reindex-2", o, sized(600)); started || err != nil {
		f.Errorf("another reindex started it, %v", err)
	}
	f.fail(v3)
	v4, started, err := f.ReindexVersion(f.ctx, "reindex-2", f.outdatedOf(v1.Document, sized(600)), sized(600))
	f.must(err)
	if !started || v4.Version != 4 {
		f.Errorf("after a failure: started %t, version %d", started, v4.Version)
	}
}

func oneReindex(f *fixture) {
	f.publish(f.cut("a.txt", sized(500), ""), "one")
	first, err := f.StartReindex(f.ctx, manager("acme"), "handbook", "run-1", sized(600))
	f.must(err)
	if first.ID != "run-1" || first.WorkflowID != "reindex/acme/handbook" || string(first.Progress) == "" {
		f.Errorf("started %+v", first)
	}
	second, err := f.StartReindex(f.ctx, manager("acme"), "handbook", "run-2", sized(600))
	f.must(err)
	if second.ID != "run-1" {
		f.Errorf("a second call started run %s", second.ID)
	}
	f.must(f.EndRun(f.ctx, "acme", "run-1", store.RunEnd{Status: knowledge.RunCompleted, At: time.Now()}))
	for _, id := range []string{"run-2", "run-1"} { // the second one repeats a request
		got, err := f.StartReindex(f.ctx, manager("acme"), "handbook", id, sized(600))
		f.must(err)
		if got.ID != id {
			f.Errorf("%s returns run %s", id, got.ID)
		}
	}
}

func reindexOutcomes(f *fixture) {
	config := sized(600)
	for _, name := range []string{"a.txt", "b.txt", "c.txt", "d.txt"} {
		f.publish(f.cut(name, sized(500), ""), "one")
	}
	run, err := f.StartReindex(f.ctx, manager("acme"), "handbook", knowledge.NewID(), config)
	f.must(err)
	list, _, err := f.OutdatedDocuments(f.ctx, store.OutdatedQuery{Workspace: "acme", Project: "handbook", Config: config, Limit: 3})
	f.must(err)
	for i, o := range list {
		v, _, err := f.ReindexVersion(f.ctx, run.ID, o, config)
		f.must(err)
		if status := []knowledge.RunStatus{knowledge.RunCompleted, knowledge.RunFailed, ""}[i]; status != "" {
			f.must(f.EndRun(f.ctx, "acme", v.RunID, store.RunEnd{Status: status, At: time.Now()}))
		}
	}
	part := knowledge.ReindexProgress{Refused: 1, Paused: true, Refusals: []knowledge.Refusal{{ID: "d", Code: knowledge.CodeConflict}}}
	got, err := f.ReindexProgress(f.ctx, "acme", run.ID, part, 4)
	f.must(err)
	want := part
	want.Matched, want.Started, want.Published, want.Failed, want.PerSecond, want.Seconds = 4, 3, 1, 1, 0.5, 3
	if diff := cmp.Diff(want, got); diff != "" || got.Pending() != 1 {
		f.Errorf("progress (-want +got):\n%s", diff)
	}
	var stored knowledge.ReindexProgress
	f.must(json.Unmarshal(f.run(run.ID).Progress, &stored))
	if diff := cmp.Diff(want, stored); diff != "" {
		f.Errorf("stored (-want +got):\n%s", diff)
	}
	_, err = f.ReindexProgress(f.ctx, "other", run.ID, part, 1)
	f.wantCode(err, knowledge.CodeNotFound)
}

func reindexScope(f *fixture) {
	for _, p := range []knowledge.Principal{reader("ann"), {}} {
		_, err := f.CountOutdated(f.ctx, p, "handbook", sized(600))
		if err == nil {
			f.Error("a reader counts")
		}
		if _, err = f.StartReindex(f.ctx, p, "handbook", "run", sized(600)); err == nil {
			f.Error("a reader starts a reindex")
		}
	}
}

func reindexRemoving(f *fixture) {
	v, _ := f.publish(f.cut("a.txt", sized(500), ""), "one")
	f.mark(v.Document)
	o := f.outdatedOf(v.Document, sized(600))
	if !o.Removing {
		f.Errorf("listed as %+v", o)
	}
	_, _, err := f.ReindexVersion(f.ctx, "run", o, sized(600))
	f.wantCode(err, knowledge.CodeConflict)
}

func reindexAttachments(f *fixture) {
	mail, _ := f.publish(f.cut("mail.eml", sized(500), ""), "one")
	note := f.cut("note.txt", sized(500), "")
	note.Parent = mail.VersionRef
	f.publish(note, "one")
	f.wantOutdated(sized(600), "mail.eml")
}

func reindexWrongOverride(f *fixture) {
	f.publish(f.cut("a.txt", sized(500), `{"chunkOverlap":200}`), "one")
	f.wantOutdated(sized(150)) // an overlap of 200 is refused for chunks of 150
}
