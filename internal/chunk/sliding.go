package chunk

import "github.com/cairn-rag/cairn/internal/knowledge"

// sliding cuts a section into windows of whole sentences, rows or lines. Each
// window begins with those at the end of the previous one that fit into the
// overlap.
func (c cutter) sliding(section []block) []knowledge.Span {
	if span := spanOf(section); span.End-span.Start <= c.size {
		return []knowledge.Span{span}
	}
	return c.inWindows(pack(section[0].span.Start, c.partEnds(section), c.size, c.overlap))
}
