package blobtest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"time"

	"github.com/cairn-rag/cairn/internal/blob"
)

func brokenUpload(t *testing.T, s *blob.Store) {
	gone := errors.New("the client went away")
	r := io.MultiReader(strings.NewReader(strings.Repeat("x", 1<<20)), iotest.ErrReader(gone))
	if _, err := s.PutReader(t.Context(), "w/p/d/upload-1/original", r); !errors.Is(err, gone) {
		t.Fatalf("got error %v, want the reader's", err)
	}
	wantMissing(t, s, "w/p/d/upload-1/original")
	if n, err := s.DeletePrefix(t.Context(), "w/", nil); n != 0 || err != nil {
		t.Errorf("removed %d, %v: something was left", n, err)
	}
}

func brokenOverwrite(t *testing.T, s *blob.Store) {
	put(t, s, "a/b", "first")
	r := io.MultiReader(strings.NewReader("sec"), iotest.ErrReader(io.ErrUnexpectedEOF))
	if _, err := s.PutReader(t.Context(), "a/b", r); err == nil {
		t.Fatal("a broken upload was taken")
	}
	wantText(t, s, "a/b", "first")
}

func cancelled(t *testing.T, s *blob.Store) {
	ctx, cancel := context.WithCancel(t.Context())
	r := io.MultiReader(strings.NewReader("some"), readerFunc(func([]byte) (int, error) {
		cancel()
		return 0, io.EOF
	}))
	if _, err := s.PutReader(ctx, "a/b", r); !errors.Is(err, context.Canceled) {
		t.Fatalf("got error %v, want canceled", err)
	}
	wantMissing(t, s, "a/b")
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

func allOrNothing(t *testing.T, s *blob.Store) {
	texts := []string{strings.Repeat("a", 70_000), "small", strings.Repeat("b", 150_000), ""}
	put(t, s, "k", texts[0])
	var writers sync.WaitGroup
	stop := make(chan struct{})
	writers.Go(func() {
		defer close(stop)
		for i := range 200 {
			if _, err := s.Put(t.Context(), "k", []byte(texts[i%4])); err != nil {
				t.Errorf("put: %v", err)
			}
		}
	})
	for done := false; !done; {
		select {
		case <-stop:
			done = true
		default:
		}
		got, err := s.Get(t.Context(), "k")
		if err != nil || !slices.Contains(texts, string(got)) {
			t.Errorf("a reader saw %d bytes, %v", len(got), err)
			break
		}
		if ok, err := s.Exists(t.Context(), "k"); !ok || err != nil {
			t.Errorf("a blob that is overwritten does not exist: %v", err)
			break
		}
	}
	writers.Wait()
}

// resizes overwrites a blob with others that a store may keep in another place.
func resizes(t *testing.T, s *blob.Store, takes stored) {
	texts := []string{"", strings.Repeat("a", 70_000), "abc", "abcd", strings.Repeat("b", 64<<10), strings.Repeat("c", 64<<10+1), "x"}
	for _, text := range append(texts, texts...) {
		put(t, s, "w/k", text)
		wantText(t, s, "w/k", text)
		var sizes []int64
		for object, err := range s.List(t.Context(), "w/") {
			if err != nil {
				t.Fatal(err)
			}
			sizes = append(sizes, object.Bytes)
		}
		if len(sizes) != 1 || !takes(sizes[0], int64(len(text))) {
			t.Errorf("a blob of %d bytes is listed with %v", len(text), sizes)
		}
	}
	if n, err := s.DeletePrefix(t.Context(), "w/", nil); n != 1 || err != nil {
		t.Errorf("removed %d, %v, want 1", n, err)
	}
	wantMissing(t, s, "w/k")
}

// concurrentWriters writes one blob from several goroutines, with texts that a
// store may keep in different places.
func concurrentWriters(t *testing.T, s *blob.Store) {
	texts := []string{"small", strings.Repeat("a", 70_000), "other", strings.Repeat("b", 80_000)}
	for range 20 {
		var writers sync.WaitGroup
		for _, text := range texts {
			writers.Go(func() {
				if _, err := s.Put(t.Context(), "w/k", []byte(text)); err != nil {
					t.Errorf("put: %v", err)
				}
			})
		}
		writers.Wait()
		if got, err := s.Get(t.Context(), "w/k"); err != nil || !slices.Contains(texts, string(got)) {
			t.Fatalf("got %d bytes, %v, want one of the texts", len(got), err)
		}
		if got := keys(t, s, "w/"); len(got) != 1 {
			t.Fatalf("got keys %v, want one", got)
		}
		if err := s.Delete(t.Context(), "w/k"); err != nil {
			t.Fatal(err)
		}
		wantMissing(t, s, "w/k")
	}
}

func writesDuringRemoval(t *testing.T, s *blob.Store) {
	var writers sync.WaitGroup
	writers.Go(func() {
		for i := range 200 {
			key := fmt.Sprintf("w/p/d%d/new/text", i%3)
			if _, err := s.Put(t.Context(), key, []byte("x")); err != nil {
				t.Errorf("put: %v", err)
			}
		}
	})
	keep := func(key string, _ time.Time) bool { return strings.Contains(key, "/new/") }
	for range 200 {
		if _, err := s.DeletePrefix(t.Context(), "w/p/", keep); err != nil {
			t.Errorf("delete prefix: %v", err)
		}
	}
	writers.Wait()
	if got := keys(t, s, "w/p/"); len(got) != 3 {
		t.Errorf("got %v, want three", got)
	}
}
