package activities_test

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/activities"
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
			f.publish(f.upload("a.txt", twoParts(1)))
			in := f.upload("a.txt", twoParts(2))
			publish := f.embed(in, f.prepare(in))
			f.ingestion.Versions = interrupted{Versions: f.store, beforePublish: func() error { return errKilled }}
			if _, err := do(f, f.ingestion.PublishDocument, publish); err == nil {
				t.Fatal("published")
			}
			f.ingestion.Versions = f.store
			f.must(f.store.FailVersion(f.ctx, in.VersionRef, in.Run, tc.failure))
			f.must(f.store.PutChunksPart(f.ctx, in.VersionRef, 0, f.chunks(in)))
			before := f.keys(blob.VersionPrefix(in.VersionRef))
			for range 2 {
				f.must(step(f, f.ingestion.DiscardVersion, activities.DiscardInput{StepInput: in, Canceled: tc.canceled}))
				counts, err := f.index.Count(f.ctx, "w", in.Document)
				f.must(err)
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
				if diff := cmp.Diff(want, f.keys(blob.VersionPrefix(in.VersionRef))); diff != "" {
					t.Errorf("blobs: %s", diff)
				}
			}
			v, err := f.store.Version(f.ctx, in.VersionRef)
			f.must(err)
			if there, err := f.blobs.Exists(f.ctx, v.SourceKey); err != nil || !there {
				t.Errorf("the original is there: %t, %v", there, err)
			}
		})
	}

	t.Run("a published version and one of a newer run keep everything", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		in := f.upload("a.txt", twoParts(1))
		f.publish(in)
		pending := f.upload("b.txt", twoParts(1))
		f.prepare(pending)
		for _, in := range []activities.StepInput{in, pending} {
			before := f.keys(blob.VersionPrefix(in.VersionRef))
			f.must(step(f, f.ingestion.DiscardVersion, activities.DiscardInput{StepInput: in, Canceled: true}))
			if diff := cmp.Diff(before, f.keys(blob.VersionPrefix(in.VersionRef))); diff != "" || len(before) == 0 {
				t.Errorf("version of %s: %s", in.Document, diff)
			}
		}
		if hits, err := f.index.BM25(f.ctx, index.Query{Principal: member(), Limit: 9}, "common"); err != nil || len(hits) != 2 {
			t.Errorf("%d hits, %v", len(hits), err)
		}
	})
}

// fullBlobs is a blob store on a full disk.
type fullBlobs struct{ activities.Blobs }

func (fullBlobs) PutAll(context.Context, ...blob.Item) error { return blob.ErrNoSpace }

// TestFullDisk ends the run of a version on a full disk: the removal that frees the
// space waits for that end.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	in := f.upload("a.txt", "text")
	finish := activities.FinishInput{
		StepInput: in, Status: "canceled", Error: &knowledge.DocumentError{Code: knowledge.CodeCanceled, Retryable: true}, Items: ended(t, 0),
	}
	f.ingestion.Blobs = fullBlobs{f.blobs}
	f.failed(step(f, f.ingestion.FinishVersion, finish), knowledge.CodeUnavailable, true)
	f.mark(in.Document)
	f.must(step(f, f.ingestion.FinishVersion, finish))
	run, err := f.store.RunForSystem(f.ctx, "w", in.Run)
	if f.must(err); run.Status != knowledge.RunCanceled || run.LogKey != "" {
		t.Errorf("the run is %s, with the log %q", run.Status, run.LogKey)
	}
}
