package sourcetest

import (
	"errors"
	"fmt"
	"io"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/source"
)

// Bucket is a bucket that a test may write to.
type Bucket struct {
	// Address returns the address of a prefix: "s3://bucket/prefix".
	Address func(prefix string) string
	// Missing is the address of a bucket that does not exist.
	Missing string
	// Put writes an object.
	Put func(t *testing.T, key, body string)
	// Delete removes an object.
	Delete func(t *testing.T, key string)
	// Open connects to an address anew.
	Open func(t *testing.T, address string) source.Source
}

// Run checks that a kind of bucket keeps the contract.
func Run(t *testing.T, b Bucket) {
	t.Helper()
	cases := map[string]func(*testing.T, Bucket){
		"lists_pages_that_a_new_connection_continues": listsPages,
		"names_objects_below_the_folder_of_a_prefix":  namesObjects,
		"leaves_out_markers_of_folders":               leavesOutMarkers,
		"keeps_odd_keys":                              keepsOddKeys,
		"an_empty_prefix_has_no_objects":              emptyPrefix,
		"opens_what_it_listed":                        opens,
		"shows_a_change_since_the_listing":            showsChanges,
		"reports_an_unchanged_object":                 reportsUnchanged,
		"reports_an_object_that_vanished":             reportsVanished,
		"reports_a_missing_bucket":                    reportsMissingBucket,
	}
	for name, check := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			check(t, b)
		})
	}
}

// All returns the objects of a source and the sizes of its pages. open is called
// for each page.
func All(t *testing.T, open func() source.Source) (objects []source.Object, pages []int) {
	t.Helper()
	for token := ""; ; {
		page, err := open().List(t.Context(), token)
		if err != nil {
			t.Fatalf("list from %q: %v", token, err)
		}
		objects = append(objects, page.Objects...)
		pages = append(pages, len(page.Objects))
		if token = page.Next; token == "" {
			return objects, pages
		}
		if len(pages) > 10_000 {
			t.Fatal("the listing does not end")
		}
	}
}

// Read returns the bytes of an object, and the object as it was read.
func Read(t *testing.T, s source.Source, o source.Object) (string, source.Object) {
	t.Helper()
	r, read, err := s.Open(t.Context(), o, "")
	if err != nil {
		t.Fatalf("open %s: %v", o.Key, err)
	}
	defer r.Close()
	body, err := io.ReadAll(r)
	if err != nil {
		t.Fatalf("read %s: %v", o.Key, err)
	}
	return string(body), read
}

// Want fails the test if err is not a *knowledge.Error with the code.
func Want(t *testing.T, err error, code knowledge.Code, retryable bool) {
	t.Helper()
	e, ok := errors.AsType[*knowledge.Error](err)
	if !ok || e.Code != code || e.Retryable != retryable {
		t.Errorf("got error %v, want code %s, retryable %t", err, code, retryable)
	}
}

func keys(objects []source.Object) []string {
	names := make([]string, 0, len(objects))
	for _, o := range objects {
		names = append(names, o.Key)
	}
	return names
}

func list(t *testing.T, b Bucket, prefix string) []source.Object {
	t.Helper()
	s := b.Open(t, b.Address(prefix))
	objects, _ := All(t, func() source.Source { return s })
	return objects
}

func listsPages(t *testing.T, b Bucket) {
	const count = 2500
	var group sync.WaitGroup
	for worker := range 8 {
		group.Go(func() {
			for i := worker; i < count; i += 8 {
				b.Put(t, fmt.Sprintf("many/%04d.txt", i), fmt.Sprint("text ", i))
			}
		})
	}
	group.Wait()
	objects, pages := All(t, func() source.Source { return b.Open(t, b.Address("many/")) })
	if diff := cmp.Diff([]int{1000, 1000, 500}, pages); diff != "" {
		t.Errorf("pages (-want +got):\n%s", diff)
	}
	seen := map[string]bool{}
	for _, o := range objects {
		seen[o.Key] = true
		if o.ETag == "" || o.Bytes < 6 || o.Modified.IsZero() {
			t.Fatalf("an object without etag, size or time: %+v", o)
		}
	}
	if len(seen) != count {
		t.Errorf("got %d keys, want %d", len(seen), count)
	}
}

