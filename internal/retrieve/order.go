package retrieve

import (
	"cmp"
	"slices"

	"github.com/cairn-rag/cairn/internal/citation"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// PromptOrder returns passages, which are in the order of their ranks, in the order in
// which the model reads them. contexts are the contexts of the passages.
func PromptOrder(passages []citation.Context, contexts []Context, order string) []citation.Context {
	switch order {
	case knowledge.OrderDocument:
		return byDocument(passages, contexts)
	case knowledge.OrderEdges:
		return toEdges(passages)
	default:
		return passages
	}
}

// byDocument puts the passages of a document together, in their order there. The
// documents are in the order of their best passages.
func byDocument(passages []citation.Context, contexts []Context) []citation.Context {
	ordinals, first := map[string]int{}, map[string]int{}
	for _, c := range contexts {
		ordinals[c.ID] = c.Ordinal
	}
	for i, p := range passages {
		if _, ok := first[p.DocumentID]; !ok {
			first[p.DocumentID] = i
		}
	}
	sorted := slices.Clone(passages)
	slices.SortStableFunc(sorted, func(a, b citation.Context) int {
		return cmp.Or(cmp.Compare(first[a.DocumentID], first[b.DocumentID]), cmp.Compare(ordinals[a.ChunkID], ordinals[b.ChunkID]))
	})
	return sorted
}

// toEdges puts the best passages at the beginning and at the end: models overlook what is
// in the middle of a long prompt.
func toEdges(passages []citation.Context) []citation.Context {
	sorted := make([]citation.Context, len(passages))
	front, back := 0, len(passages)-1
	for i, p := range passages {
		if i%2 == 0 {
			sorted[front] = p
			front++
		} else {
			sorted[back] = p
			back--
		}
	}
	return sorted
}
