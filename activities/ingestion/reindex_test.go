package ingestion_test

import (
	"errors"
	"testing"
	"time"

	"github.com/cairn-rag/cairn/activities/activitytest"
	"github.com/cairn-rag/cairn/activities/ingestion"
	"github.com/cairn-rag/cairn/activities/step"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/record"
	"github.com/cairn-rag/cairn/internal/store"
)

// publishOld publishes a document whose chunks have another size than the project's.
func (f *fixture) publishOld(name string, change ...func(*store.NewVersion)) store.Version {
	f.Helper()
	nv := store.NewVersion{
		Workspace: "w", Project: "p", DocumentID: knowledge.DocumentID("w", "p", name), ExternalID: name, Name: name,
		MediaType: "text/plain", Splitter: knowledge.Splitter{ChunkSize: 777}.WithDefaults(), RunID: knowledge.NewID(), Now: time.Now(),
	}
	nv.SourceKey = "w/p/" + nv.DocumentID + "/upload-" + nv.RunID
	for _, c := range change {
		c(&nv)
	}
	_, v, err := f.Store.AddVersion(f.Ctx, nv)
	if err == nil && v.SourceKey != "" {
		_, err = f.Blobs.Put(f.Ctx, v.SourceKey, []byte("text"))
	}
	if err == nil {
		_, err = f.Store.BeginVersion(f.Ctx, v.VersionRef, v.RunID, 0)
	}
	if err == nil {
		_, err = f.Store.Publish(f.Ctx, v.VersionRef)
	}
	if err != nil {
		f.Fatal(err)
	}
	return v
}

// TestStartVersions starts the versions of documents of which some cannot be made
// again, and repeats it.
func TestStartVersions(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	good := f.publishOld("good.txt")
	locked := f.publishOld("locked.txt", func(nv *store.NewVersion) { nv.SealedPassword = "sealed" })
	missing := f.publishOld("missing.txt", func(nv *store.NewVersion) { nv.SourceKey = "" })
	lost := f.publishOld("lost.txt")
	removing := f.publishOld("removing.txt")
	if err := f.Blobs.Delete(t.Context(), lost.SourceKey); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Store.MarkRemoving(t.Context(), activitytest.Manager(), removing.Document, knowledge.NewID(), time.Now()); err != nil {
		t.Fatal(err)
	}
	want := map[string]knowledge.Code{
		locked.Document: knowledge.CodeEncrypted, missing.Document: knowledge.CodeConflict,
		lost.Document: knowledge.CodeConflict, removing.Document: knowledge.CodeConflict,
	}
	run, err := f.Store.StartReindex(t.Context(), activitytest.Manager(), "p", knowledge.NewID(), knowledge.ProjectConfig{})
	if err != nil {
		t.Fatal(err)
	}
	in := ingestion.StartVersionsInput{RunRef: knowledge.RunRef{Workspace: "w", Project: "p", Run: run.ID}, Limit: 10}
	for range 2 { // a repetition starts nothing again
		result, err := do(f, f.Ingestion.StartVersions, in)
		if err != nil {
			t.Fatal(err)
		}
		if result.After != "" || result.Refused != len(want) || len(result.Refusals) != len(want) {
			t.Errorf("result %+v", result)
		}
		for _, r := range result.Refusals {
			if r.Code != want[r.ID] || r.Message == "" {
				t.Errorf("refused %+v, want %s", r, want[r.ID])
			}
		}
	}
	if len(f.Workflows.Ingests) != 1 || f.Workflows.Ingests[0].Document != good.Document || f.Workflows.Ingests[0].Version != 2 {
		t.Errorf("started %+v", f.Workflows.Ingests)
	}
	p, err := do(f, f.Ingestion.NoteReindex, ingestion.ReindexState{RunRef: in.RunRef, Refused: len(want), Seconds: 1})
	if err != nil || p.Matched != 5 || p.Started != 1 || p.Pending() != 1 || p.Refused != 4 {
		t.Errorf("progress %+v, %v", p, err)
	}
	end := ingestion.FinishReindexInput{ReindexState: ingestion.ReindexState{RunRef: in.RunRef}, Items: record.Ending{Kind: knowledge.KindReindex}.Items(0)}
	for range 2 {
		if err := f.Ingestion.FinishReindex(t.Context(), end); err != nil {
			t.Fatal(err)
		}
	}
	ended, err := f.Store.RunForSystem(t.Context(), "w", run.ID)
	if err != nil || ended.Status != knowledge.RunCompleted || ended.LogKey == "" {
		t.Errorf("the run is %+v, %v", ended, err)
	}
}

func TestStartVersionsOfAProjectThatIsGone(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	in := ingestion.StartVersionsInput{RunRef: knowledge.RunRef{Workspace: "w", Project: "gone", Run: "r"}, Limit: 10}
	_, err := do(f, f.Ingestion.StartVersions, in)
	if failure := step.Describe(errors.Unwrap(err), knowledge.Failure{}); err == nil || failure.Retryable {
		t.Errorf("error %v, %+v", err, failure)
	}
}
