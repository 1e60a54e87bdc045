package chunk

import "github.com/cairn-rag/cairn/internal/knowledge"

// manyChunks is how many chunks long a section without structure is at least.
const manyChunks = 4

// dynamic cuts a section by the strategy that its layout suggests: long prose that
// no heading divides by sliding windows, so that a thought that goes over the end
// of a chunk is whole in the next one. A section of tables, code and lists, and any
// shorter one, is cut by its structure.
func (c cutter) dynamic(section []block) []knowledge.Span {
	prose := 0
	for _, b := range section {
		if !isRows(b.kind) && b.kind != knowledge.BlockList {
			prose += b.span.End - b.span.Start
		}
	}
	if size := sizeOf(section); size > manyChunks*c.size && prose > size/2 {
		return c.sliding(section)
	}
	return c.structure(section)
}
