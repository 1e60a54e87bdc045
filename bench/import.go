package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"github.com/cairn-rag/cairn/internal/client"
	"github.com/cairn-rag/cairn/internal/model/modeltest"
)

// Of an import that is compared with the whole one.
const (
	fewObjects    = 2000
	singleUploads = 400
)

// bulk measures imports of small objects from a bucket: with the offline model, and
// with an endpoint that answers at once.
func bulk(ctx context.Context, b *bench) (figures []figure, err error) {
	for _, kind := range []string{"offline model", "instant endpoint"} {
		more, err := b.bulkWith(ctx, kind)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", kind, err)
		}
		for _, f := range more {
			f.name += ", " + kind
			figures = append(figures, f)
		}
	}
	return figures, nil
}

// bulkWith measures one server: single uploads, an import of few objects, one of
// many, and the same again.
func (b *bench) bulkWith(ctx context.Context, kind string) (figures []figure, err error) {
	var m *modeltest.Options
	if kind != "offline model" {
		m = &modeltest.Options{}
	}
	s, err := b.withBucket(ctx, m, map[string]int{"few/": fewObjects, "many/": b.objects})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	single, err := s.upload(ctx, s.list[:singleUploads])
	if err != nil {
		return nil, err
	}
	few, err := s.importFrom(ctx, s.objects, "few/", fewObjects)
	if err != nil {
		return nil, err
	}
	if err := s.rest(ctx); err != nil {
		return nil, err
	}
	disk, asked := folderBytes(s.folder), totals(s.model)
	before, err := s.importWrites(ctx)
	if err != nil {
		return nil, err
	}
	many, err := s.importFrom(ctx, s.objects, "many/", b.objects)
	if err != nil {
		return nil, err
	}
	figures, err = s.bulkFigures(ctx, few, many, singleUploads/single.Seconds())
	if err != nil {
		return nil, err
	}
	each := func(n int64) float64 { return float64(n) / float64(b.objects) }
	figures = append(figures, lower("KB on disk an object", each(folderBytes(s.folder)-disk)/1000))
	after, err := s.importWrites(ctx)
	if err != nil {
		return nil, err
	}
	writes := after.since(before)
	figures = append(figures, writes.figures(b.objects)...)
	writes.print(b.out, b.objects)
	if s.model != nil {
		now := totals(s.model)
		figures = append(figures, lower("chunks embedded an object", each(int64(now.Texts-asked.Texts))),
			lower("requests of embeddings of 1,000 objects", 1000*each(int64(now.Embeddings.Asked-asked.Embeddings.Asked))))
	}
	again, err := s.importAgain(ctx, s.objects, b.objects)
	return append(figures, again...), err
}

// totals returns what a model was asked for, nothing without a model.
func totals(m *modeltest.Server) modeltest.Totals {
	if m == nil {
		return modeltest.Totals{}
	}
	return m.Totals()
}

// imported is what one import took.
type imported struct {
	client.Import
	took    time.Duration
	cpu     float64 // seconds
	objects int
	read    int64 // requests of objects
}

func (i imported) perSecond() float64 { return float64(i.objects) / i.took.Seconds() }

// importFrom imports n objects and waits for the end.
func (s *server) importFrom(ctx context.Context, from *bucket, prefix string, n int) (imported, error) {
	c, err := s.Client()
	if err != nil {
		return imported{}, err
	}
	cpu, read, begin := s.cpu(), from.read.Load(), time.Now()
	i, err := c.StartImport(ctx, client.NewImport{Project: "default", Source: from.source(prefix)})
	for err == nil && i.Status == "running" {
		if time.Since(begin) > 30*time.Minute {
			return imported{}, fmt.Errorf("%d of %d objects were imported in 30 minutes", i.Published, n)
		}
		time.Sleep(100 * time.Millisecond) // each look costs the server some milliseconds
		i, err = c.Import(ctx, i.ID)
	}
	if err != nil {
		return imported{}, err
	}
	took := time.Since(begin)
	if i.Status != "completed" || i.Discovered != int64(n) || i.Failed > 0 {
		return imported{}, fmt.Errorf("the import is %s: %d of %d objects discovered, %d failed: %+v", i.Status, i.Discovered, n, i.Failed, i.Failures)
	}
	return imported{Import: i, took: took, cpu: s.cpu() - cpu, objects: n, read: from.read.Load() - read}, nil
}

// bulkFigures compares an import with one of few objects and with single uploads.
func (s *server) bulkFigures(ctx context.Context, few, many imported, single float64) ([]figure, error) {
	events, bytes, err := s.importHistory(ctx, many.ID)
	if err != nil {
		return nil, err
	}
	thousands := float64(many.objects) / 1000
	return []figure{
		higher(fmt.Sprintf("documents/s of %d objects", many.objects), many.perSecond()).aim(510),
		lower("CPU ms a document", many.cpu*1000/float64(many.objects)),
		higher(fmt.Sprintf("documents/s of %d objects", few.objects), few.perSecond()),
		higher(fmt.Sprintf("rate of %d objects / rate of %d", many.objects, few.objects), many.perSecond()/few.perSecond()).aim(.9),
		higher("documents/s of single uploads by "+clientCount(uploadClients), single),
		higher("rate of the import / rate of single uploads", many.perSecond()/single).aim(10),
		lower("history events of 1,000 objects", float64(events)/thousands),
		lower("history KB of 1,000 objects", float64(bytes)/1000/thousands),
		lower("RSS highest MB", s.peakMB()).aim(400),
	}, nil
}

// importAgain measures the import of objects that are unchanged.
func (s *server) importAgain(ctx context.Context, objects *bucket, n int) ([]figure, error) {
	if err := s.rest(ctx); err != nil {
		return nil, err
	}
	again, err := s.importFrom(ctx, objects, "many/", n)
	if err != nil {
		return nil, err
	}
	if again.Skipped != int64(n) {
		return nil, fmt.Errorf("%d of %d unchanged objects were skipped", again.Skipped, n)
	}
	return []figure{
		lower(fmt.Sprintf("s of %d unchanged objects", n), again.took.Seconds()),
		lower("of them read", float64(again.read)).aim(0),
	}, nil
}

// importHistory adds up the events and the bytes of the histories of an import and of
// its pages.
func (s *server) importHistory(ctx context.Context, id string) (events, bytes int64, err error) {
	if err := s.rest(ctx); err != nil {
		return 0, 0, err
	}
	c, err := s.temporal(ctx)
	if err != nil {
		return 0, 0, err
	}
	defer c.Close()
	for e, err := range endedWorkflows(ctx, c) {
		if err != nil {
			return 0, 0, err
		}
		if strings.Contains(e.GetExecution().GetWorkflowId(), id) {
			events, bytes = events+e.HistoryLength, bytes+e.HistorySizeBytes
		}
	}
	return events, bytes, nil
}

// folderBytes adds up the sizes of the files of a folder.
func folderBytes(folder string) (bytes int64) {
	// A file that is deleted meanwhile does not count.
	_ = filepath.WalkDir(folder, func(_ string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return nil
		}
		if info, err := entry.Info(); err == nil {
			bytes += info.Size()
		}
		return nil
	})
	return bytes
}
