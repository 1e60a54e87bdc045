package retrieve

import (
	"cmp"
	"context"
	"slices"

	"github.com/cairn-rag/cairn/internal/index"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// multiStage finds candidates by words and keeps the half whose vectors are nearest to the
// question, but not fewer than the later stages need, and more where these asked for more
// candidates. Beside them are the passages that are nearest of all, as many as the model
// reads, whatever their words are. A question without words that stand in a document is
// searched by vector.
func (s *search) multiStage(ctx context.Context, g *group, q index.Query, probe int) (dense, words []knowledge.Hit, full bool, err error) {
	if words, err = s.words(ctx, q, s.probes[probe]); err != nil {
		return nil, nil, false, err
	}
	if len(words) == 0 {
		dense, err = s.dense(ctx, g, q, probe)
		return dense, nil, len(dense) == q.Limit, err
	}
	near := q
	near.Documents, near.Limit = documentsOf(words), index.MaxLimit
	if dense, err = s.dense(ctx, g, near, probe); err != nil {
		return nil, nil, false, err
	}
	nearestOfAll := q
	nearestOfAll.Limit = s.request.Config.NumberOfChunks * q.Limit / s.request.Config.Candidates
	others, err := s.dense(ctx, g, nearestOfAll, probe)
	if err != nil {
		return nil, nil, false, err
	}
	// Twice what the model reads, because the later stages drop some.
	keep := max((len(words)+1)/2, 2*s.request.Config.NumberOfChunks*q.Limit/s.request.Config.Candidates)
	full = len(words) == q.Limit || len(words) > keep
	dense, words = nearest(dense, words, keep, s.share())
	return best(dense, others), words, full, nil
}

func documentsOf(hits []knowledge.Hit) []string {
	var ids []string
	for _, h := range hits {
		ids = append(ids, h.DocumentID)
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// nearest returns the hits of words that are among the first in dense, in both lists. A
// hit that dense does not have is further away than all others. share is how many are kept
// of one document, 0 = no bound.
func nearest(dense, words []knowledge.Hit, keep, share int) (nearDense, nearWords []knowledge.Hit) {
	rank := map[string]int{}
	for i, h := range dense {
		rank[h.ChunkID] = i + 1
	}
	far := len(dense) + 1
	sorted := slices.Clone(words)
	slices.SortStableFunc(sorted, func(a, b knowledge.Hit) int {
		return cmp.Compare(cmp.Or(rank[a.ChunkID], far), cmp.Or(rank[b.ChunkID], far))
	})
	kept, of := map[string]bool{}, map[string]int{}
	for _, h := range sorted {
		if len(kept) < keep && (share == 0 || of[h.DocumentID] < share) {
			kept[h.ChunkID] = true
			of[h.DocumentID]++
		}
	}
	lost := func(h knowledge.Hit) bool { return !kept[h.ChunkID] }
	return slices.DeleteFunc(slices.Clone(dense), lost), slices.DeleteFunc(slices.Clone(words), lost)
}
