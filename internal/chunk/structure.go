package chunk

import (
	"slices"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// structure cuts blocks at headings, then between blocks, and in a block that is
// larger than a chunk between rows, lines or sentences. Small neighbours under one
// heading share a chunk, and a heading shares one with the beginning of what is below
// it. A picture that was described shares one with its captions and headings only.
// Spans overlap only inside a block that had to be cut.
func (c cutter) structure(blocks []block) []knowledge.Span {
	var spans []knowledge.Span
	first, next := 0, 0 // blocks[first:next] are the chunk that is open
	flush := func(end int) {
		if end > first {
			spans = append(spans, spanOf(blocks[first:end]))
			first = end
		}
	}
	for next < len(blocks) {
		end := next + together(blocks[next:])
		isAlone := isAlone(blocks[next:end])
		// A heading begins a chunk, unless the text before it is too short for
		// one (a title, or a heading right above this one).
		if blocks[next].kind == knowledge.BlockHeading && next > first && sizeOf(blocks[first:next]) >= c.size/tinyShare {
			flush(next)
		}
		if isAlone || sizeOf(blocks[first:end]) > c.size {
			flush(next - headingsBefore(blocks[first:next]))
		}
		if sizeOf(blocks[first:end]) > c.size {
			spans = append(spans, c.cut(blocks[first:end])...)
			first = end
		}
		if next = end; isAlone {
			flush(next)
		}
	}
	flush(next)
	return spans
}

// headingsBefore returns how many headings are at the end of some blocks.
func headingsBefore(blocks []block) int {
	n := 0
	for n < len(blocks) && blocks[len(blocks)-1-n].kind == knowledge.BlockHeading {
		n++
	}
	return n
}

// headingsOf returns how many headings some blocks begin with.
func headingsOf(blocks []block) int {
	n := 0
	for n < len(blocks) && blocks[n].kind == knowledge.BlockHeading {
		n++
	}
	return n
}

// cut divides blocks that together are larger than a chunk: headings, and what is
// below them. Rows, lines of code and items of a list do not overlap.
func (c cutter) cut(group []block) []knowledge.Span {
	if len(c.separators) > 0 && len(group) == 1 && !isRows(group[0].kind) {
		return c.separated(group[0].span, c.separators)
	}
	for _, b := range group {
		if isRows(b.kind) || b.kind == knowledge.BlockList {
			c.overlap = 0
		}
	}
	start, headings := group[0].span.Start, headingsOf(group)
	if headings == 0 || headings == len(group) {
		return c.inWindows(pack(start, c.partEnds(group), c.size, c.overlap))
	}
	below := group[headings].span.Start
	parts := c
	parts.size = max(c.size-(below-start), 1) // so that the headings and a part fit
	return c.inWindows(c.joinHeadings(pack(start, parts.partEnds(group), c.size, c.overlap), below))
}

// joinHeadings joins a first span that ends where the text below the headings begins
// with the second one, unless the second one would have to be cut for that.
func (c cutter) joinHeadings(spans []knowledge.Span, below int) []knowledge.Span {
	if len(spans) < 2 || spans[0].End > below {
		return spans
	}
	second := spans[1]
	if second.End-spans[0].Start > c.longest && second.End-second.Start <= c.longest {
		return spans
	}
	spans[1].Start = spans[0].Start
	return spans[1:]
}

func isAlone(group []block) bool {
	return slices.ContainsFunc(group, func(b block) bool { return b.alone })
}

// together returns how many of the first blocks stay together: a figure or table
// and the captions beside it, else one block.
func together(blocks []block) int {
	n := 1
	for n < len(blocks) && blocks[n-1].joined {
		n++
	}
	return n
}
