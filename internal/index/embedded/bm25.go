package embedded

import (
	"context"
	"fmt"
	"math"
	"sync"

	"github.com/cairn-rag/cairn/internal/index"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/words"
)

// The constants of BM25, with their usual values.
const (
	saturation = 1.2  // k1: how much further occurrences of a word add
	lengthRate = .75  // b: how much the length of a passage counts
	leastIDF   = 1e-6 // of a word in more than half of the passages
)

// BM25 returns the entries that share words with text. The scores equal the scores of
// FTS5's bm25 function, which takes 1 µs for each occurrence of each word; a
// list in memory takes a hundredth of that.
func (x *Index) BM25(ctx context.Context, q index.Query, text string) ([]knowledge.Hit, error) {
	if err := q.Check(); err != nil {
		return nil, err
	}
	terms := words.Question(text)
	if len(terms) == 0 {
		return nil, nil
	}
	workspace, err := x.workspace(ctx, q.Principal.Workspace())
	if err != nil || workspace == 0 {
		return nil, err
	}
	r, err := x.passages.ranking(ctx, workspace, terms)
	if err != nil {
		return nil, fmt.Errorf("read the passages with a word: %w", err)
	}
	return x.search(ctx, q, workspace, r)
}

// wordRanking ranks the passages of a workspace for some terms.
type wordRanking struct {
	passages *passages
	lists    []*postings // one for each term
}

func (r *wordRanking) best(_ context.Context, k int) ([]scored, error) {
	return r.rank(k, nil), nil
}

func (r *wordRanking) among(_ context.Context, entries []int64, k int) ([]scored, error) {
	r.passages.mu.RLock()
	allowed := r.passages.slotsOf(entries)
	r.passages.mu.RUnlock()
	return r.rank(k, allowed), nil
}

// blockSlots is the number of passages that are ranked at a time. Their scores
// stay in the processor's cache.
const blockSlots = 8192

// blockScores holds blocks of scores that are all 0.
var blockScores = sync.Pool{New: func() any { return new([blockSlots]float64) }}

// rank returns the k best passages of the allowed slots, nil = all. It ignores
// passages that a list does not yet cover: they were written after the search
// began.
func (r *wordRanking) rank(k int, allowed slotSet) []scored {
	p := r.passages
	p.mu.RLock()
	defer p.mu.RUnlock()
	if p.live == 0 {
		return nil
	}
	average := float64(p.tokens) / float64(p.live)
	covered := len(p.entries)
	readers, weights := make([]postingReader, len(r.lists)), make([]float64, len(r.lists))
	for i, list := range r.lists {
		covered = min(covered, list.covered)
		readers[i] = list.reader()
		weights[i] = idf(p.live, list.frequency)
	}
	best := bestOf{k: k}
	scores := blockScores.Get().(*[blockSlots]float64)
	defer blockScores.Put(scores)
	for block := 0; block < covered; block += blockSlots {
		end := min(block+blockSlots, covered)
		for i := range readers {
			for slot, times, ok := readers[i].next(end); ok; slot, times, ok = readers[i].next(end) {
				length := float64(p.lengths[slot])
				n := float64(times)
				scores[slot-block] += weights[i] * (n * (saturation + 1) / (n + saturation*(1-lengthRate+lengthRate*length/average)))
			}
		}
		for slot := block; slot < end; slot++ {
			if score := scores[slot-block]; score > 0 {
				scores[slot-block] = 0
				if p.lengths[slot] != removed && (allowed == nil || allowed.has(slot)) {
					best.add(scored{p.entries[slot], score})
				}
			}
		}
	}
	return best.sorted()
}

// idf returns the weight of a word that occurs in n of all passages. A removal
// may have changed all since n was counted.
func idf(all, n int) float64 {
	n = min(n, all)
	return max(leastIDF, math.Log((float64(all-n)+.5)/(float64(n)+.5)))
}
