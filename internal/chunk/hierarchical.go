package chunk

import (
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// childShare is the divisor of ChunkSize for the size of the children.
const childShare = 4

// hierarchical cuts a document by structure into parents of at most ChunkSize, and
// each parent by structure into children. Neither overlap: the text around a child
// is in its parent. A sentence or row that is longer than a child stays whole.
func (c cutter) hierarchical() []piece {
	c.overlap = 0
	child := c
	child.size = max(c.size/childShare, knowledge.MinChunkSize)
	var pieces []piece
	for _, parent := range c.structure(c.blocks) {
		for _, span := range child.structure(c.clip(parent)) {
			pieces = append(pieces, piece{span, parent})
		}
	}
	return pieces
}

// joinParents narrows the parents of chunks to the text of their children, and
// appends to each child the white space before the next one where its tokens allow
// that: a parent is then the texts of its children one after another. An only child
// has no parent.
func (d *document) joinParents(chunks []knowledge.Chunk) {
	for len(chunks) > 0 {
		n := 1
		parent := chunks[0].Parent
		for parent != (knowledge.Span{}) && n < len(chunks) && chunks[n].Parent == parent {
			n++
		}
		family := chunks[:n]
		chunks = chunks[n:]
		parent = knowledge.Span{Start: family[0].Span.Start, End: family[n-1].Span.End}
		if n == 1 {
			parent = knowledge.Span{}
		}
		for i := range family {
			family[i].Parent = parent
			if i+1 < n {
				d.extend(&family[i], family[i+1].Span.Start)
			}
		}
	}
}

// extend appends the white space up to end to a chunk.
func (d *document) extend(c *knowledge.Chunk, end int) {
	longer := *c
	longer.Span.End = end
	longer.Text = string(d.runes[longer.Span.Start:end])
	if d.limit.allows(longer) {
		*c = longer
	}
}
