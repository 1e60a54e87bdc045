package chunk

import (
	"strings"
	"unicode/utf8"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// separated cuts a span after the first separator. Small parts share a chunk, and a
// part that is larger than a chunk is cut on its own after the other separators.
func (c cutter) separated(within knowledge.Span, separators []string) []knowledge.Span {
	if len(separators) == 0 {
		return c.inWindows([]knowledge.Span{within})
	}
	ends := separatedEnds(c.runes[within.Start:within.End], separators[:1], c.size)
	for i := range ends {
		ends[i] += within.Start
	}
	var spans []knowledge.Span
	for _, span := range pack(within.Start, ends, c.size, c.overlap) {
		if span.End-span.Start <= c.size {
			spans = append(spans, span)
		} else {
			spans = append(spans, c.separated(span, separators[1:])...)
		}
	}
	return spans
}

// separatedEnds returns the ends of the parts of a text, which end after the first
// separator. A part that is longer than size is parted by the other separators.
func separatedEnds(runes []rune, separators []string, size int) []int {
	d := &document{runes: runes}
	var ends []int
	var divide func(text string, at int, separators []string)
	divide = func(text string, at int, separators []string) {
		start := at // of the part
		for part := range strings.SplitAfterSeq(text, separators[0]) {
			if at += utf8.RuneCountInString(part); at == start || d.inCluster(start, at) {
				continue
			}
			if at-start > size && len(separators) > 1 {
				divide(string(runes[start:at]), start, separators[1:])
			}
			if len(ends) == 0 || ends[len(ends)-1] < at {
				ends = append(ends, at)
			}
			start = at
		}
	}
	divide(string(runes), 0, separators)
	return ends
}
