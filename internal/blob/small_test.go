package blob_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/blob"
)

func mustPut(t *testing.T, s *blob.Store, key string, data []byte) {
	t.Helper()
	if _, err := s.Put(t.Context(), key, data); err != nil {
		t.Fatal(err)
	}
}

func wantBytes(t *testing.T, s *blob.Store, key string, want []byte) {
	t.Helper()
	if got, err := s.Get(t.Context(), key); !bytes.Equal(got, want) || err != nil {
		t.Errorf("%s: got %d bytes, %v, want %d", key, len(got), err, len(want))
	}
}

func listed(t *testing.T, s *blob.Store, prefix string) map[string]int64 {
	t.Helper()
	sizes := map[string]int64{}
	for object, err := range s.List(t.Context(), prefix) {
		if err != nil {
			t.Fatal(err)
		}
		if _, twice := sizes[object.Key]; twice {
			t.Errorf("%s is listed twice", object.Key)
		}
		sizes[object.Key] = object.Bytes
	}
	return sizes
}

// writeFile writes the file of a blob behind the store's back.
func writeFile(t *testing.T, root, key string, data []byte) {
	t.Helper()
	path := filepath.Join(root, filepath.FromSlash(key))
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, data, 0o600)); err != nil {
		t.Fatal(err)
	}
}

func fileExists(t *testing.T, root, key string) bool {
	t.Helper()
	_, err := os.Stat(filepath.Join(root, filepath.FromSlash(key)))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return err == nil
}

// TestAFolderOfFiles opens a folder in which every blob is a file, as they were
// before there was a small file.
func TestAFolderOfFiles(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	for _, key := range []string{"w/p/d/1/text", "w/p/d/1/layout.json", "w/p/d/upload-1/original"} {
		writeFile(t, root, key, []byte("old "+key))
	}
	s := open(t, folderURL(root))
	want := map[string]int64{"w/p/d/1/text": 16, "w/p/d/1/layout.json": 23, "w/p/d/upload-1/original": 27}
	if diff := cmp.Diff(want, listed(t, s, "")); diff != "" {
		t.Error(diff)
	}
	wantBytes(t, s, "w/p/d/1/text", []byte("old w/p/d/1/text"))
	mustPut(t, s, "w/p/d/1/text", []byte("new"))
	wantBytes(t, s, "w/p/d/1/text", []byte("new"))
	if fileExists(t, root, "w/p/d/1/text") {
		t.Error("the replaced file is still there")
	}
	want["w/p/d/1/text"] = 3
	if diff := cmp.Diff(want, listed(t, s, "w/p/d/")); diff != "" {
		t.Error(diff)
	}
	if n, err := s.DeletePrefix(t.Context(), "w/p/d/", nil); n != 3 || err != nil {
		t.Errorf("removed %d, %v, want 3", n, err)
	}
}

// TestAFolderIsListedFromOutside lists the folder of a store that is open, and one
// that a kill left.
func TestAFolderIsListedFromOutside(t *testing.T) {
	t.Parallel()
	root, copied := filepath.Join(t.TempDir(), "with space & 100%?#"), t.TempDir()
	s := open(t, folderURL(root))
	mustPut(t, s, "w/p/d/1/text", []byte("text"))
	mustPut(t, s, "w/p/d/upload-1/original", large)
	if err := os.CopyFS(copied, os.DirFS(root)); err != nil {
		t.Fatal(err)
	}
	for _, folder := range []string{root, copied} {
		objects, err := blob.ListFolder(t.Context(), folder)
		if err != nil {
			t.Fatal(err)
		}
		sizes := map[string]int64{}
		for _, o := range objects {
			sizes[o.Key] = o.Bytes
			if age := time.Since(o.Modified); age < 0 || age > time.Minute {
				t.Errorf("%s is %s old", o.Key, age)
			}
		}
		if diff := cmp.Diff(map[string]int64{"w/p/d/1/text": 4, "w/p/d/upload-1/original": int64(len(large))}, sizes); diff != "" {
			t.Error(diff)
		}
	}
	if !fileExists(t, copied, "small.db-wal") {
		t.Error("the listing moved the log into the file")
	}
	if _, err := blob.ListFolder(t.Context(), t.TempDir()); err == nil {
		t.Error("a folder without a store was listed")
	}
}

// keyInBoth is the key of a blob that a kill left in both places.
const keyInBoth = "w/p/d/1/text"

