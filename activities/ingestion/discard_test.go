package ingestion_test

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/activities/activitytest"
	"github.com/cairn-rag/cairn/activities/ingestion"
	"github.com/cairn-rag/cairn/activities/step"
	"github.com/cairn-rag/cairn/internal/blob"
	"github.com/cairn-rag/cairn/internal/index"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

func TestDiscardVersion(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		failure  knowledge.DocumentError
		canceled bool
		kept     bool // the blobs that a retry continues from
	}{
		"a version that was canceled leaves nothing but its original": {knowledge.DocumentError{Code: knowledge.CodeCanceled, Retryable: true}, true, false},
		"a version that is refused for good leaves as much":           {knowledge.DocumentError{Code: knowledge.CodeInvalid}, false, false},
		"a version that may be retried keeps its vectors, unseen":     {knowledge.DocumentError{Code: knowledge.CodeUnavailable, Retryable: true}, false, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			f.Publish(f.Upload("a.txt", twoParts(1)))
			in := f.Upload("a.txt", twoParts(2))
			publish := f.Embed(in, f.Prepare(in))
			f.IngestWith(func(d *ingestion.Dependencies) {
				d.Versions = interrupted{Versions: f.Store, beforePublish: func() error { return activitytest.ErrKilled }}
			})
			if _, err := do(f, f.Ingestion.PublishDocument, publish); err == nil {
				t.Fatal("published")
			}
			f.IngestWith(func(d *ingestion.Dependencies) { d.Versions = f.Store })
			f.Must(f.Store.FailVersion(f.Ctx, in.VersionRef, in.Run, tc.failure))
			f.Must(f.Store.PutChunksPart(f.Ctx, in.VersionRef, 0, f.Chunks(in)))
			before := f.Keys(blob.VersionPrefix(in.VersionRef))
			for range 2 {
				f.Must(act(f, f.Ingestion.DiscardVersion, ingestion.DiscardInput{StepInput: in, Canceled: tc.canceled}))
				counts, err := f.Index.Count(f.Ctx, "w", in.Document)
				f.Must(err)
				if diff := cmp.Diff(map[int]int{1: 2}, counts); diff != "" {
					t.Errorf("index entries: %s", diff)
				}
				if diff := cmp.Diff([]int{1, 1}, f.seen()); diff != "" {
					t.Errorf("readers see: %s", diff)
				}
				want := []string{}
				if tc.kept {
					want = before
				}
				if diff := cmp.Diff(want, f.Keys(blob.VersionPrefix(in.VersionRef))); diff != "" {
					t.Errorf("blobs: %s", diff)
				}
			}
			v, err := f.Store.Version(f.Ctx, in.VersionRef)
			f.Must(err)
			if there, err := f.Blobs.Exists(f.Ctx, v.SourceKey); err != nil || !there {
				t.Errorf("the original is there: %t, %v", there, err)
			}
		})
	}

	t.Run("a published version and one of a newer run keep everything", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		in := f.Upload("a.txt", twoParts(1))
		f.Publish(in)
		pending := f.Upload("b.txt", twoParts(1))
		f.Prepare(pending)
		for _, in := range []ingestion.StepInput{in, pending} {
			before := f.Keys(blob.VersionPrefix(in.VersionRef))
			f.Must(act(f, f.Ingestion.DiscardVersion, ingestion.DiscardInput{StepInput: in, Canceled: true}))
			if diff := cmp.Diff(before, f.Keys(blob.VersionPrefix(in.VersionRef))); diff != "" || len(before) == 0 {
				t.Errorf("version of %s: %s", in.Document, diff)
			}
		}
		if hits, err := f.Index.BM25(f.Ctx, index.Query{Principal: activitytest.Member(), Limit: 9}, "common"); err != nil || len(hits) != 2 {
			t.Errorf("%d hits, %v", len(hits), err)
		}
	})
}

// fullBlobs is a blob store on a full disk.
type fullBlobs struct{ step.Blobs }

func (fullBlobs) PutAll(context.Context, ...blob.Item) error { return blob.ErrNoSpace }

// TestFullDisk ends the run of a version on a full disk: the removal that frees the
// space waits for that end.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	in := f.Upload("a.txt", "text")
	finish := ingestion.FinishInput{
		StepInput: in, Status: "canceled", Error: &knowledge.DocumentError{Code: knowledge.CodeCanceled, Retryable: true}, Items: ended(t, 0),
	}
	f.IngestWith(func(d *ingestion.Dependencies) { d.Blobs = fullBlobs{f.Blobs} })
	f.FailedWith(act(f, f.Ingestion.FinishVersion, finish), knowledge.CodeUnavailable, true)
	f.Mark(in.Document)
	f.Must(act(f, f.Ingestion.FinishVersion, finish))
	run, err := f.Store.RunForSystem(f.Ctx, "w", in.Run)
	if f.Must(err); run.Status != knowledge.RunCanceled || run.LogKey != "" {
		t.Errorf("the run is %s, with the log %q", run.Status, run.LogKey)
	}
}
