package retrieve

import (
	"slices"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
)

// WordComparer is an Embedder that also compares texts with a question word by word.
type WordComparer interface {
	Embedder
	// CompareWords returns for each text how near its words are to those of the question in
	// meaning, 0 to 1, and the largest share of the question's words that a text has itself.
	// near is nil if that share is enough, or the model knows no meanings of words.
	CompareWords(question string, texts []string, enough float64) (near []float64, literal float64)
}

// The share of the nearness of words in the score of a passage. Where a passage has a third of
// the question's words itself, BM25 knows best; where none has a sixth, it finds a word that
// the passage shares by chance.
const (
	nearnessShare = 0.5
	fewWords      = 1. / 6
	enoughWords   = 1. / 3
)

// compareWords sorts passages, best first, by their fused scores and by how near their words
// are to those of the question. The vector of a static model is the mean of all sentences of a
// passage, of which mostly one answers. It changes the scores. A search by one leg alone keeps
// the order of the leg, one with weights of the project keeps to these, and one for several
// questions has no single one to compare with.
func (s *search) compareWords(groups []*group, views []store.ChunkView, scores map[string]float64) {
	if s.placed || len(groups) != 1 || len(s.probes) != 1 || s.request.Config.Weights != nil || s.strategy(groups[0]) != knowledge.StrategyHybrid {
		return
	}
	words, ok := groups[0].embed.(WordComparer)
	if !ok {
		return
	}
	texts := make([]string, len(views))
	for i, v := range views {
		texts[i] = withHeader(v.Chunk)
	}
	near, literal := words.CompareWords(s.probes[0].meaning, texts, enoughWords)
	if len(near) == 0 {
		return
	}
	share := nearnessShare * min(1, (enoughWords-literal)/(enoughWords-fewWords))
	low, high := slices.Min(near), slices.Max(near)
	if share <= 0 || low == high {
		return
	}
	for i, v := range views {
		scores[v.ID] = (1-share)*scores[v.ID] + share*(near[i]-low)/(high-low)
		s.trace.weighed(v.ID, scores[v.ID])
	}
	sortByScore(views, scores)
}
