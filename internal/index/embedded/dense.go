package embedded

import (
	"context"
	"fmt"
	"math"

	"github.com/cairn-rag/cairn/internal/index"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

const (
	// maxExact is the largest number of vectors whose cosines are computed for a
	// limit of a hundred hits or so. Only where the last hits are as far from the
	// query as thousands of other vectors would more be compared.
	maxExact = 768
	// deviations is the error of an estimate up to which a vector is still found,
	// in standard deviations. So a vector with the cosine of the last hit is missed
	// once in 160 times, a nearer one less often.
	deviations = 2.5
)

// Dense returns the entries whose vectors are nearest to vector. It estimates the
// cosines of all vectors from their sketches, and computes those that may be high
// enough.
func (x *Index) Dense(ctx context.Context, q index.Query, vector []float32) ([]knowledge.Hit, error) {
	if err := q.Check(); err != nil {
		return nil, err
	}
	normalised, err := index.Normalised(vector)
	if err != nil {
		return nil, fmt.Errorf("search for a vector: %w", err)
	}
	workspace, err := x.workspace(ctx, q.Principal.Workspace())
	if err != nil || workspace == 0 || normalised == nil {
		return nil, err
	}
	g, found, err := x.findGeneration(ctx, q.Generation)
	if err != nil || !found {
		return nil, err
	}
	if g.dimension != len(vector) {
		return nil, index.OtherLength(q.Generation, g.dimension, len(vector))
	}
	s, now, err := x.sketches.current(ctx, g)
	if err != nil {
		return nil, err
	}
	r := &denseRanking{db: x.statements, sketches: s, removals: now.removals, workspace: workspace, projects: q.InProjects(),
		vector: normalised, query: s.rotation.query(normalised)}
	return x.search(ctx, q, workspace, r)
}

// denseRanking ranks the entries of some projects by their cosines with a vector.
type denseRanking struct {
	db        *statements
	sketches  *sketches
	removals  int64 // of the generation before the search began
	workspace int64
	projects  []string // none = all of the workspace
	vector    []float32
	query     *sketchQuery
}

func (r *denseRanking) best(ctx context.Context, k int) ([]scored, error) { return r.rank(ctx, k, nil) }

func (r *denseRanking) among(ctx context.Context, entries []int64, k int) ([]scored, error) {
	if len(entries) == 0 {
		return nil, nil
	}
	allowed := make(slotSet, entries[len(entries)-1]/64+1)
	for _, entry := range entries {
		allowed.add(int(entry))
	}
	return r.rank(ctx, k, allowed)
}

// rank returns the k nearest of the allowed entries, nil = all. If some of the
// candidates were removed, it ranks again without them.
func (r *denseRanking) rank(ctx context.Context, k int, allowed slotSet) ([]scored, error) {
	for {
		candidates := r.sketches.nearest(r.query, r.workspace, r.projects, allowed, max(maxExact, 4*k))
		best, gone, err := r.exact(ctx, candidates, k)
		if err != nil || len(gone) == 0 {
			return best, err
		}
		r.sketches.forget(r.workspace, gone)
	}
}

// exact returns the k nearest of the candidates, and the candidates that are no
// longer in the file. It first computes the cosines of the 2k with the highest
// estimates, then the cosines of the others that may be as near as the k nearest.
func (r *denseRanking) exact(ctx context.Context, candidates []candidate, k int) (nearest []scored, gone []int64, err error) {
	best := bestOf{k: k}
	first := min(2*k, len(candidates))
	if gone, err = r.compare(ctx, candidates[:first], &best); err != nil {
		return nil, nil, err
	}
	last, rest := math.Inf(-1), candidates[first:]
	if len(best.entries) == k {
		last = best.entries[0].score
	}
	may := 0
	for may < len(rest) && float64(rest[may].estimate)+deviations*r.query.deviation >= last {
		may++
	}
	more, err := r.compare(ctx, rest[:may], &best)
	return best.sorted(), append(gone, more...), err
}

// compare adds the candidates with their cosines to best. It returns those that are
// no longer in the file.
func (r *denseRanking) compare(ctx context.Context, candidates []candidate, best *bestOf) (gone []int64, err error) {
	numbers := make([]int64, len(candidates))
	for i, c := range candidates {
		numbers[i] = c.number
	}
	return r.sketches.vectors(ctx, r.db, numbers, r.removals, func(v keptVector) {
		best.add(scored{v.entry, cosine(r.vector, v.bytes)})
	})
}
