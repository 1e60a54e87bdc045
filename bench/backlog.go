package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// backlog measures PDFs that are uploaded at once, and a PDF of one page that is
// uploaded after them.
func backlog(ctx context.Context, b *bench) (figures []figure, err error) {
	var count, pages int
	if _, err := fmt.Sscanf(b.backlog, "%dx%d", &count, &pages); err != nil || count < 1 || pages < 1 {
		return nil, fmt.Errorf("-backlog is %q, want a number of PDFs and of pages such as 200x100", b.backlog)
	}
	files, err := b.reports(count+1, pages)
	if err != nil {
		return nil, err
	}
	note, err := b.reports(1, 1)
	if err != nil {
		return nil, err
	}
	s, err := b.serveForPDFs(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.remove()) }()
	begin := time.Now()
	progress := make(chan watched, 1)
	go func() { progress <- s.watch(ctx, warming, count+1) }()
	if err := s.uploadPDFs(ctx, "report", files[1:]); err != nil {
		return nil, err
	}
	accepted := time.Since(begin)
	sent := time.Now()
	behind, err := s.publishNote(ctx, note[0])
	if err != nil {
		return nil, err
	}
	took := time.Since(sent)
	fmt.Fprintf(b.out, "the note was published after %.1f s, when %d documents were pending\n\n", took.Seconds(), behind)
	seen := <-progress
	if seen.err != nil {
		return nil, seen.err
	}
	first, last := seen.first.Sub(begin).Seconds(), seen.last.Sub(begin).Seconds()
	return []figure{
		lower(fmt.Sprintf("%d PDFs of %d pages accepted s", count, pages), accepted.Seconds()),
		lower("note published s after its upload", took.Seconds()).aim(10),
		higher("PDFs that are not published then", float64(behind)),
		lower("first PDF published s", first),
		lower("last PDF published s", last),
		lower("first / last", first/last).aim(.5),
		higher("pages/s", float64(count*pages)/last),
		lower("RSS highest MB, server", s.peakMB()),
	}, nil
}

// publishNote uploads a PDF of one page and waits until it is published. It returns how
// many documents are pending then.
func (s *server) publishNote(ctx context.Context, data []byte) (pending int, err error) {
	c, err := s.Client()
	if err != nil {
		return 0, err
	}
	d, err := c.UploadFile(ctx, pdfUpload("note.pdf", data))
	if err != nil {
		return 0, err
	}
	for d.Status == knowledge.StatusPending {
		time.Sleep(100 * time.Millisecond)
		if d, err = c.Document(ctx, d.ID); err != nil {
			return 0, err
		}
	}
	if d.Status != knowledge.StatusPublished {
		return 0, fmt.Errorf("the note is %s: %+v", d.Status, d.Error)
	}
	return s.count(ctx, "pending")
}

// watched is when the first and the last of some documents were published.
type watched struct {
	first, last time.Time
	err         error
}

// watch waits until count documents more than before are published.
func (s *server) watch(ctx context.Context, before, count int) (seen watched) {
	if seen.err = s.awaitPublished(ctx, before+1); seen.err != nil {
		return seen
	}
	seen.first = time.Now()
	seen.err = s.awaitPublished(ctx, before+count)
	seen.last = time.Now()
	return seen
}
