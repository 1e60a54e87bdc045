package ingestion_test

import (
	"strings"
	"testing"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// TestObjectsWithoutETag: of a source that names no versions the bytes decide what is
// unchanged.
func TestObjectsWithoutETag(t *testing.T) {
	t.Parallel()
	f := newImportFixture(t)
	long := strings.Repeat("A line of a long text that has many of them.\n", 10_000)
	f.shelf.put("long.txt", long)
	f.shelf.put("short.txt", "A short text.")
	nameless := func(o *shelved) { o.etag = "" }
	f.shelf.change("long.txt", nameless)
	f.shelf.change("short.txt", nameless)
	f.wantCounts(f.run(), knowledge.ImportCounts{Discovered: 2, Published: 2, Bytes: f.bytes()})
	uploads := f.uploads()
	f.wantCounts(f.run(), knowledge.ImportCounts{Discovered: 2, Skipped: 2})
	if now := f.uploads(); now != uploads {
		t.Errorf("there are %d originals, before there were %d", now, uploads)
	}
	f.shelf.put("short.txt", "A changed text.")
	f.shelf.put("long.txt", long+"And another line.")
	f.shelf.change("long.txt", nameless)
	f.shelf.change("short.txt", nameless)
	f.wantCounts(f.run(), knowledge.ImportCounts{Discovered: 2, Published: 2, Bytes: f.bytes()})
}

// TestObjectsWithChangingETag: a web server may state another date with each answer.
func TestObjectsWithChangingETag(t *testing.T) {
	t.Parallel()
	f := newImportFixture(t)
	long := strings.Repeat("A line of a long text that has many of them.\n", 10_000)
	f.shelf.put("long.txt", long)
	f.shelf.put("short.txt", "A short text.")
	at := func(etag string) {
		for _, key := range []string{"long.txt", "short.txt"} {
			f.shelf.change(key, func(o *shelved) { o.etag, o.hidden = etag, true })
		}
	}
	at("modified:one")
	f.wantCounts(f.run(), knowledge.ImportCounts{Discovered: 2, Published: 2, Bytes: f.bytes()})
	uploads := f.uploads()
	at("modified:two")
	f.wantCounts(f.run(), knowledge.ImportCounts{Discovered: 2, Skipped: 2})
	if now := f.uploads(); now != uploads {
		t.Errorf("there are %d originals, before there were %d", now, uploads)
	}
	at("modified:one") // what is known is asked for, and not sent again
	f.shelf.change("short.txt", func(o *shelved) { o.data = "Not sent." })
	f.wantCounts(f.run(), knowledge.ImportCounts{Discovered: 2, Skipped: 2})
	f.shelf.put("short.txt", "A changed text.")
	at("modified:three")
	f.wantCounts(f.run(), knowledge.ImportCounts{Discovered: 2, Published: 1, Skipped: 1, Bytes: int64(len("A changed text."))})
}

// uploads returns the number of originals that are stored.
func (f *importFixture) uploads() (n int) {
	f.Helper()
	for object, err := range f.Blobs.List(f.Ctx, "") {
		f.Must(err)
		if strings.Contains(object.Key, "/upload-") {
			n++
		}
	}
	return n
}
