package chunk

import (
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// structure cuts blocks at headings, then between blocks, and in a block that is
// larger than a chunk between rows, lines or sentences. Small neighbours under one
// heading share a chunk. Spans overlap only inside a block that had to be cut.
func (c cutter) structure(blocks []block) []knowledge.Span {
	var spans []knowledge.Span
	open := knowledge.Span{Start: -1}
	flush := func() {
		if open.Start >= 0 {
			spans = append(spans, open)
			open.Start = -1
		}
	}
	for len(blocks) > 0 {
		group := blocks[:together(blocks)]
		blocks = blocks[len(group):]
		span := spanOf(group)
		// A heading begins a chunk, unless the text before it is too short for
		// one (a title, or a heading right above this one).
		if group[0].kind == knowledge.BlockHeading && open.Start >= 0 && open.End-open.Start >= c.size/tinyShare {
			flush()
		}
		if open.Start >= 0 && span.End-open.Start > c.size {
			flush()
		}
		switch {
		case span.End-span.Start > c.size:
			flush()
			spans = append(spans, c.cut(group)...)
		case open.Start < 0:
			open = span
		default:
			open.End = span.End
		}
	}
	flush()
	return spans
}

// cut divides blocks that together are larger than a chunk. Rows, lines of code
// and items of a list do not overlap.
func (c cutter) cut(group []block) []knowledge.Span {
	if len(c.separators) > 0 && len(group) == 1 && !isRows(group[0].kind) {
		return c.separated(group[0].span, c.separators)
	}
	for _, b := range group {
		if isRows(b.kind) || b.kind == knowledge.BlockList {
			c.overlap = 0
		}
	}
	return c.inWindows(pack(group[0].span.Start, c.partEnds(group), c.size, c.overlap))
}

// together returns how many of the first blocks stay together: a figure or table
// and the captions beside it, else one block.
func together(blocks []block) int {
	n := 1
	for n < len(blocks) && stayTogether(blocks, n-1) {
		n++
	}
	return n
}

// stayTogether reports whether the block i and the next one are a caption and its
// figure or table. A caption between two of them belongs to the figure before it,
// else to the one after it.
func stayTogether(blocks []block, i int) bool {
	a, b := blocks[i].kind, blocks[i+1].kind
	switch {
	case a == knowledge.BlockCaption && isCaptioned(b):
		return i == 0 || !isCaptioned(blocks[i-1].kind) || blocks[i-1].kind == knowledge.BlockTable
	case b == knowledge.BlockCaption && a == knowledge.BlockTable:
		return i+2 == len(blocks) || !isCaptioned(blocks[i+2].kind)
	default:
		return b == knowledge.BlockCaption && a == knowledge.BlockFigure
	}
}

func isCaptioned(kind knowledge.BlockKind) bool {
	return kind == knowledge.BlockFigure || kind == knowledge.BlockTable
}
