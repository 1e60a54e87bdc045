package blob_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/cairn-rag/cairn/internal/blob"
)

// TestFullDisk writes more than a small tmpfs can hold, in place of a full disk.
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

// TestFullDiskAndSmallBlobs fills the disk up to the last byte and frees it again.
func TestFullDiskAndSmallBlobs(t *testing.T) {
	t.Parallel()
	disk := smallDisk(t)
	s := open(t, folderURL(filepath.Join(disk, "blobs")))
	for _, key := range []string{"w/k", "w/d/1", "w/d/2"} {
		if _, err := s.Put(t.Context(), key, []byte("first")); err != nil {
			t.Fatal(err)
		}
	}
	filler, err := os.Create(filepath.Join(disk, "filler"))
	if err != nil {
		t.Fatal(err)
	}
	defer filler.Close()
	for err == nil {
		_, err = filler.Write(make([]byte, 4096))
	}
	second := bytes.Repeat([]byte("second"), 10_000)
	for range 2 {
		if _, err := s.Put(t.Context(), "w/k", second); !errors.Is(err, blob.ErrNoSpace) {
			t.Fatalf("got error %v, want ErrNoSpace", err)
		}
		if got, err := s.Get(t.Context(), "w/k"); string(got) != "first" || err != nil {
			t.Errorf("got %d bytes, %v, want the old text", len(got), err)
		}
	}
	if err := s.Ping(t.Context()); err != nil {
		t.Error(err)
	}
	if err := os.Remove(filler.Name()); err != nil {
		t.Fatal(err)
	}
	if err := filler.Close(); err != nil { // now the space is free
		t.Fatal(err)
	}
	if _, err := s.Put(t.Context(), "w/k", second); err != nil {
		t.Fatal(err)
	}
	if got, err := s.Get(t.Context(), "w/k"); !bytes.Equal(got, second) || err != nil {
		t.Errorf("got %d bytes, %v, want the new text", len(got), err)
	}
	if n, err := s.DeletePrefix(t.Context(), "w/d/", nil); n != 2 || err != nil {
		t.Errorf("removed %d, %v, want 2", n, err)
	}
}

// smallDisk mounts a file system of 512 KB that ends with the test.
func smallDisk(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	if err := syscall.Mount("tmpfs", folder, "tmpfs", 0, "size=512k"); err != nil {
		lacking := "this test mounts a small tmpfs; run it as root: " + err.Error()
		if os.Getenv("CI") != "" {
			t.Fatal(lacking)
		}
		t.Skip(lacking)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(folder, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return folder
}
