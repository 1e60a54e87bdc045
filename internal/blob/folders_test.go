package blob_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/blob"
)

// large is text that is stored as a file.
var large = []byte(strings.Repeat("large ", 20_000))

// syncs records which folders below a root were synced, as paths relative to it.
type syncs struct {
	root    string
	folders []string
	err     error
}

func (s *syncs) sync(folder string) error {
	if _, err := os.Stat(folder); err != nil {
		return err
	}
	name, err := filepath.Rel(s.root, folder)
	s.folders = append(s.folders, name)
	return errors.Join(err, s.err)
}

func (s *syncs) take() []string {
	taken := s.folders
	s.folders = nil
	return taken
}

func (s *syncs) open(t *testing.T, folder, query string) *blob.Store {
	t.Helper()
	store, err := blob.OpenFolder(folderURL(filepath.Join(s.root, folder))+query, s.sync)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	return store
}

func TestFoldersAreSynced(t *testing.T) {
	t.Parallel()
	t.Run("up_to_the_first_that_was_there_when_the_root_is_made", func(t *testing.T) {
		t.Parallel()
		s := &syncs{root: t.TempDir()}
		s.open(t, "data/blobs", "")
		wantSynced(t, s, "data", ".", "data/blobs")
		s.open(t, "data/blobs", "")
		wantSynced(t, s, "data/blobs")
	})
	t.Run("up_to_the_root_before_a_write_returns", func(t *testing.T) {
		t.Parallel()
		s := &syncs{root: t.TempDir()}
		store := s.open(t, ".", "")
		s.take()
		write := func(key string) {
			t.Helper()
			if _, err := store.Put(t.Context(), key, large); err != nil {
				t.Fatal(err)
			}
		}
		write("w/p/d/original")
		wantSynced(t, s, "w/p", "w", ".", "w/p/d")
		write("w/p/d/original")
		wantSynced(t, s, "w/p/d")
		write("w/p/d/1/text")
		wantSynced(t, s, "w/p/d", "w/p/d/1")

		if _, err := store.DeletePrefix(t.Context(), "w/p/d/", nil); err != nil {
			t.Fatal(err)
		}
		wantSynced(t, s, "w/p")
		write("w/p/d/1/text") // the folders are new ones
		wantSynced(t, s, "w/p/d", "w/p", "w/p/d/1")
	})
	t.Run("or_the_write_fails", func(t *testing.T) {
		t.Parallel()
		s := &syncs{root: t.TempDir()}
		store := s.open(t, ".", "")
		s.take()
		s.err = errors.New("the disk does not answer")
		if _, err := store.Put(t.Context(), "w/p/d/original", large); !errors.Is(err, s.err) {
			t.Fatalf("got error %v, want the disk's", err)
		}
		if ok, err := store.Exists(t.Context(), "w/p/d/original"); ok || err != nil {
			t.Errorf("a write that failed is there: %v", err)
		}
		s.err = nil
		s.take()
		if _, err := store.Put(t.Context(), "w/p/d/original", large); err != nil {
			t.Fatal(err)
		}
		wantSynced(t, s, "w/p", "w", ".", "w/p/d")
	})
	t.Run("not_at_all_with_sync_off", func(t *testing.T) {
		t.Parallel()
		s := &syncs{root: t.TempDir()}
		store := s.open(t, "data/blobs", "?sync=off")
		if _, err := store.Put(t.Context(), "w/p/d/original", large); err != nil {
			t.Fatal(err)
		}
		wantSynced(t, s)
	})
}

func wantSynced(t *testing.T, s *syncs, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, s.take()); diff != "" {
		t.Errorf("synced folders: %s", diff)
	}
}
