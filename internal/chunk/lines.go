package chunk

import (
	"sort"
	"unicode/utf8"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// Lines returns the lines of the blocks of a layout, with offsets into its Text, in order.
func Lines(layout knowledge.Layout) knowledge.Lines {
	var lines knowledge.Lines
	start, separator := 0, utf8.RuneCountInString(knowledge.BlockSeparator)
	for _, b := range layout.Blocks {
		if !hasText(b) {
			continue
		}
		for _, l := range b.Lines {
			l.Start, l.End = l.Start+start, l.End+start
			lines = append(lines, l)
		}
		start += utf8.RuneCountInString(b.Text) + separator
	}
	return lines
}

// LinesIn returns those of the lines of a document that are in a span, cut to it, with
// offsets from its start.
func LinesIn(all []knowledge.Line, span knowledge.Span) []knowledge.Line {
	i := sort.Search(len(all), func(i int) bool { return all[i].End > span.Start })
	var lines []knowledge.Line
	for ; i < len(all) && all[i].Start < span.End; i++ {
		l := all[i]
		start, end := max(l.Start, span.Start), min(l.End, span.End)
		if start >= end {
			continue
		}
		box := l.Box
		if start != l.Start || end != l.End {
			box = l.Part(start, end)
		}
		lines = append(lines, knowledge.Line{
			Start: start - span.Start, End: end - span.Start, Page: l.Page, Box: box, Hyphen: l.Hyphen && end == l.End,
		})
	}
	return lines
}
