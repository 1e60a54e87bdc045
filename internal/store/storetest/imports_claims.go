package storetest

import (
	"errors"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
)

func claimHidden(f *fixture) {
	i := f.imported("bucket")
	f.claim(i, "a")
	list, err := f.PendingVersions(f.ctx, store.PendingQuery{Before: time.Now().Add(time.Hour), Limit: 10})
	f.must(err)
	if len(list) != 0 {
		f.Errorf("the sweep sees %+v", list)
	}
}

func claimAgain(f *fixture) {
	i := f.imported("bucket")
	f.listPage(i, 0, listed("a", "1"))
	first := f.claim(i, "a")
	second := f.claim(i, "a")
	if first.Reused || !second.Reused || second.Version.Version != first.Version.Version {
		f.Errorf("first %+v, second %+v", first, second)
	}
	other := upload("a")
	v := f.add(other)
	third := f.claim(i, "a")
	if v.Version != 2 || third.Reused || third.Version.Version != 3 {
		f.Errorf("after an upload as version %d, the claim is %+v", v.Version, third)
	}
	recorded, err := f.RecordImported(f.ctx, i, store.ImportRecord{Published: []store.ImportedVersion{importedVersion(third, "a")}})
	f.must(err)
	if diff := cmp.Diff(store.Recorded{Replaced: []knowledge.VersionRef{third.Version.VersionRef}}, recorded); diff != "" {
		f.Errorf("recorded (-want +got):\n%s", diff)
	}
}

// claimTakenOver lets a try of a batch that has stalled publish, or fail, what another try
// has claimed since, whose index entries may be gone.
func claimTakenOver(f *fixture) {
	i := f.imported("bucket")
	f.listPage(i, 0, listed("a", "1"), listed("b", "1"))
	first, whole := f.claim(i, "a"), f.claim(i, "b")
	second := f.claim(i, "a")
	failed := store.FailedObject{
		Key: "a", ETag: "1", Fingerprint: "f", Version: f.object(i, "a"), Claim: &first,
		Error: knowledge.DocumentError{Code: knowledge.CodeCorrupt, Stage: knowledge.StageExtract, Message: "it is broken"},
	}
	for name, late := range map[string]store.ImportRecord{
		"published": {Published: []store.ImportedVersion{importedVersion(whole, "b"), importedVersion(first, "a")}},
		"failed":    {Published: []store.ImportedVersion{importedVersion(whole, "b")}, Failed: []store.FailedObject{failed}},
	} {
		if recorded, err := f.RecordImported(f.ctx, i, late); !errors.Is(err, store.ErrClaimLost) || len(recorded.GivenUp) != 0 {
			f.Errorf("%s by an earlier claim: %+v, %v", name, recorded, err)
		}
	}
	f.wantCounts(i, knowledge.ImportCounts{Discovered: 2})
	if d := f.document(first.Version.Document); d.PublishedVersion != 0 || d.Status != knowledge.StatusPending {
		f.Errorf("document %+v", d)
	}
	_, err := f.RecordImported(f.ctx, i, store.ImportRecord{Published: []store.ImportedVersion{importedVersion(whole, "b"), importedVersion(second, "a")}})
	f.must(err)
	f.wantCounts(i, knowledge.ImportCounts{Discovered: 2, Published: 2, Bytes: 20})
	for _, late := range []store.ImportRecord{{Published: []store.ImportedVersion{importedVersion(first, "a")}}, {Failed: []store.FailedObject{failed}}} {
		recorded, err := f.RecordImported(f.ctx, i, late)
		f.must(err)
		if len(recorded.GivenUp) != 0 {
			f.Errorf("given up, though readers see it: %+v", recorded.GivenUp)
		}
	}
	f.wantCounts(i, knowledge.ImportCounts{Discovered: 2, Published: 2, Bytes: 20})
	if d := f.document(first.Version.Document); d.PublishedVersion != 1 || d.Status != knowledge.StatusPublished {
		f.Errorf("document %+v", d)
	}
}

// claimRetried lets an import whose run was ended publish a version that a retry of the
// document ingests by now.
func claimRetried(f *fixture) {
	i := f.imported("bucket")
	f.listPage(i, 0, listed("a", "1"))
	c := f.claim(i, "a")
	f.must(f.EndRun(f.ctx, i.Workspace, i.RunID, store.RunEnd{Kind: knowledge.KindImport, Status: knowledge.RunCanceled}))
	_, err := f.RetryVersion(f.ctx, manager("acme"), c.Version.Document, knowledge.NewID(), time.Now())
	f.must(err)
	if _, err := f.RecordImported(f.ctx, i, store.ImportRecord{Published: []store.ImportedVersion{importedVersion(c, "a")}}); !errors.Is(err, store.ErrClaimLost) {
		f.Errorf("recorded: %v", err)
	}
	if d := f.document(c.Version.Document); d.PublishedVersion != 0 || d.Status != knowledge.StatusPending {
		f.Errorf("document %+v", d)
	}
}

