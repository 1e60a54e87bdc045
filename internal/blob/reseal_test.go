package blob_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/cairn-rag/cairn/internal/blob"
	"github.com/cairn-rag/cairn/internal/blob/blobtest"
	"github.com/cairn-rag/cairn/internal/envelope/envelopetest"
)

func TestEncrypted(t *testing.T) {
	t.Parallel()
	for name, limit := range map[string]int{"files_only": -1, "rows_and_files": 3} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			blobtest.RunEncrypted(t, func(t *testing.T) *blob.Store {
				s := open(t, folderURL(t.TempDir())+"?sync=off").Encrypt(envelopetest.New(t))
				blob.SetSmallBytes(s, limit)
				return s
			})
		})
	}
	t.Run("memory", func(t *testing.T) {
		t.Parallel()
		blobtest.RunEncrypted(t, func(t *testing.T) *blob.Store { return open(t, "mem://").Encrypt(envelopetest.New(t)) })
	})
}

// marker is a text that must not be found in the files of an encrypted store.
func marker(i int) string { return fmt.Sprintf("marker-%04d-marker", i) }

// fillWithMarkers stores blobs with markers: rows, files and empty ones.
func fillWithMarkers(t *testing.T, s *blob.Store) map[string][]byte {
	t.Helper()
	all := map[string][]byte{"w/p/empty/1/text": {}}
	for i := range 200 {
		text := []byte(marker(i))
		if i%10 == 0 {
			text = bytes.Repeat(text, 10_000)
		}
		all[fmt.Sprintf("w/p/d%d/1/text", i)] = text
	}
	for key, data := range all {
		if _, err := s.Put(t.Context(), key, data); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// markersIn counts the markers that the files below a folder have.
func markersIn(t *testing.T, dir string) (found int) {
	t.Helper()
	var all []byte
	err := filepath.WalkDir(dir, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		all = append(all, data...)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 200 {
		if bytes.Contains(all, []byte(marker(i))) {
			found++
		}
	}
	return found
}

func wantAll(t *testing.T, s *blob.Store, all map[string][]byte) {
	t.Helper()
	for key, want := range all {
		if got, err := s.Get(t.Context(), key); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: %d bytes, %v; want %d", key, len(got), err, len(want))
		}
	}
}

func TestEncryptAFolderLater(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, folderURL(dir))
	all := fillWithMarkers(t, s)
	if n := markersIn(t, dir); n != 200 {
		t.Fatalf("%d markers are in the files of a store that is not encrypted", n)
	}
	old := time.Now().Add(-100 * time.Hour).Truncate(time.Second)
	if err := os.Chtimes(filepath.Join(dir, "w/p/d0/1/text"), old, old); err != nil {
		t.Fatal(err)
	}
	s.Encrypt(envelopetest.New(t))
	wantAll(t, s, all) // what is not encrypted stays readable
	sealed := 0
	interrupted := errors.New("killed")
	err := s.Reseal(t.Context(), "", func(_ string, changed bool) error {
		if changed {
			sealed++
		}
		if sealed == 50 {
			return interrupted
		}
		return nil
	})
	if !errors.Is(err, interrupted) {
		t.Fatal(err)
	}
	wantAll(t, s, all)
	if again := reseal(t, s); again != 201-50 {
		t.Errorf("%d blobs were encrypted after an interruption that left %d", again, 201-50)
	}
	if again := reseal(t, s); again != 0 {
		t.Errorf("%d blobs were encrypted twice", again)
	}
	wantAll(t, s, all)
	if n := markersIn(t, dir); n != 0 {
		t.Errorf("%d markers are left in the files", n)
	}
	if info, err := os.Stat(filepath.Join(dir, "w/p/d0/1/text")); err != nil || !info.ModTime().Equal(old) {
		t.Errorf("the time of a file became %v, %v; want %v", info.ModTime(), err, old)
	}
}

// reseal encrypts the blobs anew and returns how many were.
func reseal(t *testing.T, s *blob.Store) (sealed int) {
	t.Helper()
	err := s.Reseal(t.Context(), "", func(_ string, changed bool) error {
		if changed {
			sealed++
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return sealed
}

func TestResealBesideWritesAndRemovals(t *testing.T) {
	t.Parallel()
	for name, address := range map[string]string{"folder": folderURL(t.TempDir()) + "?sync=off", "memory": "mem://"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := open(t, address)
			all := fillWithMarkers(t, s)
			s.Encrypt(envelopetest.New(t))
			var working sync.WaitGroup
			working.Go(func() { reseal(t, s) })
			for i := range 200 {
				key := fmt.Sprintf("w/p/d%d/1/text", i)
				switch i % 3 {
				case 0:
					if _, err := s.DeletePrefix(t.Context(), fmt.Sprintf("w/p/d%d/", i), nil); err != nil {
						t.Error(err)
					}
					delete(all, key)
				case 1:
					all[key] = bytes.Repeat([]byte("new"), 1+i*i)
					if _, err := s.Put(t.Context(), key, all[key]); err != nil {
						t.Error(err)
					}
				}
			}
			working.Wait()
			reseal(t, s)
			wantAll(t, s, all)
			for i := 0; i < 200; i += 3 {
				if there, err := s.Exists(t.Context(), fmt.Sprintf("w/p/d%d/1/text", i)); there || err != nil {
					t.Errorf("blob %d was deleted and is there: %v", i, err)
				}
			}
		})
	}
}

// TestAReaderContinuesAfterReseal reads a blob on from the middle after it was encrypted, and
// encrypted again with another key.
func TestAReaderContinuesAfterReseal(t *testing.T) {
	t.Parallel()
	for name, address := range map[string]string{"folder": folderURL(t.TempDir()), "memory": "mem://"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := open(t, address)
			text := bytes.Repeat([]byte("0123456789"), 30_000)
			if _, err := s.Put(t.Context(), "w/p/d/1/text", text); err != nil {
				t.Fatal(err)
			}
			content, err := s.OpenContent(t.Context(), "w/p/d/1/text")
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = content.Close() }() // it was read only
			ring := envelopetest.New(t)
			s.Encrypt(ring)
			for _, offset := range []int64{150_001, 64 << 10, 7} {
				reseal(t, s)
				if _, err := content.Seek(offset, io.SeekStart); err != nil {
					t.Fatal(err)
				}
				got := make([]byte, 1000)
				if _, err := io.ReadFull(content, got); err != nil || !bytes.Equal(got, text[offset:offset+1000]) {
					t.Errorf("from %d on: %v, %.20q", offset, err, got)
				}
				if err := ring.Rotate(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}
