package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/cairn-rag/cairn/internal/index"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/service"
)

// search measures hybrid searches of both indexes from this process, without the API
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
		if b.milvus == noMilvus || s.chunks > b.milvusChunks {
			continue
		}
		more, err = b.searchMilvus(ctx, s)
		figures = append(figures, more...)
		if errors.Is(err, service.ErrMissing) {
			fmt.Fprintf(b.out, "Milvus is not measured: %v\n\n", err)
			b.milvus = noMilvus
		} else if err != nil {
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
// a slash the number of workspaces.
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
