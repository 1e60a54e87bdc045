package chunk

import (
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// originOf returns the lines of the file that hold a span that was trimmed. Where
// a block does not follow the file line by line, they are all lines of the block.
func (d *document) originOf(span knowledge.Span) knowledge.Origin {
	first, last := &d.blocks[d.blockFrom(span.Start)], &d.blocks[d.blockFrom(span.End-1)]
	if first.origin.First == 0 || last.origin.First == 0 {
		return knowledge.Origin{}
	}
	o := knowledge.Origin{First: first.origin.First, Last: last.origin.Last}
	if first.origin.LineByLine {
		o.First += first.lineInFile(d.ends.before(d.runes, span.Start) - first.ends)
	}
	if last.origin.LineByLine {
		o.Last = last.origin.First + last.lineInFile(d.ends.before(d.runes, span.End-1)-last.ends)
	}
	return o
}

// lineInFile returns how many lines of the file are between the start of the block
// and a line of its text, 0 = first.
func (b *block) lineInFile(line int) int {
	if b.dashes && line > 0 {
		return line - 1
	}
	return line
}

// lineEndCount counts line ends from where it was asked last: chunks come in the
// order of the text, so that it goes over the text once.
type lineEndCount struct{ at, count int }

// before returns the number of line ends before a place.
func (c *lineEndCount) before(runes []rune, place int) int {
	for ; c.at < place; c.at++ {
		if runes[c.at] == '\n' {
			c.count++
		}
	}
	for ; c.at > place; c.at-- {
		if runes[c.at-1] == '\n' {
			c.count--
		}
	}
	return c.count
}
