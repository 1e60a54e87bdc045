package retrieve

import (
	"cmp"
	"slices"
	"strings"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
)

// numberWeight is what a passage that has all numbers of a question gains over one that has
// none. The name of a report mostly has its year, and every passage has the name in front:
// for an index, all passages of the report have the year of the question. The passages that
// answer have it in their sentences, or as the header of a column.
const numberWeight = 0.1

// preferNumbers sorts passages, best first, so that passages which themselves have the
// numbers of the question gain over passages whose document or headings alone have them. It
// changes their scores. A search by one leg alone keeps the order of the leg.
func (s *search) preferNumbers(views []store.ChunkView, scores map[string]float64) {
	strategy := s.request.Config.Strategy
	if s.placed || strategy == knowledge.StrategyDense || strategy == knowledge.StrategyBM25 {
		return
	}
	asked := numbersIn(s.probes[0].words)
	if len(asked) == 0 {
		return
	}
	for _, v := range views {
		own, found := append(numbersIn(v.Header), numbersIn(v.Text)...), 0
		for _, number := range asked {
			if slices.Contains(own, number) {
				found++
			}
		}
		scores[v.ID] = min(1, scores[v.ID]+numberWeight*float64(found)/float64(len(asked)))
		s.trace.weighed(v.ID, scores[v.ID])
	}
	sortByScore(views, scores)
}

// sortByScore sorts passages, best first, equal ones in their order.
func sortByScore(views []store.ChunkView, scores map[string]float64) {
	slices.SortStableFunc(views, func(a, b store.ChunkView) int { return cmp.Compare(scores[b.ID], scores[a.ID]) })
}

// numbersIn returns the numbers of a text, of two digits or more, with the points and commas
// between their digits: 2023 of FY2023, and 1,204.5. A digit alone is on every page.
func numbersIn(text string) []string {
	var numbers []string
	for i := 0; i < len(text); {
		if !isDigit(text[i]) {
			i++
			continue
		}
		end := i + 1
		for end < len(text) && (isDigit(text[end]) || strings.IndexByte(".,", text[end]) >= 0 && end+1 < len(text) && isDigit(text[end+1])) {
			end++
		}
		if end-i > 1 {
			numbers = append(numbers, text[i:end])
		}
		i = end
	}
	return numbers
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }
