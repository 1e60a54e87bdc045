package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/cairn-rag/cairn/internal/index"
	"github.com/cairn-rag/cairn/internal/index/embedded"
	"github.com/cairn-rag/cairn/internal/index/milvus"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// search measures hybrid searches of both indexes in this process, without the API
// and SQL, at the sizes of -sizes, and over texts of frequent words.
func search(ctx context.Context, b *bench) ([]figure, error) {
	sizes, err := parseSizes(b.sizes)
	if err != nil {
		return nil, err
	}
	var figures []figure
	for _, s := range append(sizes, collectionSize{chunks: 2800, workspaces: 1, frequent: true}) {
		more, err := b.searchEmbedded(ctx, s)
		figures = append(figures, more...)
		if err != nil {
			return figures, fmt.Errorf("measure the embedded index, %s: %w", s, err)
		}
		if b.milvus == "" || s.chunks > b.milvusChunks {
			continue
		}
		more, err = b.searchMilvus(ctx, s)
		figures = append(figures, more...)
		if err != nil {
			return figures, fmt.Errorf("measure Milvus, %s: %w", s, err)
		}
	}
	return figures, nil
}

// collectionSize is the size of an index.
type collectionSize struct {
	chunks, workspaces int
	frequent           bool // all words of the texts are frequent
}

func (s collectionSize) String() string {
	switch {
	case s.frequent:
		return fmt.Sprintf("%d chunks of 80 words", s.chunks)
	case s.workspaces > 1:
		return fmt.Sprintf("%d chunks in %d workspaces", s.chunks, s.workspaces)
	}
	return fmt.Sprintf("%d chunks", s.chunks)
}

// parseSizes reads sizes with commas between them: the number of chunks, and after
// a slash that of the workspaces.
func parseSizes(list string) ([]collectionSize, error) {
	var sizes []collectionSize
	for part := range strings.SplitSeq(list, ",") {
		chunks, workspaces, several := strings.Cut(part, "/")
		if !several {
			workspaces = "1"
		}
		n, err := strconv.Atoi(chunks)
		w, wrong := strconv.Atoi(workspaces)
		if err = errors.Join(err, wrong); err != nil || n < 1 || w < 1 {
			return nil, fmt.Errorf("-sizes %s: write for example 1400,100000/10", list)
		}
		sizes = append(sizes, collectionSize{chunks: n, workspaces: w})
	}
	return sizes, nil
}

// searchEmbedded measures a new embedded index, and its next start.
func (b *bench) searchEmbedded(ctx context.Context, size collectionSize) (figures []figure, err error) {
	dir, err := os.MkdirTemp(b.dir, "cairn-search-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	open := func() (*embedded.Index, error) {
		return embedded.Open(ctx, embedded.Config{Path: filepath.Join(dir, "index.db")})
	}
	x, err := open()
	if err != nil {
		return nil, err
	}
	name := "embedded, " + size.String()
	rate, err := fill(ctx, x, size)
	if err = errors.Join(err, x.Close()); err != nil {
		return nil, err
	}
	begin := time.Now()
	if x, err = open(); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, x.Close()) }()
	opened := time.Since(begin)
	c := newCollection(size, 2)
	if err := hybrid(ctx, x, c.question(0)); err != nil {
		return nil, err
	}
	figures = append(figures, higher(name+": written chunks/s", rate),
		lower(name+": start ms", opened.Seconds()*1000), lower(name+": start to the first result ms", time.Since(begin).Seconds()*1000))
	searched, err := b.measureSearches(ctx, x, name, size, c)
	return append(append(figures, searched...), lower(name+": MB in files", megabytes(dir)), lower(name+": RSS MB of this process", processStatus(os.Getpid(), "VmRSS:"))), err
}

// searchMilvus measures the Milvus server of -milvus, in new collections, which stay.
func (b *bench) searchMilvus(ctx context.Context, size collectionSize) ([]figure, error) {
	config, err := milvus.ParseURL(b.milvus)
	if err != nil {
		return nil, err
	}
	config.Prefix = fmt.Sprintf("bench%d", time.Now().UnixNano())
	x, err := milvus.Open(ctx, config)
	if err != nil {
		return nil, err
	}
	name := "Milvus, " + size.String()
	rate, err := fill(ctx, x, size)
	if err != nil {
		return nil, errors.Join(err, x.Close())
	}
	figures, err := b.measureSearches(ctx, x, name, size, newCollection(size, 2))
	return append([]figure{higher(name+": written chunks/s", rate)}, figures...), errors.Join(err, x.Close())
}

// fill writes the chunks and returns how many it wrote in a second.
func fill(ctx context.Context, x index.Index, size collectionSize) (float64, error) {
	begin := time.Now()
	c := newCollection(size, 1)
	for at := 0; at < size.chunks; at += writeBatch {
		if err := x.Upsert(ctx, c.chunks(at, min(at+writeBatch, size.chunks))); err != nil {
			return 0, err
		}
	}
	return float64(size.chunks) / time.Since(begin).Seconds(), nil
}

// measureSearches measures searches by 1, 8 and 32 clients, after each question was
// asked once.
func (b *bench) measureSearches(ctx context.Context, x index.Index, name string, size collectionSize, c *collection) (figures []figure, err error) {
	ask := func(ctx context.Context, i int) error { return hybrid(ctx, x, c.question(i%min(100, b.searches))) }
	if _, err := load(ctx, 2, min(100, b.searches), ask); err != nil {
		return nil, err
	}
	for _, clients := range []int{1, 8, 32} {
		var times samples
		before := ownTime()
		_, err := load(ctx, clients, b.searches, func(ctx context.Context, i int) error {
			begin := time.Now()
			defer func() { times.add(time.Since(begin)) }()
			return ask(ctx, i)
		})
		if err != nil {
			return nil, err
		}
		p50 := lower(name+": p50 ms, "+clientCount(clients), times.quantile(.5))
		cpu := lower(name+": processor ms a search, "+clientCount(clients), float64((ownTime()-before).Microseconds())/1000/float64(b.searches))
		if target, ok := size.target(); ok && clients == 1 && strings.HasPrefix(name, "embedded") {
			p50 = p50.aim(target)
			if size.chunks == 1400 {
				cpu = cpu.aim(4)
			}
		}
		figures = append(figures, p50, lower(name+": p95 ms, "+clientCount(clients), times.quantile(.95)), cpu)
	}
	return figures, nil
}

// target returns the p50 in ms that one client should have.
func (s collectionSize) target() (float64, bool) {
	switch {
	case s.frequent, s.chunks == 100_000 && s.workspaces == 10:
		return 8, true
	case s.chunks == 1400:
		return 3, true
	case s.chunks == 1_000_000:
		return 100, true
	}
	return 0, false
}

// hybrid searches by vector and by words at the same time, as a question does.
func hybrid(ctx context.Context, x index.Index, q asked) error {
	group, ctx := errgroup.WithContext(ctx)
	for _, leg := range []func() ([]knowledge.Hit, error){
		func() ([]knowledge.Hit, error) { return x.Dense(ctx, q.query, q.vector) },
		func() ([]knowledge.Hit, error) { return x.BM25(ctx, q.query, q.text) },
	} {
		group.Go(func() error {
			hits, err := leg()
			if err == nil && len(hits) == 0 {
				err = errors.New("a search found nothing")
			}
			return err
		})
	}
	return group.Wait()
}

// ownTime returns the processor time of this process.
func ownTime() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return 0
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

func megabytes(dir string) float64 {
	sum := int64(0)
	files, _ := os.ReadDir(dir) // the figure is then 0
	for _, f := range files {
		if info, err := f.Info(); err == nil {
			sum += info.Size()
		}
	}
	return float64(sum) / 1e6
}
