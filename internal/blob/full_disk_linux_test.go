package blob_test

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/cairn-rag/cairn/internal/blob"
)

// TestFullDisk writes more than a small tmpfs, which stands for a full disk, can
// hold.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	s := open(t, folderURL(filepath.Join(smallDisk(t), "blobs")))
	if _, err := s.Put(t.Context(), "a/b", []byte("first")); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Put(t.Context(), "a/b", make([]byte, 4<<20)); !errors.Is(err, blob.ErrNoSpace) {
		t.Fatalf("got error %v, want ErrNoSpace", err)
	}
	if got, err := s.Get(t.Context(), "a/b"); string(got) != "first" || err != nil {
		t.Errorf("got %q, %v", got, err)
	}
	if n, err := s.DeletePrefix(t.Context(), "a/", nil); n != 1 || err != nil {
		t.Errorf("removed %d, %v, want only the first text", n, err)
	}
}

// smallDisk mounts a file system of 512 KB that ends with the test.
func smallDisk(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	if err := syscall.Mount("tmpfs", folder, "tmpfs", 0, "size=512k"); err != nil {
		what := "this test mounts a small tmpfs; run it as root: " + err.Error()
		if os.Getenv("CI") != "" {
			t.Fatal(what)
		}
		t.Skip(what)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(folder, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return folder
}
