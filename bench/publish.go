package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/cairn-rag/cairn/internal/client"
)

// publish measures long PDFs from the upload to the publication with the offline
// model, beside the reading of the same files alone.
func publish(ctx context.Context, b *bench) (figures []figure, err error) {
	const count, pages = 12, 157
	folder, err := os.MkdirTemp("", "cairn-bench-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	paths, err := b.writeReports(folder, count, pages)
	if err != nil {
		return nil, err
	}
	alone, _, err := b.extraction(ctx, paths, 1)
	if err != nil {
		return nil, err
	}
	s, err := b.serveForPDFs(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.remove()) }()
	files, err := b.reports(count, pages)
	if err != nil {
		return nil, err
	}
	own, parsers := s.processors()
	begin := time.Now()
	if err := s.uploadPDFs(ctx, "report", files); err != nil {
		return nil, err
	}
	if err := s.awaitPublished(ctx, warming+count); err != nil {
		return nil, err
	}
	took := time.Since(begin).Seconds()
	if err := s.rest(ctx); err != nil {
		return nil, err
	}
	ownAfter, parsersAfter := s.processors()
	list, err := s.documents(ctx)
	if err != nil {
		return nil, err
	}
	chunks := 0
	for _, d := range list {
		chunks += d.ChunkCount
	}
	fmt.Fprintf(b.out, "%d PDFs of %d pages, %d chunks\n\n", count, pages, chunks)
	each := 1000 / float64(alone.pages)
	return []figure{
		higher("pages/s, extraction alone", alone.rate()),
		higher("pages/s, from upload to published", float64(alone.pages)/took),
		higher("published / extraction alone", float64(alone.pages)/took/alone.rate()).aim(.5),
		higher("published / extraction alone, by processor time", alone.cpu/(ownAfter-own+parsersAfter-parsers)).aim(.5),
		lower("CPU ms a page, parsers, extraction alone", alone.cpu*each),
		lower("CPU ms a page, parsers, to published", (parsersAfter-parsers)*each),
		lower("CPU ms a page, server, to published", (ownAfter-own)*each),
		lower("RSS highest MB, server", s.peakMB()),
	}, nil
}

// warming is how many PDFs are published before a measurement, so that every parser
// has started pdfium.
const warming = 4

// serveForPDFs starts a server with the offline model whose parsers are warm.
func (b *bench) serveForPDFs(ctx context.Context) (*server, error) {
	files, err := b.reports(warming, 20)
	if err != nil {
		return nil, err
	}
	s, _, err := b.serve(ctx)
	if err != nil {
		return nil, err
	}
	err = s.uploadPDFs(ctx, "warming", files)
	if err == nil {
		err = s.awaitPublished(ctx, warming)
	}
	if err == nil {
		err = s.rest(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, s.remove())
	}
	return s, nil
}

// uploadPDFs uploads files from several clients and returns when all are accepted.
func (s *server) uploadPDFs(ctx context.Context, name string, files [][]byte) error {
	c, err := s.Client()
	if err != nil {
		return err
	}
	_, err = load(ctx, uploadClients, len(files), func(ctx context.Context, i int) error {
		_, err := c.UploadFile(ctx, pdfUpload(fmt.Sprintf("%s-%03d.pdf", name, i+1), files[i]))
		return err
	})
	return err
}

func pdfUpload(name string, data []byte) client.Upload {
	return client.Upload{Project: "default", Name: name, Open: func() (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(data)), nil
	}}
}

// patience bounds the wait for the publication of all documents.
const patience = 20 * time.Minute

// awaitPublished waits until so many documents are published. A document that failed is
// an error. It asks seldom, because the answers cost the server processor time.
func (s *server) awaitPublished(ctx context.Context, count int) error {
	for began, asked := time.Now(), 0; ; time.Sleep(200 * time.Millisecond) {
		n, err := s.published(ctx)
		if err != nil || n >= count {
			return err
		}
		if time.Since(began) > patience {
			return fmt.Errorf("%d of %d documents were published in %s", n, count, patience)
		}
		if asked++; asked%20 != 0 {
			continue
		}
		if failed, err := s.count(ctx, "error"); err != nil || failed > 0 {
			return errors.Join(err, fmt.Errorf("%d documents failed", failed))
		}
	}
}

// documents returns the documents of the default project.
func (s *server) documents(ctx context.Context) ([]client.Document, error) {
	var list struct{ Documents []client.Document }
	err := s.send(ctx, "GET", "/workspaces/default/webhooks/documents?projectId=default&limit=500", nil, &list)
	return list.Documents, err
}
