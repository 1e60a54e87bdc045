package blob_test

import (
	"bytes"
	"errors"
	"sync/atomic"
	"testing"

	"github.com/cairn-rag/cairn/internal/blob"
)

// TestSharedFolder opens a folder twice, as two processes do.
func TestSharedFolder(t *testing.T) {
	t.Parallel()
	address := "file://" + t.TempDir()
	var joined atomic.Bool
	open := func() *blob.Store {
		s, err := blob.Open(t.Context(), address, blob.SharedIf(joined.Load))
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
	put := func(s *blob.Store, data []byte) {
		t.Helper()
		if _, err := s.Put(t.Context(), "w/p/d/1/step", data); err != nil {
			t.Fatal(err)
		}
	}
	want := func(s *blob.Store, data []byte) {
		t.Helper()
		if got, err := s.Get(t.Context(), "w/p/d/1/step"); err != nil || !bytes.Equal(got, data) {
			t.Errorf("got %d bytes, %v; want %d", len(got), err, len(data))
		}
	}
	first := open()
	put(first, []byte("old"))
	want(first, []byte("old"))

	joined.Store(true) // another process joins
	second := open()
	want(second, []byte("old"))
	put(second, []byte("newer"))
	want(first, []byte("newer"))
	large := bytes.Repeat([]byte("large"), 50_000)
	put(second, large)
	want(first, large)
	put(first, []byte("small again"))
	want(second, []byte("small again"))
	if _, err := second.DeletePrefix(t.Context(), "w/p/d/1/", nil); err != nil {
		t.Fatal(err)
	}
	if got, err := first.Get(t.Context(), "w/p/d/1/step"); !errors.Is(err, blob.ErrNotFound) {
		t.Errorf("after the removal by the other process: %q, %v", got, err)
	}
}