// TestAKillBetweenTheTwoPlaces begins with what a kill leaves when a write stored
// its bytes in one place and did not remove the others yet: a row and a file.
func TestAKillBetweenTheTwoPlaces(t *testing.T) {
	t.Parallel()

	t.Run("a_small_write_removes_the_file", func(t *testing.T) {
		t.Parallel()
		s, root := leftInBoth(t)
		mustPut(t, s, keyInBoth, []byte("new"))
		wantInOnePlace(t, s, root, []byte("new"))
	})
	t.Run("a_large_write_removes_the_row", func(t *testing.T) {
		t.Parallel()
		s, root := leftInBoth(t)
		mustPut(t, s, keyInBoth, large[1:])
		wantInOnePlace(t, s, root, large[1:])
	})
	t.Run("the_start_of_a_process_removes_the_file", func(t *testing.T) {
		t.Parallel()
		s, root := leftInBoth(t)
		if n, err := s.SweepTemporary(t.Context(), time.Now()); n != 1 || err != nil {
			t.Errorf("swept %d, %v, want 1", n, err)
		}
		wantInOnePlace(t, s, root, []byte("row"))
	})
	t.Run("a_removal_takes_both", func(t *testing.T) {
		t.Parallel()
		s, root := leftInBoth(t)
		if err := s.Delete(t.Context(), keyInBoth); err != nil {
			t.Fatal(err)
		}
		wantInNoPlace(t, s, root)
	})
	t.Run("a_removal_of_the_prefix_takes_both", func(t *testing.T) {
		t.Parallel()
		s, root := leftInBoth(t)
		if n, err := s.DeletePrefix(t.Context(), "w/p/d/", nil); n != 1 || err != nil {
			t.Errorf("removed %d, %v, want 1", n, err)
		}
		wantInNoPlace(t, s, root)
	})
	t.Run("a_removal_that_keeps_the_blob_keeps_the_row", func(t *testing.T) {
		t.Parallel()
		s, root := leftInBoth(t)
		n, err := s.DeletePrefix(t.Context(), "w/p/d/", func(string, time.Time) bool { return true })
		if n != 0 || err != nil {
			t.Errorf("removed %d, %v, want none", n, err)
		}
		wantInOnePlace(t, s, root, []byte("row"))
	})
	t.Run("a_removal_that_fails_between_them_shows_no_old_bytes", func(t *testing.T) {
		t.Parallel()
		s, root := leftInBoth(t)
		broken := errors.New("killed")
		blob.SetBeforeCommit(s, func([]string) error { return broken })
		for range 2 {
			if err := s.Delete(t.Context(), keyInBoth); !errors.Is(err, broken) {
				t.Fatalf("got error %v, want the injected one", err)
			}
			wantInOnePlace(t, s, root, []byte("row"))
			if _, err := s.DeletePrefix(t.Context(), "w/", nil); !errors.Is(err, broken) {
				t.Fatalf("got error %v, want the injected one", err)
			}
			wantInOnePlace(t, s, root, []byte("row"))
			writeFile(t, root, keyInBoth, large)
		}
	})
	t.Run("a_large_write_that_fails_between_them_shows_the_old_bytes", func(t *testing.T) {
		t.Parallel()
		s, root := leftInBoth(t)
		broken := errors.New("killed")
		blob.SetBeforeCommit(s, func([]string) error { return broken })
		if _, err := s.Put(t.Context(), keyInBoth, large[1:]); !errors.Is(err, broken) {
			t.Fatalf("got error %v, want the injected one", err)
		}
		wantBytes(t, s, keyInBoth, []byte("row"))
		blob.SetBeforeCommit(s, func([]string) error { return nil })
		mustPut(t, s, keyInBoth, large[1:])
		wantInOnePlace(t, s, root, large[1:])
	})
}

func leftInBoth(t *testing.T) (*blob.Store, string) {
	root := t.TempDir()
	s := open(t, folderURL(root))
	mustPut(t, s, keyInBoth, []byte("row"))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	writeFile(t, root, keyInBoth, large)
	s = open(t, folderURL(root))
	wantBytes(t, s, keyInBoth, []byte("row"))
	if diff := cmp.Diff(map[string]int64{keyInBoth: 3}, listed(t, s, "w/")); diff != "" {
		t.Error(diff)
	}
	return s, root
}

func wantInOnePlace(t *testing.T, s *blob.Store, root string, want []byte) {
	t.Helper()
	wantBytes(t, s, keyInBoth, want)
	if diff := cmp.Diff(map[string]int64{keyInBoth: int64(len(want))}, listed(t, s, "w/")); diff != "" {
		t.Error(diff)
	}
	if fileExists(t, root, keyInBoth) != (len(want) > 64<<10) {
		t.Error("the blob is in both places")
	}
}

func wantInNoPlace(t *testing.T, s *blob.Store, root string) {
	t.Helper()
	if ok, err := s.Exists(t.Context(), keyInBoth); ok || err != nil || fileExists(t, root, keyInBoth) {
		t.Errorf("the blob is still there: %v", err)
	}
}

// words are what a removed document may not leave. Each blob of it holds its word
// many times.
const gone, stays = "xyloquartine", "zephyrmarble"