// claimGivenUp lets a late repetition of a batch claim and publish an object that has its
// outcome. The document is as it was.
func claimGivenUp(f *fixture) {
	i := f.imported("bucket")
	f.importObjects(i, "a")
	before := f.document(f.object(i, "a").DocumentID)
	late := f.claim(i, "a")
	for range 2 {
		recorded, err := f.RecordImported(f.ctx, i, store.ImportRecord{Published: []store.ImportedVersion{importedVersion(late, "a")}})
		f.must(err)
		if diff := cmp.Diff(store.Recorded{GivenUp: []knowledge.VersionRef{late.Version.VersionRef}}, recorded); diff != "" {
			f.Errorf("recorded (-want +got):\n%s", diff)
		}
		f.wantCounts(i, knowledge.ImportCounts{Discovered: 1, Published: 1, Bytes: 10})
		after := f.document(before.ID)
		if after.Status != knowledge.StatusPublished || after.PublishedVersion != 1 || after.Progress != 1 || after.Stage != before.Stage || after.Error != nil {
			f.Errorf("document %+v, before %+v", after, before)
		}
	}
}

func claimBlocksRemoval(f *fixture) {
	i := f.imported("bucket")
	f.listPage(i, 0, listed("a", "1"))
	c := f.claim(i, "a")
	_, err := f.MarkRemoving(f.ctx, manager("acme"), c.Version.Document, "removal", time.Now())
	f.must(err)
	running, err := f.RunningVersions(f.ctx, "acme", c.Version.Document, 1)
	f.must(err)
	claimed, err := f.HasClaim(f.ctx, "acme", c.Version.Document, 1)
	f.must(err)
	if len(running) != 0 || !claimed {
		f.Errorf("%d running versions, claimed %t", len(running), claimed)
	}
	if again := f.claim(i, "a"); again.Refused == nil || !again.Refused.Retryable {
		f.Errorf("a document that is being removed is claimed: %+v", again)
	}
	f.must(f.SetImportStatus(f.ctx, i.ImportRef, knowledge.ImportPaused))
	if claimed, err := f.HasClaim(f.ctx, "acme", c.Version.Document, 1); err != nil || claimed {
		f.Errorf("the claim of a paused import holds: %t, %v", claimed, err)
	}
	f.must(f.SetImportStatus(f.ctx, i.ImportRef, knowledge.ImportRunning))
	_, err = f.RecordImported(f.ctx, i, store.ImportRecord{Published: []store.ImportedVersion{importedVersion(c, "a")}})
	f.must(err)
	if claimed, err := f.HasClaim(f.ctx, "acme", c.Version.Document, 1); err != nil || claimed {
		f.Errorf("the claim is left: %t, %v", claimed, err)
	}
	f.wantCounts(i, knowledge.ImportCounts{Discovered: 1, Failed: 1})
}

func removedWhileImported(f *fixture) {
	i := f.imported("bucket")
	f.listPage(i, 0, listed("a", "1"))
	c := f.claim(i, "a")
	f.remove(manager("acme"), c.Version.Document)
	for range 2 {
		_, err := f.RecordImported(f.ctx, i, store.ImportRecord{Published: []store.ImportedVersion{importedVersion(c, "a")}})
		f.must(err)
	}
	f.wantCounts(i, knowledge.ImportCounts{Discovered: 1, Failed: 1})
	failures, _, err := f.ImportFailures(f.ctx, manager("acme"), i.Import, store.Page{})
	f.must(err)
	if len(failures) != 1 || !failures[0].Error.Retryable || failures[0].Error.Code != knowledge.CodeConflict {
		f.Errorf("failures %+v", failures)
	}
}

func claimLimit(f *fixture) {
	i := f.imported("bucket")
	f.publish(upload("a"), "one")
	claims, err := f.ClaimVersions(f.ctx, []store.NewVersion{f.object(i, "a"), f.object(i, "b"), f.object(i, "c")}, knowledge.LimitsConfig{Documents: 2})
	f.must(err)
	if claims[0].Refused != nil || claims[1].Refused != nil || claims[2].Refused == nil || claims[2].Refused.Code != knowledge.CodeLimitReached {
		f.Errorf("claims %+v", claims)
	}
}

func claimBytes(f *fixture) {
	i := f.imported("bucket")
	f.publish(upload("a"), "one") // of 100 bytes
	larger := f.object(i, "a")
	larger.Bytes = 150
	claims, err := f.ClaimVersions(f.ctx, []store.NewVersion{f.object(i, "b"), larger, f.object(i, "c")}, knowledge.LimitsConfig{Bytes: 250})
	f.must(err)
	if claims[0].Refused != nil || claims[1].Refused != nil || claims[2].Refused == nil || claims[2].Refused.Code != knowledge.CodeLimitReached {
		f.Errorf("claims %+v", claims)
	}
}

func endReleases(f *fixture) {
	i := f.imported("bucket")
	c := f.claim(i, "a")
	for range 2 {
		f.must(f.EndRun(f.ctx, i.Workspace, i.RunID, store.RunEnd{
			Kind: knowledge.KindImport, Status: knowledge.RunCanceled, Error: &knowledge.Failure{Code: knowledge.CodeCanceled, Message: "canceled on request"},
		}))
	}
	if d := f.document(c.Version.Document); d.Status != knowledge.StatusError || d.Error == nil || !d.Error.Retryable {
		f.Errorf("document %+v", d)
	}
	now, err := f.Import(f.ctx, manager("acme"), i.Import)
	f.must(err)
	if now.Status != knowledge.ImportCanceled || now.Error == nil || now.Error.Code != knowledge.CodeCanceled {
		f.Errorf("import %+v", now)
	}
	if run, err := f.Run(f.ctx, manager("acme"), i.RunID); err != nil || run.Status != knowledge.RunCanceled {
		f.Errorf("run %+v, %v", run, err)
	}
}
