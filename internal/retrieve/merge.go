package retrieve

import (
	"cmp"
	"maps"
	"slices"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// found are the fused hits of a probe.
type found struct {
	probe *probe
	hits  []knowledge.Hit
}

// merge returns the hits of all probes, best first. The question, its phrasings and its
// translations ask the same, so that a hit of several has the sum of its scores. The parts of a question
// ask for different things, so that a hit has the best of its scores.
func merge(lists []found) []knowledge.Hit {
	var same, parts [][]knowledge.Hit
	for _, l := range lists {
		if l.probe.part {
			parts = append(parts, l.hits)
		} else {
			same = append(same, l.hits)
		}
	}
	if len(lists) == 1 {
		return lists[0].hits
	}
	return best(append(parts, added(same))...)
}

// added returns the hits with the sums of their scores.
func added(lists [][]knowledge.Hit) []knowledge.Hit {
	if len(lists) == 1 {
		return lists[0]
	}
	var all []weighted
	for _, hits := range lists {
		all = append(all, weighted{hits, 1})
	}
	return rescaled(sum(all...), lists...)
}

// rescaled returns hits with scores of which the highest is as high as the highest of
// the lists that they are the sum of.
func rescaled(hits []knowledge.Hit, lists ...[]knowledge.Hit) []knowledge.Hit {
	highest := 0.0
	for _, list := range lists {
		if len(list) > 0 {
			highest = max(highest, list[0].Score)
		}
	}
	if len(hits) == 0 || hits[0].Score == 0 {
		return hits
	}
	scale := highest / hits[0].Score
	return rescore(hits, func(h knowledge.Hit, _ int) float64 { return h.Score * scale })
}

// best returns the hits with the best of their scores.
func best(lists ...[]knowledge.Hit) []knowledge.Hit {
	highest := map[string]knowledge.Hit{}
	for _, h := range slices.Concat(lists...) {
		if have, ok := highest[h.ChunkID]; !ok || h.Score > have.Score {
			highest[h.ChunkID] = h
		}
	}
	return slices.SortedFunc(maps.Values(highest), func(a, b knowledge.Hit) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.ChunkID, b.ChunkID))
	})
}
