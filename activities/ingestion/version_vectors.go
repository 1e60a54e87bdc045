package ingestion

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/cairn-rag/cairn/activities/step"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/model"
	"github.com/cairn-rag/cairn/internal/store"
)

// versionWindows returns the windows of a generation of a version of count chunks, and what
// the run of v has used for them. It embeds chunks that have no vector of it, which read
// returns.
func (a *batches) versionWindows(ctx context.Context, g generation, v store.Version, count int, read func(first, last int) ([]knowledge.Chunk, error)) (all []window, used knowledge.Usage, err error) {
	for first := 0; first < count; first = chunksIn(all) {
		_, m, err := a.vectors.manifestOf(ctx, v.VersionRef, g, first)
		if err != nil {
			return nil, used, err
		}
		n := chunksIn(m.Windows)
		there, err := a.vectors.present(ctx, v.VersionRef, m.Windows)
		if err != nil {
			return nil, used, fmt.Errorf("look for vectors: %w", err)
		}
		if n == 0 || there < len(m.Windows) {
			last := min(first+cmp.Or(n, BatchSize), count)
			chunks, err := read(first, last)
			if err != nil {
				return nil, used, err
			}
			step.Logger(a.Log, v.VersionRef, v.RunID).InfoContext(ctx, "vectors are not stored; the chunks are embedded", "generation", g.name, "first", first, "last", last)
			if m, err = a.embedPart(ctx, g, v, first, chunks, model.Turn{Patience: turnPatience}); err != nil {
				return nil, used, err
			}
		}
		all = append(all, m.Windows...)
		used.Add(m.of(v.RunID))
	}
	return all, used, nil
}

// vectorReader reads the vectors of a version in the order of its chunks.
type vectorReader struct {
	a          *vectors
	ref        knowledge.VersionRef
	generation string
	windows    []window
	read       [][]float32 // and not returned yet
}

// next returns the next n vectors.
func (r *vectorReader) next(ctx context.Context, n int) ([][]float32, error) {
	for len(r.read) < n {
		if len(r.windows) == 0 {
			return nil, errors.New("there are fewer vectors than chunks")
		}
		vectors, err := r.a.readWindow(ctx, r.ref, r.windows[0])
		if err != nil {
			return nil, err
		}
		r.windows, r.read = r.windows[1:], append(r.read, vectors...)
	}
	vectors := r.read[:n:n]
	r.read = r.read[n:]
	return vectors, nil
}
