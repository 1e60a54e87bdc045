package blobtest

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/blob"
)

// Run checks that a kind of store keeps the contract. open returns an empty store,
// which Run closes.
func Run(t *testing.T, open func(t *testing.T) *blob.Store) {
	t.Helper()
	run(t, open, func(listed, plain int64) bool { return listed == plain })
}

// RunEncrypted is Run for a store that encrypts its blobs: they take more bytes than they have.
func RunEncrypted(t *testing.T, open func(t *testing.T) *blob.Store) {
	t.Helper()
	run(t, open, func(listed, plain int64) bool { return listed > plain && listed < plain+200+plain/1000 })
}

// stored reports whether a blob of plain bytes may be listed with so many.
type stored func(listed, plain int64) bool

func run(t *testing.T, open func(t *testing.T) *blob.Store, takes stored) {
	t.Helper()
	sized := func(check func(*testing.T, *blob.Store, stored)) func(*testing.T, *blob.Store) {
		return func(t *testing.T, s *blob.Store) { check(t, s, takes) }
	}
	cases := map[string]func(*testing.T, *blob.Store){
		"returns_the_bytes_that_were_put":           returnsBytes,
		"names_what_it_stored_by_hash_and_size":     namesContent,
		"overwrites":                                overwrites,
		"overwrites_with_another_size":              sized(resizes),
		"keeps_one_text_of_concurrent_writers":      concurrentWriters,
		"returns_not_found_for_a_missing_key":       returnsNotFound,
		"stores_several_blobs":                      putsAll,
		"streams":                                   streams,
		"reads_from_any_place":                      readsFromAnyPlace,
		"stores_large_blobs":                        large,
		"leaves_nothing_of_a_broken_upload":         brokenUpload,
		"keeps_the_old_bytes_after_a_broken_upload": brokenOverwrite,
		"stores_nothing_once_the_context_is_done":   cancelled,
		"lists_a_prefix_and_no_neighbour":           sized(lists),
		"lists_more_than_a_page":                    listsMany,
		"deletes_a_prefix_except_for_kept_blobs":    deletesPrefix,
		"deletes_a_missing_blob_without_an_error":   deletesMissing,
		"refuses_bad_keys":                          refusesKeys,
		"shows_a_reader_all_or_nothing":             allOrNothing,
		"accepts_writes_during_a_prefix_removal":    writesDuringRemoval,
		"answers_a_ping":                            answersPing,
	}
	for name, check := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := open(t)
			t.Cleanup(func() { _ = s.Close() })
			check(t, s)
		})
	}
}

func put(t *testing.T, s *blob.Store, key, text string) blob.Ref {
	t.Helper()
	ref, err := s.Put(t.Context(), key, []byte(text))
	if err != nil {
		t.Fatalf("put %s: %v", key, err)
	}
	return ref
}

func wantText(t *testing.T, s *blob.Store, key, want string) {
	t.Helper()
	got, err := s.Get(t.Context(), key)
	if err != nil {
		t.Fatalf("get %s: %v", key, err)
	}
	if string(got) != want {
		t.Fatalf("get %s: got %q, want %q", key, got, want)
	}
}

func wantMissing(t *testing.T, s *blob.Store, key string) {
	t.Helper()
	if _, err := s.Get(t.Context(), key); !errors.Is(err, blob.ErrNotFound) {
		t.Fatalf("get %s: got error %v, want ErrNotFound", key, err)
	}
	if ok, err := s.Exists(t.Context(), key); ok || err != nil {
		t.Fatalf("exists %s: got %v, %v, want false", key, ok, err)
	}
}

func keys(t *testing.T, s *blob.Store, prefix string) []string {
	t.Helper()
	var got []string
	for object, err := range s.List(t.Context(), prefix) {
		if err != nil {
			t.Fatalf("list %q: %v", prefix, err)
		}
		got = append(got, object.Key)
	}
	slices.Sort(got)
	return got
}

