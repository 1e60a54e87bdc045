package chunk

import (
	"iter"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// tinyShare is the divisor of a chunk's size below which a text is too short for a
// chunk of its own, so that it shares one with what follows the next heading.
const tinyShare = 4

// sections yields the blocks of each section: from one heading up to the next. A
// tiny section continues in the next one. A picture that was described is a section with
// its captions and headings.
func (c cutter) sections() iter.Seq[[]block] {
	return func(yield func([]block) bool) {
		first := 0
		for i := 0; i < len(c.blocks); {
			group := c.blocks[i : i+together(c.blocks[i:])]
			start := i
			isAlone := isAlone(group)
			if isAlone {
				start -= headingsBefore(c.blocks[first:i])
			}
			begins := isAlone || group[0].kind == knowledge.BlockHeading && i > first && sizeOf(c.blocks[first:i]) >= c.size/tinyShare
			if begins && start > first && !yield(c.blocks[first:start]) {
				return
			}
			if begins {
				first = start
			}
			if i += len(group); isAlone {
				if !yield(c.blocks[first:i]) {
					return
				}
				first = i
			}
		}
		if first < len(c.blocks) {
			yield(c.blocks[first:])
		}
	}
}

// spanOf returns the span of consecutive blocks, of which there is at least one.
func spanOf(blocks []block) knowledge.Span {
	return knowledge.Span{Start: blocks[0].span.Start, End: blocks[len(blocks)-1].span.End}
}

func sizeOf(blocks []block) int {
	span := spanOf(blocks)
	return span.End - span.Start
}

// isRows reports whether the lines of a block are kept whole: rows of a table,
// lines of code.
func isRows(kind knowledge.BlockKind) bool {
	return kind == knowledge.BlockTable || kind == knowledge.BlockCode
}

// partEnds returns the ends of the parts that consecutive blocks are made of: the
// rows of a table, the lines of code and lists, and the sentences of other blocks,
// or what the separators part. A part ends where the next one begins, so that white
// space between two belongs to the first. A caption and the part of the figure or
// table beside it are one part, unless that is longer than a chunk.
func (c cutter) partEnds(blocks []block) []int {
	var ends []int
	start := blocks[0].span.Start
	for i, b := range blocks {
		before := len(ends)
		ends = c.appendPartEnds(ends, b)
		if len(ends) > before && i+1 < len(blocks) {
			ends[len(ends)-1] = blocks[i+1].span.Start
		}
		if i == 0 || before == 0 || len(ends) == before || !blocks[i-1].joined {
			continue
		}
		from := partStart(start, ends, before-1)
		if ends[before]-from <= c.size { // without the end between the two
			ends = append(ends[:before-1], ends[before:]...)
		}
	}
	return ends
}

// appendPartEnds appends the ends of the parts of one block.
func (c cutter) appendPartEnds(ends []int, b block) []int {
	runes := c.runes[b.span.Start:b.span.End]
	var own []int
	switch {
	case isRows(b.kind) || b.kind == knowledge.BlockList && len(c.separators) == 0:
		own = lineEnds(runes)
	case len(c.separators) > 0:
		own = separatedEnds(runes, c.separators, c.size)
	default:
		own = sentenceEnds(runes)
	}
	for i := range own {
		own[i] += b.span.Start
	}
	if len(ends) == 0 {
		return own
	}
	return append(ends, own...)
}

// pack joins parts, given by their ends, to spans of at most size, the first of
// which begins at start. Each span begins with the parts of the previous one that
// fit into the overlap. A part that is larger than size becomes a span of its own.
func pack(start int, ends []int, size, overlap int) []knowledge.Span {
	var spans []knowledge.Span
	from, first := start, 0 // start and first part of the open span
	for i := range ends {
		begin := partStart(start, ends, i)
		if i > first && ends[i]-from > size {
			spans = append(spans, knowledge.Span{Start: from, End: begin})
			first = i
			for first > 0 && partStart(start, ends, first-1) > from && begin-partStart(start, ends, first-1) <= overlap && ends[i]-partStart(start, ends, first-1) <= size {
				first--
			}
			from = partStart(start, ends, first)
		}
	}
	if len(ends) > 0 {
		spans = append(spans, knowledge.Span{Start: from, End: ends[len(ends)-1]})
	}
	return spans
}

// partStart returns the start of the part i.
func partStart(start int, ends []int, i int) int {
	if i == 0 {
		return start
	}
	return ends[i-1]
}

// inWindows cuts the spans that are longer than the longest part.
func (c cutter) inWindows(spans []knowledge.Span) []knowledge.Span {
	out := spans[:0:0]
	for _, span := range spans {
		if span.End-span.Start <= c.longest {
			out = append(out, span)
		} else { // one sentence or row is longer than a chunk
			out = append(out, c.windows(span)...)
		}
	}
	return out
}

func lineEnds(runes []rune) []int {
	var ends []int
	for i, r := range runes {
		if r == '\n' {
			ends = append(ends, i+1)
		}
	}
	if len(runes) > 0 && (len(ends) == 0 || ends[len(ends)-1] < len(runes)) {
		ends = append(ends, len(runes))
	}
	return ends
}
