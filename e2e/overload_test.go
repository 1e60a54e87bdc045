package e2e_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cairn-rag/cairn/internal/client"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/model/modeltest"
)

// report is a PDF of so many pages, unlike any other.
func report(number, pages int) []byte {
	text := make([][]string, pages)
	for page := range text {
		for line := range 45 {
			text[page] = append(text[page], fmt.Sprintf("Report %d page %d line %d is about the output of plant %d.", number, page, line, line%7))
		}
	}
	return textPDF(text)
}

// sendFile uploads a file and returns the run of its version.
func (s *server) sendFile(t *testing.T, name string, data []byte) client.Document {
	t.Helper()
	d, err := s.UploadFile(t.Context(), client.Upload{Project: "default", Name: name, Open: func() (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(data)), nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func (s *server) awaitRun(t *testing.T, run string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
	defer cancel()
	if _, err := s.Wait(ctx, run, nil); err != nil {
		t.Fatalf("run %s: %v", run, err)
	}
}

// TestSlowWorkHoldsUpNoOther uploads a note, and removes a document, behind files
// that take long to parse.
func TestSlowWorkHoldsUpNoOther(t *testing.T) {
	t.Parallel()
	m := standIn(t, modeltest.Options{})
	s := start(t, at(m.URL())...)
	old := s.publish(t, "old", "A lighthouse stands on the northern pier.")
	var large []client.Document
	for i := range 16 {
		large = append(large, s.sendFile(t, fmt.Sprintf("report-%d.pdf", i), report(i, 400)))
	}
	note := s.upload(t, "note", "A foghorn stands on the southern pier.")
	removal, err := s.RemoveDocument(t.Context(), old.ID)
	if err != nil {
		t.Fatal(err)
	}
	s.awaitRun(t, note.RunID)
	s.awaitRun(t, removal.RunID)
	pending := 0
	for _, d := range large {
		if s.document(t, d.ID).Status == knowledge.StatusPending {
			pending++
		}
	}
	if d := s.document(t, note.ID); d.Status != knowledge.StatusPublished {
		t.Errorf("the note is %s, %+v", d.Status, d.Error)
	}
	if pending < len(large)/2 {
		t.Errorf("the note and the removal ended when %d of %d large files were still pending", pending, len(large))
	}
}

// TestBacklogPublishesAsItIsExtracted uploads more PDFs than are parsed at the same
// time, and then a PDF of one page.
func TestBacklogPublishesAsItIsExtracted(t *testing.T) {
	t.Parallel()
	m := standIn(t, modeltest.Options{})
	s := start(t, at(m.URL(), "CAIRN_LIMITS__PARSERS=2")...)
	var backlog []client.Document
	for i := range 24 {
		backlog = append(backlog, s.sendFile(t, fmt.Sprintf("report-%d.pdf", i), report(i, 40)))
	}
	note := s.sendFile(t, "note.pdf", report(1000, 1))
	s.awaitRun(t, note.RunID)
	if d := s.document(t, note.ID); d.Status != knowledge.StatusPublished {
		t.Errorf("the note is %s, %+v", d.Status, d.Error)
	}
	if n, _ := s.progress(t, backlog); n > len(backlog)/2 {
		t.Errorf("the note was published when %d of %d PDFs were", n, len(backlog))
	}
	s.awaitRun(t, backlog[0].RunID)
	if _, unread := s.progress(t, backlog); unread == 0 {
		t.Errorf("when the first of %d PDFs was published, none was still to be extracted", len(backlog))
	}
	for _, d := range backlog {
		s.awaitRun(t, d.RunID)
		if got := s.document(t, d.ID); got.Status != knowledge.StatusPublished {
			t.Errorf("%s is %s, %+v", d.Name, got.Status, got.Error)
		}
	}
}

// progress counts the documents that are published, and those whose pages are not
// known yet.
func (s *server) progress(t *testing.T, list []client.Document) (published, unread int) {
	t.Helper()
	for _, d := range list {
		switch d = s.document(t, d.ID); {
		case d.Status == knowledge.StatusPublished:
			published++
		case d.PageCount == 0:
			unread++
		}
	}
	return published, unread
}

// TestOverload uploads far more than the machine can ingest at a time, of every
// size: all of it is published.
func TestOverload(t *testing.T) {
	t.Parallel()
	m := standIn(t, modeltest.Options{})
	s := start(t, at(m.URL(), "CAIRN_LIMITS__PARSE_SECONDS=10")...)
	var mu sync.Mutex
	var all []client.Document
	var uploads sync.WaitGroup
	for client := range 8 {
		uploads.Go(func() {
			for i := range 40 {
				name, data := fmt.Sprintf("note-%d-%d.txt", client, i), []byte(fmt.Sprintf("Note %d of client %d is short.", i, client))
				switch {
				case i%8 == 0:
					name, data = fmt.Sprintf("report-%d-%d.pdf", client, i), report(client*100+i, 40)
				case i == 1 && client < 4:
					name, data = fmt.Sprintf("long-%d.txt", client), []byte(strings.Repeat(fmt.Sprintf("Client %d wrote a long text with many words in it.\n\n", client), 60_000))
				}
				d := s.sendFile(t, name, data)
				mu.Lock()
				all = append(all, d)
				mu.Unlock()
			}
		})
	}
	uploads.Wait()
	for _, d := range all {
		s.awaitRun(t, d.RunID)
		if got := s.document(t, d.ID); got.Status != knowledge.StatusPublished {
			t.Errorf("%s is %s, %+v", d.Name, got.Status, got.Error)
		}
	}
}
