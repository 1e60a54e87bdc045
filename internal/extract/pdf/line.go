package pdf

import (
	"math"
	"strings"
	"unicode"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// line is one line of text on one page.
type line struct {
	text   string
	page   int           // 1 = first
	box    knowledge.Box // on the displayed page, clipped to it
	turned int           // direction, in quarter turns clockwise
	upbox  knowledge.Box // box turned upright
	size   float64       // font size as displayed
	bold   bool
}

// maxGap is the gap between two characters, in heights of the line, above which
// they belong to different lines: columns, or cells of a table.
const maxGap = 1.5

// lines returns the lines of the page in the order in which they are drawn.
func (t textPage) lines(page int) ([]line, error) {
	glyphs, err := t.glyphs()
	if err != nil {
		return nil, err
	}
	var lines []line
	for _, run := range runs(glyphs) {
		turned, err := t.direction(firstVisible(run).index)
		if err != nil {
			return nil, err
		}
		for _, part := range split(run, turned) {
			l, ok := makeLine(part, t.frame, turned)
			if !ok {
				continue
			}
			l.page = page
			if l.size, l.bold, err = t.font(firstVisible(part).index); err != nil {
				return nil, err
			}
			if n := len(lines); n > 0 && touches(lines[n-1], l) {
				lines[n-1] = glue(lines[n-1], l)
				continue
			}
			lines = append(lines, l)
		}
	}
	return lines, nil
}

// touches reports whether l continues right where before ends, as after an
// exponent, where pdfium ends a line.
func touches(before, l line) bool {
	return beside(before, l) && l.upbox.X1-before.upbox.X2 < height(before.upbox)/2
}

func glue(a, b line) line {
	a.text += " " + b.text // a note's number must not become part of another number
	a.box, a.upbox = a.box.Union(b.box), a.upbox.Union(b.upbox)
	return a
}

// runs splits the characters where pdfium ends a line.
func runs(glyphs []glyph) [][]glyph {
	var out [][]glyph
	start := 0
	cut := func(end int) {
		if run := glyphs[start:end]; firstVisible(run).visible() {
			out = append(out, run)
		}
		start = end
	}
	for i, g := range glyphs {
		if endsLine(g.char) {
			cut(i + 1)
		}
	}
	cut(len(glyphs))
	return out
}

func firstVisible(glyphs []glyph) glyph {
	for _, g := range glyphs {
		if g.visible() {
			return g
		}
	}
	return glyph{}
}

// split cuts a run where the next character is at another height or far from
// the characters before it.
func split(run []glyph, turned int) [][]glyph {
	var parts [][]glyph
	start := 0
	var box knowledge.Box // of the part so far, upright
	for i, g := range run {
		if !g.visible() {
			continue
		}
		b := upright(g.box, turned)
		if (box != knowledge.Box{}) && apart(box, b) {
			parts = append(parts, run[start:i])
			start, box = i, knowledge.Box{}
		}
		if (box == knowledge.Box{}) {
			box = b
		} else {
			box = box.Union(b)
		}
	}
	return append(parts, run[start:])
}

func apart(part, next knowledge.Box) bool {
	gap := math.Max(next.X1-part.X2, part.X1-next.X2)
	tall := math.Max(height(part), height(next))
	return gap > maxGap*tall || overlap(part.Y1, part.Y2, next.Y1, next.Y2) < .3
}

// makeLine builds a line from glyphs. ok is false if no part of it is on the
// page.
func makeLine(glyphs []glyph, f frame, turned int) (l line, ok bool) {
	var b strings.Builder
	var box knowledge.Box
	for _, g := range logical(glyphs, turned) {
		switch {
		case g.visible():
		case unicode.Is(unicode.Cf, g.char):
			b.WriteRune(g.char)
			continue
		default:
			b.WriteByte(' ')
			continue
		}
		clipped, on := f.clip(g.box)
		s := g.text()
		if !on || s == "" {
			continue
		}
		b.WriteString(s)
		if (box == knowledge.Box{}) {
			box = clipped
		} else {
			box = box.Union(clipped)
		}
	}
	l.text = strings.Join(strings.FieldsFunc(b.String(), unicode.IsSpace), " ")
	l.box, l.turned, l.upbox = box, turned, upright(box, turned)
	return l, l.text != "" && box != knowledge.Box{}
}
