package pdf

import (
	"unicode/utf8"

	"github.com/cairn-rag/cairn/internal/extract/layout"
	"github.com/cairn-rag/cairn/internal/extract/script"
)

// pageLine is a line with what glueing it to another one needs.
type pageLine struct {
	layout.Line
	base         glyph           // whose font and height are of the line
	begins, ends script.Position // of its first and last character
}

// lineList is the lines of a page so far.
type lineList struct {
	lines []layout.Line
	last  pageLine // with which the last one began
}

// appendLine appends a line, or glues it to the one before. A raised or lowered text is
// written as such then, because the mark of a note must not become part of a number.
func (t textPage) appendLine(list *lineList, l pageLine) error {
	n := len(list.lines)
	if n == 0 || !touches(list.lines[n-1], l.Line) {
		list.lines, list.last = append(list.lines, l.Line), l
		return nil
	}
	last := &list.lines[n-1]
	own, err := t.relative(l, list.last.base)
	if err != nil {
		return err
	}
	first, err := t.relative(pageLine{Line: *last, base: list.last.base}, l.base)
	if err != nil {
		return err
	}
	// pdfium takes a page with two narrow columns far apart, such as a table without other
	// text, for a page that is written downwards. Where the file draws each letter by an
	// operator of its own, it then ends a line behind each letter.
	space := gapOf(*last, l.Line) > leastSpace*height(layout.Upright(l.Box, l.Turned))
	switch {
	case own != script.OnLine:
		setText(&l.Line, written(l.Text, own))
		l.ends, space = own, false
	case first != script.OnLine: // a mark before the text of its note
		setText(last, written(last.Text, first))
		last.Size, last.Bold = l.Size, l.Bold
		list.last.base, space = l.base, true
	case l.begins != script.OnLine:
		space = false
	}
	*last = glue(*last, l.Line, space)
	list.last.ends = l.ends
	return nil
}

// leastSpace is the least width of a space, in heights of its line, where pdfium does not
// say whether there is one.
const leastSpace = .12

// relative returns the position of a line beside a glyph of the line before it.
func (t textPage) relative(l pageLine, base glyph) (script.Position, error) {
	if !isSmall(l.base, base, l.Turned) || utf8.RuneCountInString(l.Text) > longestScript {
		return script.OnLine, nil
	}
	return t.positionOf(l.base, base, l.Turned)
}

// setText changes the text of a line, which then is one word.
func setText(l *layout.Line, text string) {
	if l.Text = text; l.Words != nil {
		l.Words = []layout.Word{{End: utf8.RuneCountInString(text), X1: l.Box.X1, X2: l.Box.X2}}
	}
}

// touches reports whether l continues right where before ends, as after an
// exponent, where pdfium ends a line.
func touches(before, l layout.Line) bool {
	return before.Role == l.Role && layout.Beside(before, l) && gapOf(before, l) < height(layout.Upright(before.Box, before.Turned))/2
}

// gapOf returns the gap between two lines that stand beside each other.
func gapOf(before, l layout.Line) float64 {
	return layout.Upright(l.Box, l.Turned).X1 - layout.Upright(before.Box, before.Turned).X2
}

// glue returns two lines as one, with or without a space between them.
func glue(a, b layout.Line, space bool) layout.Line {
	between := " "
	if !space {
		between = ""
	}
	shift := utf8.RuneCountInString(a.Text) + len(between)
	if a.Words != nil && b.Words != nil {
		for i, w := range b.Words {
			w.Start, w.End = w.Start+shift, w.End+shift
			if last := len(a.Words) - 1; i == 0 && !space && last >= 0 {
				a.Words[last].End, a.Words[last].X2 = w.End, w.X2
				continue
			}
			a.Words = append(a.Words, w)
		}
	} else {
		a.Words = nil
	}
	a.Text += between + b.Text
	a.Box = a.Box.Union(b.Box)
	return a
}
