package chunk

import (
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// structure cuts a document at its structure: at headings, then between blocks,
// and in a block that is larger than a chunk between rows, lines or sentences.
// Small neighbours under one heading share a chunk. Spans overlap only inside a
// block that had to be cut.
func structure(d *document, s knowledge.Splitter) []knowledge.Span {
	var spans []knowledge.Span
	open := knowledge.Span{Start: -1}
	flush := func() {
		if open.Start >= 0 {
			spans = append(spans, open)
			open.Start = -1
		}
	}
	for _, b := range d.blocks {
		size := b.span.End - b.span.Start
		if size == 0 {
			continue
		}
		// A heading begins a chunk, unless the text before it is too short for
		// one (a title, or a heading right above this one).
		if b.kind == knowledge.BlockHeading && open.Start >= 0 && open.End-open.Start >= s.ChunkSize/4 {
			flush()
		}
		if open.Start >= 0 && b.span.End-open.Start > s.ChunkSize {
			flush()
		}
		switch {
		case size > s.ChunkSize:
			flush()
			spans = append(spans, cut(d, b, s)...)
		case open.Start < 0:
			open = b.span
		default:
			open.End = b.span.End
		}
	}
	flush()
	return spans
}

// cut divides a block that is larger than a chunk.
func cut(d *document, b block, s knowledge.Splitter) []knowledge.Span {
	runes := d.runes[b.span.Start:b.span.End]
	var units []int // ends of the block's parts, as offsets from its start
	overlap := *s.ChunkOverlap
	switch b.kind {
	case knowledge.BlockTable, knowledge.BlockCode, knowledge.BlockList:
		units, overlap = lineEnds(runes), 0
	default:
		units = sentenceEnds(runes)
	}
	spans := pack(units, s.ChunkSize, overlap)
	var out []knowledge.Span
	for _, span := range spans {
		span.Start, span.End = span.Start+b.span.Start, span.End+b.span.Start
		if span.End-span.Start <= s.ChunkSize {
			out = append(out, span)
			continue
		}
		// One sentence or row is larger than a chunk.
		out = append(out, windows(d.runes, span, s.ChunkSize, overlap)...)
	}
	return out
}

// pack joins parts, given by their ends, to spans of at most size. Each span
// begins with the parts of the previous one that fit into the overlap. A part
// that is larger than size becomes a span of its own.
func pack(ends []int, size, overlap int) []knowledge.Span {
	var spans []knowledge.Span
	start, first := 0, 0 // start offset and first part of the open span
	for i := range ends {
		begin := partStart(ends, i)
		if i > first && ends[i]-start > size {
			spans = append(spans, knowledge.Span{Start: start, End: begin})
			first = i
			for first > 0 && partStart(ends, first-1) > start && begin-partStart(ends, first-1) <= overlap && ends[i]-partStart(ends, first-1) <= size {
				first--
			}
			start = partStart(ends, first)
		}
	}
	if len(ends) > 0 {
		spans = append(spans, knowledge.Span{Start: start, End: ends[len(ends)-1]})
	}
	return spans
}

func partStart(ends []int, i int) int {
	if i == 0 {
		return 0
	}
	return ends[i-1]
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