func returnsBytes(t *testing.T, s *blob.Store) {
	for _, text := range []string{"", "x", "äöü\x00\xff", strings.Repeat("long ", 100_000)} {
		put(t, s, "w/p/d/1/text", text)
		wantText(t, s, "w/p/d/1/text", text)
	}
	type layout struct{ Pages []int }
	if _, err := s.PutJSON(t.Context(), "w/p/d/1/layout.json", layout{[]int{1, 2}}); err != nil {
		t.Fatal(err)
	}
	var got layout
	if err := s.GetJSON(t.Context(), "w/p/d/1/layout.json", &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(layout{[]int{1, 2}}, got); diff != "" {
		t.Error(diff)
	}
	if err := s.GetJSON(t.Context(), "w/p/d/1/text", &got); err == nil {
		t.Error("text was decoded as JSON")
	}
}

func namesContent(t *testing.T, s *blob.Store) {
	sum := sha256.Sum256([]byte("hello"))
	want := blob.Ref{Key: "a/b", SHA256: hex.EncodeToString(sum[:]), Bytes: 5}
	if diff := cmp.Diff(want, put(t, s, "a/b", "hello")); diff != "" {
		t.Error(diff)
	}
}

func overwrites(t *testing.T, s *blob.Store) {
	put(t, s, "a/b", "a longer first text")
	put(t, s, "a/b", "second")
	wantText(t, s, "a/b", "second")
	if got := keys(t, s, ""); len(got) != 1 {
		t.Errorf("got keys %v, want one", got)
	}
}

func putsAll(t *testing.T, s *blob.Store) {
	put(t, s, "w/small", strings.Repeat("it was large ", 10_000))
	large := strings.Repeat("large ", 20_000)
	items := []blob.Item{
		{Key: "w/empty"}, {Key: "w/small", Data: []byte("small")}, {Key: "w/large", Data: []byte(large)},
		{Key: "w/twice", Data: []byte("1")}, {Key: "w/twice", Data: []byte("2"), After: true},
	}
	for range 2 {
		if err := s.PutAll(t.Context(), items...); err != nil {
			t.Fatal(err)
		}
		for key, want := range map[string]string{"w/empty": "", "w/small": "small", "w/large": large, "w/twice": "2"} {
			wantText(t, s, key, want)
		}
	}
	if got := keys(t, s, ""); len(got) != 4 {
		t.Errorf("got keys %v, want four", got)
	}
	if err := s.PutAll(t.Context()); err != nil {
		t.Errorf("no blob: %v", err)
	}
	if err := s.PutAll(t.Context(), blob.Item{Key: "../x"}); err == nil {
		t.Error("a bad key was taken")
	}
	var writers sync.WaitGroup
	for _, order := range [][]blob.Item{{items[0], items[1]}, {items[1], items[0]}} {
		writers.Go(func() {
			for range 50 {
				if err := s.PutAll(t.Context(), order...); err != nil {
					t.Error(err)
				}
			}
		})
	}
	writers.Wait()
}

func returnsNotFound(t *testing.T, s *blob.Store) {
	put(t, s, "a/b/c", "x")
	for _, key := range []string{"a/b/d", "a/b", "x"} {
		wantMissing(t, s, key)
		if _, _, err := s.Open(t.Context(), key); !errors.Is(err, blob.ErrNotFound) {
			t.Errorf("open %s: got error %v, want ErrNotFound", key, err)
		}
	}
}

func streams(t *testing.T, s *blob.Store) {
	data := bytes.Repeat([]byte("0123456789abcdef"), 200_000)
	ref, err := s.PutReader(t.Context(), "a/big", iotest.HalfReader(bytes.NewReader(data)))
	if err != nil {
		t.Fatal(err)
	}
	r, size, err := s.Open(t.Context(), "a/big")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	got, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	if size != int64(len(data)) || ref.Bytes != size || !bytes.Equal(got, data) {
		t.Errorf("got %d bytes, size %d, ref %d, want %d", len(got), size, ref.Bytes, len(data))
	}
}

func readsFromAnyPlace(t *testing.T, s *blob.Store) {
	for key, data := range map[string][]byte{"a/small": []byte("0123456789"), "a/big": bytes.Repeat([]byte("0123456789abcdef"), 20_000), "a/empty": nil} {
		if _, err := s.Put(t.Context(), key, data); err != nil {
			t.Fatal(err)
		}
		content, err := s.OpenContent(t.Context(), key)
		if err != nil {
			t.Fatal(err)
		}
		if err := iotest.TestReader(content, data); err != nil { // seeks too
			t.Errorf("%s: %v", key, err)
		}
		if err := errors.Join(content.Err(), content.Close()); content.Size() != int64(len(data)) || err != nil {
			t.Errorf("%s: %d bytes, %v", key, content.Size(), err)
		}
	}
	if _, err := s.OpenContent(t.Context(), "a/missing"); !errors.Is(err, blob.ErrNotFound) {
		t.Errorf("got error %v, want ErrNotFound", err)
	}
	put(t, s, "a/removed", "0123456789")
	content, err := s.OpenContent(t.Context(), "a/removed")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.DeletePrefix(t.Context(), "a/", nil); err != nil {
		t.Fatal(err)
	}
	if _, err := content.Seek(5, io.SeekStart); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadAll(content); !errors.Is(err, blob.ErrNotFound) || !errors.Is(content.Err(), blob.ErrNotFound) {
		t.Errorf("of a removed blob: %v, want ErrNotFound", err)
	}
	if err := content.Close(); err != nil {
		t.Error(err)
	}
}

// large stores blobs that a service gets in parts.
func large(t *testing.T, s *blob.Store) {
	for _, size := range []int{8<<20 - 1, 8 << 20, 17 << 20} {
		data := bytes.Repeat([]byte("0123456789abcdef"), size/16+1)[:size]
		if _, err := s.PutReader(t.Context(), "w/original", bytes.NewReader(data)); err != nil {
			t.Fatal(err)
		}
		if got, err := s.Get(t.Context(), "w/original"); err != nil || !bytes.Equal(got, data) {
			t.Fatalf("%d bytes: read %d, %v", size, len(got), err)
		}
	}
	gone := errors.New("the client went away")
	r := io.MultiReader(bytes.NewReader(make([]byte, 17<<20)), iotest.ErrReader(gone))
	if _, err := s.PutReader(t.Context(), "w/broken", r); !errors.Is(err, gone) {
		t.Errorf("got error %v, want the reader's", err)
	}
	wantMissing(t, s, "w/broken")
}

func lists(t *testing.T, s *blob.Store, takes stored) {
	for _, key := range []string{"w/p/d/1/a", "w/p/d/1/b", "w/p/d/10/a", "w/p/d-2/1/a", "w/p/d/upload-1/original"} {
		put(t, s, key, "12345")
	}
	if diff := cmp.Diff([]string{"w/p/d/1/a", "w/p/d/1/b"}, keys(t, s, "w/p/d/1/")); diff != "" {
		t.Error(diff)
	}
	if got := keys(t, s, ""); len(got) != 5 {
		t.Errorf("got %v, want all five", got)
	}
	if got := keys(t, s, "nothing/"); len(got) != 0 {
		t.Errorf("got %v, want nothing", got)
	}
	for object, err := range s.List(t.Context(), "w/p/d/10/") {
		if err != nil || !takes(object.Bytes, 5) || time.Since(object.Modified) > time.Minute {
			t.Errorf("got %+v, %v", object, err)
		}
	}
	for _, err := range s.List(t.Context(), "w/p/d/1") {
		if err == nil {
			t.Error("a prefix that is not a folder was taken")
		}
	}
}

func listsMany(t *testing.T, s *blob.Store) {
	const n = 1100
	for i := range n {
		// "-" sorts before "/", but a walk of folders visits "/" first.
		put(t, s, fmt.Sprintf("w/%03d%s", i/2, []string{"/x", "-y"}[i%2]), "")
	}
	if got := keys(t, s, "w/"); len(slices.Compact(got)) != n {
		t.Errorf("got %d keys, want %d", len(got), n)
	}
	if got, err := s.DeletePrefix(t.Context(), "w/", nil); got != n || err != nil {
		t.Errorf("removed %d, %v, want %d", got, err, n)
	}
}

func deletesPrefix(t *testing.T, s *blob.Store) {
	for _, key := range []string{"w/p/d/1/a", "w/p/d/1/b", "w/p/d/2/a", "w/p/d2/1/a", "w/p/d/upload-1/original"} {
		put(t, s, key, "x")
	}
	n, err := s.DeletePrefix(t.Context(), "w/p/d/", func(key string, modified time.Time) bool {
		return strings.HasPrefix(key, "w/p/d/2/") && !modified.IsZero()
	})
	if n != 3 || err != nil {
		t.Fatalf("removed %d, %v, want 3", n, err)
	}
	if diff := cmp.Diff([]string{"w/p/d/2/a", "w/p/d2/1/a"}, keys(t, s, "")); diff != "" {
		t.Error(diff)
	}
}

func deletesMissing(t *testing.T, s *blob.Store) {
	if err := s.Delete(t.Context(), "a/b"); err != nil {
		t.Error(err)
	}
	if n, err := s.DeletePrefix(t.Context(), "a/b/", nil); n != 0 || err != nil {
		t.Errorf("got %d, %v", n, err)
	}
	put(t, s, "a/b", "x")
	if err := s.Delete(t.Context(), "a/b"); err != nil {
		t.Error(err)
	}
	wantMissing(t, s, "a/b")
}

func refusesKeys(t *testing.T, s *blob.Store) {
	bad := []string{
		"", "/", "/etc/passwd", "a//b", "a/", "..", "a/../b", "../a", "a/./b", "a\x00b", "a\nb", `a\..\b`,
		"a\xff", "a/__0x2f__", "a.attrs", "small.db", "small.db-wal/x", strings.Repeat("a", 201), strings.Repeat("a/", 600) + "a",
	}
	for _, key := range bad {
		if _, err := s.Put(t.Context(), key, nil); err == nil {
			t.Errorf("put took %q", key)
		}
		if _, err := s.Get(t.Context(), key); err == nil || errors.Is(err, blob.ErrNotFound) {
			t.Errorf("get of %q: got error %v, want a refusal", key, err)
		}
		if _, err := s.Exists(t.Context(), key); err == nil {
			t.Errorf("exists took %q", key)
		}
		if err := s.Delete(t.Context(), key); err == nil {
			t.Errorf("delete took %q", key)
		}
	}
	put(t, s, "w/p/d/1/x", "x")
	for _, prefix := range []string{"", "/", "w", "w/p/d/1", "../", "w//", "w/../"} {
		if _, err := s.DeletePrefix(t.Context(), prefix, nil); err == nil {
			t.Errorf("delete prefix took %q", prefix)
		}
	}
	wantText(t, s, "w/p/d/1/x", "x")
}

func answersPing(t *testing.T, s *blob.Store) {
	if err := s.Ping(t.Context()); err != nil {
		t.Error(err)
	}
}
