package worker_test

import (
	"context"
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/blob"
	"github.com/cairn-rag/cairn/worker"
)

// sources is a store whose versions name these originals.
type sources []string

func (s sources) NamedSources(context.Context, []string) ([]string, error) { return s, nil }

func TestUploads(t *testing.T) {
	t.Parallel()
	blobs, err := blob.Open(t.Context(), "mem://")
	if err != nil {
		t.Fatal(err)
	}
	put := func(key string) string {
		if _, err := blobs.Put(t.Context(), key, []byte("x")); err != nil {
			t.Fatal(err)
		}
		return key
	}
	named, step := put(blob.UploadKey("w", "p", "d", "1")), put("w/p/d/1/text")
	transcript := put(blob.BesideUpload(named, blob.Transcript))
	put(blob.BesideUpload(put(blob.UploadKey("w", "p", "d", "2")), blob.Transcript))
	put(blob.UploadKey("w", "p", "e", "3"))
	uploads := worker.Uploads{Store: sources{named}, Blobs: blobs, Log: slog.New(slog.DiscardHandler)}
	keys := func() []string {
		var list []string
		for object, err := range blobs.List(t.Context(), "") {
			if err != nil {
				t.Fatal(err)
			}
			list = append(list, object.Key)
		}
		slices.Sort(list)
		return list
	}
	uploads.Drop(t.Context(), time.Now().Add(-time.Hour))
	if n := len(keys()); n != 6 {
		t.Errorf("%d are left while all may be under way", n)
	}
	uploads.Drop(t.Context(), time.Now().Add(time.Hour))
	if diff := cmp.Diff([]string{step, named, transcript}, keys()); diff != "" {
		t.Error(diff)
	}
}
