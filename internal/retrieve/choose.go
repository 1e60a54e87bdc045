package retrieve

import (
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// choose returns the passages for the model, best first and ranked: those that reach the
// minimum score and fit into the limits of the configuration.
func (s *search) choose(pool []Context) []Context {
	limits := s.request.Config
	var chosen []Context
	room := limits.ContextTokens
	of := map[string]int{} // passages by document
	for _, c := range pool {
		c.Around = limits.Neighbours
		if c.Parent != (knowledge.Span{}) || c.Page != nil {
			c.Around = 0 // the model reads the parent, or the page
		}
		size := 0
		if limits.ContextTokens > 0 {
			size = estimateRead(c)
		}
		switch {
		case c.Score < limits.MinScore:
			s.trace.drop(c.ChunkView, DropMinScore)
		case limits.PerDocument > 0 && of[c.container()] == limits.PerDocument:
			s.trace.drop(c.ChunkView, DropPerDocument)
		case readBeside(chosen, c):
			s.trace.drop(c.ChunkView, DropNeighbour)
		case len(chosen) == limits.NumberOfChunks:
			s.trace.drop(c.ChunkView, DropNumber)
		case len(chosen) > 0 && size > room:
			s.trace.drop(c.ChunkView, DropTokens)
		default:
			room -= size
			of[c.container()]++
			c.Rank = len(chosen) + 1
			chosen = append(chosen, c)
		}
	}
	return chosen
}

// selects reports whether choose may drop passages that others could replace.
func (s *search) selects() bool {
	c := s.request.Config
	return c.PerDocument > 0 || c.Neighbours > 0 || c.ContextTokens > 0
}

// readBeside reports whether the model reads a passage with one that was chosen.
func readBeside(chosen []Context, c Context) bool {
	for _, other := range chosen {
		distance := max(c.Ordinal-other.Ordinal, other.Ordinal-c.Ordinal)
		if c.Page == nil && other.DocumentID == c.DocumentID && other.Version == c.Version && distance <= other.Around {
			return true
		}
	}
	return false
}

// estimateRead estimates how many tokens the model reads for a passage: of its parent, or
// of its neighbours too, as if they were as dense as the passage.
func estimateRead(c Context) int {
	own := knowledge.EstimateTokens(withHeader(c.Chunk))
	if parent, span := c.Parent.End-c.Parent.Start, c.Span.End-c.Span.Start; parent > span && span > 0 {
		return own * parent / span
	}
	return own * (1 + 2*c.Around)
}
