package e2e_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cairn-rag/cairn/internal/client"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// TestPauseOverKill pauses an import on which two processes work, and kills the server
// meanwhile: it stays paused until it is resumed.
func TestPauseOverKill(t *testing.T) {
	t.Parallel()
	b := newBucket(t)
	const objects = 1100 // two pages
	b.fill("notes/", objects)
	b.slow(120 * time.Millisecond)
	s, env := startForWorkers(t)
	w := s.startWorker(t, env...)
	i := s.begin(t, client.NewImport{Source: b.source("notes/")})
	s.awaitPublishedObjects(t, i.ID, 150)
	s.obeys(t, i.ID, "pause", "paused", s.PauseImport)
	s.kill()
	s.restart()
	w.awaitReady(2)
	before, err := s.Import(t.Context(), i.ID)
	if err != nil {
		t.Fatal(err)
	}
	b.takeReads()
	// Another import goes to its end meanwhile, so a lost pause would show.
	const others = 60
	b.fill("probe/", others)
	wantCounts(t, s.runImport(t, client.NewImport{Source: b.source("probe/")}), counts{discovered: others, published: others})
	read := slices.DeleteFunc(b.takeReads(), func(key string) bool { return strings.HasPrefix(key, "probe/") })
	if now, err := s.Import(t.Context(), i.ID); err != nil || now.Status != "paused" || now.Published != before.Published || len(read) > 0 {
		t.Errorf("after the restart the import is %s, went from %d to %d published objects and has read %q, %v", now.Status, before.Published, now.Published, read, err)
	}
	s.obeys(t, i.ID, "resume", "running", s.ResumeImport)
	b.slow(0)
	wantCounts(t, s.awaitImport(t, i.ID), counts{discovered: objects, published: objects})
	if documents := s.imported(t); len(documents) != objects+others {
		t.Errorf("%d objects became %d documents", objects, len(documents))
	}
}

// TestRetryOverKill kills the server while it retries many objects that failed.
func TestRetryOverKill(t *testing.T) {
	t.Parallel()
	b := newBucket(t)
	const good, damaged = 20, 260
	b.fill("notes/", good)
	for n := range damaged {
		b.put(b.key("notes/", good+n), "")
	}
	s := startForImports(t)
	notes := client.NewImport{Source: b.source("notes/")}
	i := s.runImport(t, notes)
	wantCounts(t, i, counts{discovered: good + damaged, published: good, failed: damaged})
	for n := range damaged {
		b.put(b.key("notes/", good+n), objectText("notes/", good+n, "repaired"))
	}
	if _, err := s.RetryImport(t.Context(), i.ID); err != nil {
		t.Fatal(err)
	}
	for _, published := range []int64{40, 150} {
		s.awaitPublishedObjects(t, i.ID, good+published)
		s.kill()
		s.restart()
	}
	wantCounts(t, s.awaitImport(t, i.ID), counts{discovered: good + damaged, published: good + damaged})
	documents := s.imported(t)
	if len(documents) != good+damaged {
		t.Errorf("%d objects became %d documents", good+damaged, len(documents))
	}
	for n := range good + damaged {
		d := documents[b.externalID(b.key("notes/", n))]
		if d.Status != knowledge.StatusPublished || d.PublishedVersion != d.Version || d.ChunkCount != 1 {
			t.Errorf("object %d is %s with version %d, published %d, %d passages", n, d.Status, d.Version, d.PublishedVersion, d.ChunkCount)
		}
		if n%20 == 0 {
			s.wantFound(t, d, n)
		}
	}
	wantCounts(t, s.runImport(t, notes), counts{discovered: good + damaged, skipped: good + damaged})
	if failures := s.failureCodes(t, i); len(failures) > 0 {
		t.Errorf("failures are left: %v", failures)
	}
}

// TestArchiveOverKill kills the server while it imports an archive that was uploaded.
func TestArchiveOverKill(t *testing.T) {
	t.Parallel()
	const objects = 2500
	members := make([]member, objects)
	for n := range members {
		members[n] = member{fmt.Sprintf("notes/%04d.txt", n), objectText("archive", n, "first")}
	}
	packed := pack(t, members...)
	s := startForImports(t)
	upload := func() client.Import {
		t.Helper()
		uploaded, err := s.Upload(t.Context(), client.Upload{Project: "default", Name: "notes.zip", Open: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(packed)), nil }})
		if err != nil || uploaded.Import == nil {
			t.Fatalf("the archive became %+v, %v", uploaded, err)
		}
		return *uploaded.Import
	}
	i := upload()
	for _, published := range []int64{100, 1000} {
		s.awaitPublishedObjects(t, i.ID, published)
		s.kill()
		s.restart()
	}
	wantCounts(t, s.awaitImport(t, i.ID), counts{discovered: objects, published: objects})
	documents := map[string]client.Document{}
	for _, d := range s.imported(t) {
		documents[d.Name] = d
	}
	for n := 0; n < objects; n += 50 {
		s.wantFound(t, s.wantObject(t, documents, members[n].name, password(n)+".", 1), n)
	}
	wantCounts(t, s.awaitImport(t, upload().ID), counts{discovered: objects, skipped: objects})
}

// TestCrawlOverKill kills the server while it crawls a site: it requests no page of a
// completed step again.
func TestCrawlOverKill(t *testing.T) {
	t.Parallel()
	const objects = 250
	site := newPages(t, func(_ *pages, w http.ResponseWriter, r *http.Request) {
		n, err := strconv.Atoi(strings.TrimPrefix(r.URL.Path, "/page"))
		if err != nil && r.URL.Path != "/" {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprintf(w, "<html><head><title>Page %d</title></head><body><main><h1>Page %[1]d</h1><p>%s</p>", n, objectText("the site", n, "first"))
		for next := 2*n + 1; next <= 2*n+2 && next < objects; next++ {
			fmt.Fprintf(w, `<a href="/page%d">page %[1]d</a>`, next)
		}
		fmt.Fprint(w, "</main></body></html>")
	})
	s := startForImports(t)
	crawl := client.NewImport{Source: client.ImportSource{Type: "crawl", URI: site.URL + "/", Options: map[string]any{"delay_ms": 10}}}
	i := s.begin(t, crawl)
	s.awaitPublishedObjects(t, i.ID, 20)
	s.kill()
	s.restart()
	wantCounts(t, s.awaitImport(t, i.ID), counts{discovered: objects, published: objects})
	again := 0
	for _, path := range site.paths() {
		again += site.asked[path] - 1
	}
	if again > 110 { // a step visits a hundred pages
		t.Errorf("%d pages were requested again", again)
	}
	if documents := s.imported(t); len(documents) != objects {
		t.Errorf("%d pages became %d documents", objects, len(documents))
	}
	wantCounts(t, s.runImport(t, crawl), counts{discovered: objects, skipped: objects})
}
