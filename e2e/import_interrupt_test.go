package e2e_test

import (
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
	time.Sleep(time.Second) // time in which a lost pause would show
	if now, err := s.Import(t.Context(), i.ID); err != nil || now.Status != "paused" || now.Published != before.Published || len(b.takeReads()) > 0 {
		t.Errorf("after the restart the import is %s and went from %d to %d published objects, %v", now.Status, before.Published, now.Published, err)
	}
	s.obeys(t, i.ID, "resume", "running", s.ResumeImport)
	b.slow(0)
	wantCounts(t, s.awaitImport(t, i.ID), counts{discovered: objects, published: objects})
	if documents := s.imported(t); len(documents) != objects {
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
