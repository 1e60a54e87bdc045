package evaluate

import (
	"math"
	"slices"
)

// Retrieval is how well the passages of a question match what its item expects. The values are
// between 0 and 1.
type Retrieval struct {
	NDCG10   float64 `json:"ndcg10"`
	Recall10 float64 `json:"recall10"`
	MRR10    float64 `json:"mrr10"`
}

// ranks is how many of the first of a list are measured.
const ranks = 10

// Measured compares the passages of a case, best first, with the expected documents and pages of
// its item. It returns false if the item expects none. Pages count instead of documents if the item
// expects pages. Several passages of a document are one hit, at the rank of the first.
func Measured(c Case) (Retrieval, bool) {
	var wanted []func(Passage) bool
	for _, page := range c.Item.ExpectedPages {
		wanted = append(wanted, func(p Passage) bool { return slices.Contains(p.Pages, page.Number) && c.Item.mayBeOn(page, p) })
	}
	if len(wanted) == 0 {
		for _, name := range c.Item.ExpectedDocuments {
			wanted = append(wanted, func(p Passage) bool { return p.isOf(name) })
		}
	}
	if len(wanted) == 0 {
		return Retrieval{}, false
	}
	relevant := map[int]bool{} // by the index in wanted
	for i := range wanted {
		relevant[i] = true
	}
	return Ranking(rankedHits(c.Passages, wanted), relevant), true
}

// mayBeOn reports whether a passage is of the document of an expected page.
func (i Item) mayBeOn(page Page, p Passage) bool {
	if page.Document != "" {
		return p.isOf(page.Document)
	}
	return len(i.ExpectedDocuments) == 0 || slices.ContainsFunc(i.ExpectedDocuments, p.isOf)
}

// rankedHits returns what of wanted the passages are, best first. A passage that is none of it has a
// negative number. A further passage of a document takes no rank; one that has two expected
// pages takes two.
func rankedHits(passages []Passage, wanted []func(Passage) bool) []int {
	var ranked []int
	seen, others := map[int]bool{}, map[string]bool{}
	for _, p := range passages {
		found, again := false, false
		for i, is := range wanted {
			if !is(p) {
				continue
			}
			if seen[i] {
				again = true
				continue
			}
			seen[i], found = true, true
			ranked = append(ranked, i)
		}
		if id := p.DocumentID + p.URL; !found && !again && !others[id] {
			others[id] = true
			ranked = append(ranked, -len(others))
		}
	}
	return ranked
}

// Ranking returns the measures of a ranked list, best first, each once, of which relevant ones are
// all that should be found. It returns zeros if nothing is relevant.
func Ranking[T comparable](ranked []T, relevant map[T]bool) Retrieval {
	best, got, hits, first := 0.0, 0.0, 0, 0
	count := 0
	for _, is := range relevant {
		if is {
			count++
		}
	}
	for rank := 1; rank <= min(ranks, count); rank++ {
		best += 1 / math.Log2(float64(rank+1))
	}
	for i, element := range ranked[:min(len(ranked), ranks)] {
		if !relevant[element] {
			continue
		}
		hits++
		got += 1 / math.Log2(float64(i+2))
		if first == 0 {
			first = i + 1
		}
	}
	if hits == 0 {
		return Retrieval{}
	}
	return Retrieval{NDCG10: got / best, Recall10: float64(hits) / float64(count), MRR10: 1 / float64(first)}
}