func scan(t *testing.T, root, word string) []string {
	t.Helper()
	var found []string
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if bytes.Contains(data, []byte(word)) {
			found = append(found, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// fill stores blobs of many sizes, of two documents beside each other, and
// overwrites some.
func fill(t *testing.T, s *blob.Store) {
	t.Helper()
	const seed = 1
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 2))
	var writers sync.WaitGroup
	for i := range 300 {
		repeat := 1 + random.IntN(1+random.IntN(2000)) // mostly short ones
		writers.Go(func() {
			for document, word := range map[string]string{"gone": gone, "stays": stays} {
				for _, n := range []int{repeat, repeat/2 + 1} {
					if _, err := s.Put(t.Context(), fmt.Sprintf("w/p/%s/1/%d", document, i%200), bytes.Repeat([]byte(word), n)); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	writers.Wait()
}

func TestRemovalLeavesNoByte(t *testing.T) {
	t.Parallel()
	t.Run("once_it_returned", func(t *testing.T) {
		t.Parallel()
		root := t.TempDir()
		s := open(t, folderURL(root))
		fill(t, s)
		if len(scan(t, root, gone)) == 0 {
			t.Fatal("the scan does not find a document that is there, so it proves nothing")
		}
		if n, err := s.DeletePrefix(t.Context(), "w/p/gone/", nil); n != 200 || err != nil {
			t.Fatalf("removed %d, %v, want 200", n, err)
		}
		if files := scan(t, root, gone); len(files) > 0 {
			t.Errorf("its words still stand in %v", files)
		}
		if got := listed(t, s, ""); len(got) != 200 {
			t.Errorf("%d blobs are left, want the 200 of the other document", len(got))
		}
		for key, size := range listed(t, s, "") {
			wantBytes(t, s, key, bytes.Repeat([]byte(stays), int(size)/len(stays)))
		}
	})
	t.Run("when_its_rows_were_deleted_before_a_kill", func(t *testing.T) {
		t.Parallel()
		root, copied := t.TempDir(), t.TempDir()
		s := open(t, folderURL(root))
		fill(t, s)
		for key := range listed(t, s, "w/p/gone/") {
			if err := s.Delete(t.Context(), key); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.CopyFS(copied, os.DirFS(root)); err != nil { // as a kill leaves it
			t.Fatal(err)
		}
		if len(scan(t, copied, gone)) == 0 {
			t.Fatal("the log was emptied already, so this proves nothing")
		}
		restarted := open(t, folderURL(copied))
		for folder, s := range map[string]*blob.Store{root: s, copied: restarted} {
			// The next removal takes them, although it finds no row.
			if n, err := s.DeletePrefix(t.Context(), "w/p/gone/", nil); n != 0 || err != nil {
				t.Fatalf("removed %d, %v, want none", n, err)
			}
			if files := scan(t, folder, gone); len(files) > 0 {
				t.Errorf("its words still stand in %v", files)
			}
		}
	})
}

func TestTheCacheIsNeverStale(t *testing.T) {
	t.Parallel()
	s := open(t, folderURL(t.TempDir()))
	mustPut(t, s, "w/k", []byte("0"))
	stop := make(chan struct{})
	var readers sync.WaitGroup
	for range 3 {
		readers.Go(func() {
			for last := 0; ; {
				data, err := s.Get(t.Context(), "w/k")
				n, parsed := strconv.Atoi(string(data))
				if err != nil || parsed != nil || n < last {
					t.Errorf("after %d a reader got %q, %v", last, data, err)
					return
				}
				last = n
				select {
				case <-stop:
					return
				default:
				}
			}
		})
	}
	for i := range 300 {
		data := []byte(strconv.Itoa(i))
		mustPut(t, s, "w/k", data)
		copy(data, "x") // the store has its own copy
		got, err := s.Get(t.Context(), "w/k")
		if string(got) != strconv.Itoa(i) || err != nil {
			t.Fatalf("got %q, %v after the write of %d", got, err, i)
		}
		copy(got, "x") // and so has the reader
	}
	close(stop)
	readers.Wait()
	if err := s.Delete(t.Context(), "w/k"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Get(t.Context(), "w/k"); !errors.Is(err, blob.ErrNotFound) {
		t.Errorf("got error %v after the removal, want ErrNotFound", err)
	}
}

func TestTheCacheIsBounded(t *testing.T) {
	t.Parallel()
	s := open(t, folderURL(t.TempDir())+"?sync=off")
	data := []byte(strings.Repeat("x", 60<<10))
	for i := range 200 { // 12 MB
		mustPut(t, s, fmt.Sprintf("w/%d", i%150), data)
	}
	if n, limit := blob.CachedBytes(s); n > limit || n < limit/2 {
		t.Errorf("the cache holds %d bytes, want up to %d", n, limit)
	}
	for i := range 150 {
		wantBytes(t, s, fmt.Sprintf("w/%d", i), data)
	}
	if _, err := s.DeletePrefix(t.Context(), "w/", nil); err == nil {
		if n, _ := blob.CachedBytes(s); n != 0 {
			t.Errorf("the cache holds %d bytes of removed blobs", n)
		}
	}
}
