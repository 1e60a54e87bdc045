package worker_test

import (
	"context"
	"iter"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/blob"
	"github.com/cairn-rag/cairn/internal/store"
	"github.com/cairn-rag/cairn/worker"
)

// sources is a store whose versions name these originals. Nobody has walked today.
type sources []string

func (s sources) NamedSources(context.Context, []string) ([]string, error) { return s, nil }

func (sources) TakeLostUploads(context.Context, time.Time, int) ([]store.Upload, error) {
	return nil, nil
}

func (sources) EndUpload(context.Context, string) error { return nil }

func (sources) DailyTurn(context.Context, string) (bool, error) { return true, nil }

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
	keys := func() []string { return keysOf(t, blobs) }
	uploads.Drop(t.Context(), time.Now().Add(-time.Hour))
	if n := len(keys()); n != 6 {
		t.Errorf("%d are left while all may be under way", n)
	}
	uploads.Drop(t.Context(), time.Now().Add(time.Hour))
	if diff := cmp.Diff([]string{step, named, transcript}, keys()); diff != "" {
		t.Error(diff)
	}
}

// keysOf returns the keys of all blobs.
func keysOf(t *testing.T, blobs *blob.Store) []string {
	t.Helper()
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

// unlisted is a blob store that lists no more than the folder of an upload.
type unlisted struct {
	*blob.Store
	t *testing.T
}

// List implements the blobs of worker.Uploads.
func (u unlisted) List(ctx context.Context, prefix string) iter.Seq2[blob.Object, error] {
	if !strings.Contains(prefix, "/upload-") {
		u.t.Errorf("a walk through %q", prefix)
	}
	return u.Store.List(ctx, prefix)
}

// TestUploadsOfOtherProcesses sweeps beside a process that uploads now, and one that died
// an hour ago.
func TestUploadsOfOtherProcesses(t *testing.T) {
	t.Parallel()
	url := "sqlite://" + t.TempDir() + "/cairn.db"
	open := func(ago time.Duration) *store.Store {
		s, err := store.Open(t.Context(), store.Config{URL: url, Clock: func() time.Time { return time.Now().Add(-ago) }})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
		return s
	}
	here, alive, dead := open(0), open(0), open(time.Hour)
	blobs, err := blob.Open(t.Context(), "mem://")
	if err != nil {
		t.Fatal(err)
	}
	put := func(key string) {
		if _, err := blobs.Put(t.Context(), key, []byte("x")); err != nil {
			t.Fatal(err)
		}
	}
	upload := func(s *store.Store, id string) string {
		key := blob.UploadKey("w", "p", "d", id)
		if err := s.BeginUpload(t.Context(), store.Upload{SourceKey: key, Document: "d"}); err != nil {
			t.Fatal(err)
		}
		put(key)
		return key
	}
	running, small := upload(alive, "running"), blob.UploadKey("w", "p", "d", "small")
	put(small)
	uploads := worker.Uploads{Store: here, Blobs: blobs, Log: slog.New(slog.DiscardHandler)}
	sweep := func(what string, want ...string) {
		t.Helper()
		if err := uploads.Once(t.Context()); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, keysOf(t, blobs)); diff != "" {
			t.Errorf("%s: %s", what, diff)
		}
	}
	sweep("the first sweep of the day walks", running, small)
	put(blob.BesideUpload(upload(dead, "lost"), blob.Transcript))
	uploads.Blobs = unlisted{blobs, t}
	sweep("the next one does not", running, small)
	uploads.Drop(t.Context(), time.Now().Add(time.Second)) // as if it had died
	if diff := cmp.Diff([]string{small}, keysOf(t, blobs)); diff != "" {
		t.Errorf("the start of a process that is alone: %s", diff)
	}
	if lost, err := here.TakeLostUploads(t.Context(), time.Now().Add(time.Hour), 10); err != nil || len(lost) != 0 {
		t.Errorf("left %v, %v", lost, err)
	}
}
