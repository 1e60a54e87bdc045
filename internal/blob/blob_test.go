package blob_test

import (
	"errors"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/blob"
	"github.com/cairn-rag/cairn/internal/blob/blobtest"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

func open(t testing.TB, address string) *blob.Store {
	t.Helper()
	s, err := blob.Open(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() }) // some tests close it before
	return s
}

func folderURL(dir string) string {
	return (&url.URL{Scheme: "file", Path: filepath.ToSlash(dir)}).String()
}

func TestFolder(t *testing.T) {
	t.Parallel()
	blobtest.Run(t, func(t *testing.T) *blob.Store {
		return open(t, folderURL(filepath.Join(t.TempDir(), "with space & 100%?#", "blobs")))
	})
}

func TestFolderWithoutSync(t *testing.T) {
	t.Parallel()
	blobtest.Run(t, func(t *testing.T) *blob.Store {
		return open(t, folderURL(t.TempDir())+"?sync=off")
	})
}

// TestFolderBySize runs the contract with other limits for rows, so that all its
// blobs are files, or so that most cases have both.
func TestFolderBySize(t *testing.T) {
	t.Parallel()
	for name, limit := range map[string]int{"files_only": -1, "rows_and_files": 3} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			blobtest.Run(t, func(t *testing.T) *blob.Store {
				s := open(t, folderURL(t.TempDir())+"?sync=off")
				blob.SetSmallBytes(s, limit)
				return s
			})
		})
	}
}

func TestMemory(t *testing.T) {
	t.Parallel()
	blobtest.Run(t, func(t *testing.T) *blob.Store { return open(t, "mem://") })
}

func TestFolderKeepsNothingBesideTheBytes(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "blobs")
	s := open(t, folderURL(dir))
	for key, data := range map[string][]byte{"w/p/d/1/text": large, "w/p/d/1/note": []byte("small")} {
		if _, err := s.Put(t.Context(), key, data); err != nil {
			t.Fatal(err)
		}
	}
	var files []string
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		if entry.IsDir() && info.Mode().Perm() != 0o700 {
			t.Errorf("folder %s has mode %o, want 700", path, info.Mode().Perm())
		}
		if entry.IsDir() {
			return nil
		}
		files = append(files, entry.Name())
		if strings.HasPrefix(entry.Name(), "small.db") && info.Mode().Perm() != 0o600 {
			t.Errorf("file %s has mode %o, want 600", path, info.Mode().Perm())
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"small.db", "small.db-shm", "small.db-wal", "text"}, files); diff != "" {
		t.Error(diff)
	}
	if _, err := s.DeletePrefix(t.Context(), "w/p/d/", nil); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "w", "p", "d")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the folder of a removed document is still there: %v", err)
	}
	if _, err := os.Stat(dir); err != nil {
		t.Errorf("the store's own folder: %v", err)
	}
}

func TestUnfinishedWrites(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, folderURL(dir))
	for _, key := range []string{"w/p/d/1/text", "w/p/e/1/text"} {
		if _, err := s.Put(t.Context(), key, large); err != nil {
			t.Fatal(err)
		}
		// A kill in the middle of a second write leaves such a file.
		stray := filepath.Join(dir, filepath.FromSlash(key)+".18a3f0c2d4e5f601.tmp")
		if err := os.WriteFile(stray, []byte("half"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for object, err := range s.List(t.Context(), "") {
		if err != nil || strings.HasSuffix(object.Key, ".tmp") {
			t.Errorf("listed %s, %v", object.Key, err)
		}
	}
	if n, err := s.DeletePrefix(t.Context(), "w/p/d/", nil); n != 2 || err != nil {
		t.Errorf("removed %d, %v, want the text and the unfinished write", n, err)
	}
	if n, err := s.SweepTemporary(t.Context(), time.Now().Add(-time.Hour)); n != 0 || err != nil {
		t.Errorf("swept %d, %v: a recent write may not have finished", n, err)
	}
	if n, err := s.SweepTemporary(t.Context(), time.Now().Add(time.Hour)); n != 1 || err != nil {
		t.Errorf("swept %d, %v, want 1", n, err)
	}
	if ok, err := s.Exists(t.Context(), "w/p/e/1/text"); !ok || err != nil {
		t.Errorf("the finished write is gone: %v", err)
	}
}

func TestAFolderIsListedAsItIsRead(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, folderURL(dir))
	for _, key := range []string{"a/text", "b../text", "c/text"} {
		if _, err := s.Put(t.Context(), key, large); err != nil {
			t.Fatal(err)
		}
	}
	var keys []string
	for object, err := range s.List(t.Context(), "") {
		if err != nil {
			t.Fatal(err)
		}
		keys = append(keys, object.Key)
		if err := os.RemoveAll(filepath.Join(dir, "c")); err != nil { // the walk has not reached it
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff([]string{"a/text", "b../text"}, keys); diff != "" {
		t.Error(diff)
	}
}

func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	for _, url := range []string{"", "blobs", "s3://bucket", "file://host/dir", "file://", "file:///x?create_dir=1", "file:///x%zz"} {
		if s, err := blob.Open(t.Context(), url); err == nil {
			t.Errorf("%q was opened as %v", url, s)
		}
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := blob.Open(t.Context(), folderURL(file)); err == nil {
		t.Error("a file was opened as a folder")
	}
}

func TestPingMissesTheFolder(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "blobs")
	s := open(t, folderURL(dir))
	if err := s.Ping(t.Context()); err != nil {
		t.Error(err)
	}
	if err := os.Remove(filepath.Join(dir, "small.db")); err != nil {
		t.Fatal(err)
	}
	if err := s.Ping(t.Context()); err == nil {
		t.Error("a store without its small file answers")
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if err := s.Ping(t.Context()); err == nil {
		t.Error("a store without its folder answers")
	}
}

func TestKeys(t *testing.T) {
	t.Parallel()
	v := knowledge.VersionRef{Workspace: "w", Project: "p", Document: "d", Version: 3}
	for got, want := range map[string]string{
		blob.DocumentPrefix("w", "p", "d"):  "w/p/d/",
		blob.VersionPrefix(v):               "w/p/d/3/",
		blob.StepKey(v, "layout.json"):      "w/p/d/3/layout.json",
		blob.UploadKey("w", "p", "d", "u1"): "w/p/d/upload-u1/original",
	} {
		if got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}
