package retrieve

import (
	"cmp"
	"math"
	"slices"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// rrfConstant is k of reciprocal rank fusion, with the value of its authors:
// the higher it is, the less the first ranks stand out.
const rrfConstant = 60

// fuse merges the hits of the two legs into one list, best first, equal scores
// ordered by chunk id. Scores are between 0 and 1. The weights are for a
// weighted fusion.
func fuse(dense, words []knowledge.Hit, c knowledge.RetrievalConfig, w knowledge.Weights) []knowledge.Hit {
	switch {
	case c.Strategy == knowledge.StrategyDense:
		return rescore(dense, func(h knowledge.Hit, _ int) float64 { return max(0, h.Score) })
	case c.Strategy == knowledge.StrategyBM25:
		return rescore(words, func(h knowledge.Hit, _ int) float64 {
			return h.Score / max(words[0].Score, math.SmallestNonzeroFloat64)
		})
	case c.Fusion == knowledge.FusionRRF:
		byRank := func(_ knowledge.Hit, rank int) float64 { return (rrfConstant + 1) / float64(rrfConstant+rank) }
		return sum(weighted{rescore(dense, byRank), 0.5}, weighted{rescore(words, byRank), 0.5})
	default:
		total := w.Dense + w.BM25
		if total == 0 {
			total = 1
		}
		return sum(weighted{normalise(dense), w.Dense / total}, weighted{normalise(words), w.BM25 / total})
	}
}

// weighted is a list of hits with its share of the fused score.
type weighted struct {
	hits  []knowledge.Hit
	share float64
}

func sum(lists ...weighted) []knowledge.Hit {
	at := map[string]int{}
	var fused []knowledge.Hit
	for _, list := range lists {
		for _, h := range list.hits {
			i, ok := at[h.ChunkID]
			if !ok {
				i = len(fused)
				at[h.ChunkID] = i
				fused = append(fused, knowledge.Hit{ChunkID: h.ChunkID, DocumentID: h.DocumentID, Version: h.Version})
			}
			fused[i].Score += h.Score * list.share
		}
	}
	slices.SortFunc(fused, func(a, b knowledge.Hit) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.ChunkID, b.ChunkID))
	})
	return fused
}

// leastFound is the normalised score of the last hit of a leg. It is above 0, the score
// of a candidate that the leg did not find: to be found by both legs counts.
const leastFound = 0.1

// normalise maps the scores of a sorted list to leastFound..1. If all scores are equal,
// all become 1.
func normalise(hits []knowledge.Hit) []knowledge.Hit {
	if len(hits) == 0 {
		return nil
	}
	high, low := hits[0].Score, hits[len(hits)-1].Score
	return rescore(hits, func(h knowledge.Hit, _ int) float64 {
		if high == low {
			return 1
		}
		return leastFound + (1-leastFound)*(h.Score-low)/(high-low)
	})
}

// rescore returns a copy of hits with new scores. The first has rank 1.
func rescore(hits []knowledge.Hit, score func(h knowledge.Hit, rank int) float64) []knowledge.Hit {
	list := slices.Clone(hits)
	for i := range list {
		list[i].Score = score(hits[i], i+1)
	}
	return list
}