func namesObjects(t *testing.T, b Bucket) {
	for _, key := range []string{"names/2024/a.txt", "names/2024/deep/b.txt", "names/2025/c.txt", "names/d.txt", "nameless.txt"} {
		b.Put(t, key, key)
	}
	for prefix, want := range map[string][]string{
		"names/":     {"2024/a.txt", "2024/deep/b.txt", "2025/c.txt", "d.txt"},
		"names/202":  {"2024/a.txt", "2024/deep/b.txt", "2025/c.txt"},
		"names/2024": {"2024/a.txt", "2024/deep/b.txt"},
		"nameless":   {"nameless.txt"},
	} {
		objects := list(t, b, prefix)
		if diff := cmp.Diff(want, keys(objects)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", prefix, diff)
		}
		for _, o := range objects {
			if body, _ := Read(t, b.Open(t, b.Address(prefix)), o); b.Address(body) != o.Address {
				t.Errorf("%s: the key is %q", o.Address, body)
			}
		}
	}
}

func leavesOutMarkers(t *testing.T, b Bucket) {
	b.Put(t, "marked/", "")
	b.Put(t, "marked/a.txt", "a")
	if diff := cmp.Diff([]string{"a.txt"}, keys(list(t, b, "marked/"))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func keepsOddKeys(t *testing.T, b Bucket) {
	want := []string{"a b+c%20.txt", "q?x=1&y#z.txt", "Ünïcode/文書.txt"}
	for _, key := range want {
		b.Put(t, "odd/"+key, key)
	}
	objects := list(t, b, "odd/")
	if diff := cmp.Diff(want, keys(objects)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for _, o := range objects {
		if body, _ := Read(t, b.Open(t, b.Address("odd/")), o); body != o.Key {
			t.Errorf("%q holds %q", o.Key, body)
		}
	}
}

func emptyPrefix(t *testing.T, b Bucket) {
	if objects := list(t, b, "nothing/here/"); len(objects) != 0 {
		t.Errorf("got %v", objects)
	}
}

func opens(t *testing.T, b Bucket) {
	b.Put(t, "open/a.txt", "the text")
	o := list(t, b, "open/")[0]
	body, read := Read(t, b.Open(t, b.Address("open/")), o)
	if body != "the text" || read.ETag != o.ETag || read.Bytes != 8 || read.Key != "a.txt" {
		t.Errorf("got %q as %+v, listed as %+v", body, read, o)
	}
}

func showsChanges(t *testing.T, b Bucket) {
	b.Put(t, "change/a.txt", "old")
	o := list(t, b, "change/")[0]
	b.Put(t, "change/a.txt", "newer")
	s := b.Open(t, b.Address("change/"))
	r, read, err := s.Open(t.Context(), o, o.ETag)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if body, err := io.ReadAll(r); err != nil || string(body) != "newer" {
		t.Errorf("got %q, %v", body, err)
	}
	if read.ETag == o.ETag || read.Bytes != 5 {
		t.Errorf("read %+v, listed %+v", read, o)
	}
	if again := list(t, b, "change/")[0]; again.ETag != read.ETag {
		t.Errorf("listed again with etag %s, read with %s", again.ETag, read.ETag)
	}
}

func reportsUnchanged(t *testing.T, b Bucket) {
	b.Put(t, "same/a.txt", "same")
	o := list(t, b, "same/")[0]
	if _, _, err := b.Open(t, b.Address("same/")).Open(t.Context(), o, o.ETag); !errors.Is(err, source.ErrUnchanged) {
		t.Errorf("got error %v, want unchanged", err)
	}
}

func reportsVanished(t *testing.T, b Bucket) {
	b.Put(t, "gone/a.txt", "a")
	o := list(t, b, "gone/")[0]
	b.Delete(t, "gone/a.txt")
	_, _, err := b.Open(t, b.Address("gone/")).Open(t.Context(), o, "")
	Want(t, err, knowledge.CodeNotFound, false)
}

func reportsMissingBucket(t *testing.T, b Bucket) {
	_, err := b.Open(t, b.Missing).List(t.Context(), "")
	Want(t, err, knowledge.CodeNotFound, false)
}
