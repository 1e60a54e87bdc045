package pdf

import (
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/cairn-rag/cairn/internal/extract/layout"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// maxGap is the gap between two characters, in heights of the line, above which
// they belong to different lines: columns, or cells of a table.
const maxGap = 1.5

// lines returns the lines of the page in the order in which they are drawn, and how many
// of its characters are left out because they have no meaning.
func (t textPage) lines(page int) (lines []layout.Line, unknown int, err error) {
	glyphs, unknown, err := t.glyphs()
	if err != nil {
		return nil, 0, err
	}
	found := runs(glyphs)
	list := lineList{lines: make([]layout.Line, 0, len(found))}
	for _, run := range found {
		turned, err := t.direction(firstVisible(run).index)
		if err != nil {
			return nil, 0, err
		}
		for _, part := range split(run, turned) {
			if err := t.appendParts(&list, part, turned, page); err != nil {
				return nil, 0, err
			}
		}
	}
	return list.lines, unknown, nil
}

// appendParts appends the line of glyphs that stand side by side, or one line for
// each cell if they are in several cells of a table.
func (t textPage) appendParts(list *lineList, glyphs []glyph, turned, page int) error {
	parts, err := t.byRole(glyphs)
	if err != nil {
		return err
	}
	for _, part := range parts {
		l, ok, err := t.makeLine(part.glyphs, turned)
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		l.Page, l.Role = page, part.role
		if err := t.setFont(&l.Line, l.base, lastVisible(part.glyphs)); err != nil {
			return err
		}
		if err := t.appendLine(list, l); err != nil {
			return err
		}
	}
	return nil
}

// setFont sets the size and the weight of a line. A word in bold or in letters of one
// width may begin a line that is not, so the last character counts too.
func (t textPage) setFont(l *layout.Line, base, last glyph) error {
	f, err := t.font(base.index)
	if err != nil {
		return err
	}
	l.Size = f.size
	if f.bold || f.mono {
		end, err := t.font(last.index)
		if err != nil {
			return err
		}
		l.Bold, l.Mono = f.bold && end.bold, f.mono && end.mono && isASCII(l.Text)
		return nil
	}
	if len(l.Text) <= longestHeading && strings.ContainsFunc(l.Text, unicode.IsLetter) {
		if l.Bold, err = t.thickened(base.index); err == nil && l.Bold {
			l.Bold, err = t.thickened(last.index)
		}
	}
	return err
}

// longestHeading is the length in bytes of a line that may be a heading.
const longestHeading = 60

// isASCII reports whether most of a text is of ASCII.
func isASCII(text string) bool {
	others := 0
	for _, r := range text {
		if r > unicode.MaxASCII {
			others++
		}
	}
	return 5*others <= len(text)
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

func lastVisible(glyphs []glyph) glyph {
	for _, g := range slices.Backward(glyphs) {
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
		b := layout.Upright(g.box, turned)
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
	return gap > maxGap*tall || layout.Overlap(part.Y1, part.Y2, next.Y1, next.Y2) < .3
}

// makeLine builds a line from glyphs. ok is false if no part of it is on the page.
func (t textPage) makeLine(glyphs []glyph, turned int) (l pageLine, ok bool, err error) {
	l.base = baseOf(glyphs, turned)
	ordered := logical(glyphs, turned)
	positions, err := t.positions(ordered, l.base, turned)
	if err != nil {
		return l, false, err
	}
	made := scriptMaker{lineMaker: lineMaker{turned: turned, apart: slices.ContainsFunc(ordered, func(g glyph) bool { return layout.RightToLeft(g.char) })}}
	for i, g := range ordered {
		switch {
		case g.visible():
			if clipped, on := t.frame.clip(g.box); on {
				made.addAt(g.text(), clipped, positions.at(i))
			}
		case unicode.Is(unicode.Cf, g.char):
			made.addAt(string(g.char), made.box, made.position) // it changes no box
		default:
			made.addSpace()
		}
	}
	made.flush()
	l.begins, l.ends = made.begins, made.position
	l.Line = layout.Line{Text: made.text.String(), Box: made.box, Turned: turned, Words: made.words}
	return l, l.Text != "" && made.box != knowledge.Box{}, nil
}

// lineMaker collects the text, the box and the words of a line.
type lineMaker struct {
	text     strings.Builder
	count    int // code points of the text
	box      knowledge.Box
	words    []layout.Word
	space    bool // a space stands before the next character
	turned   int
	last     knowledge.Box // of the last text, upright
	lastChar rune          // of the last text
	apart    bool          // a space stands wherever two characters are apart: pdfium sets none between a number and a script from right to left
}

// spaceWidth is the least width of a space between two characters, in heights of the line.
const spaceWidth = .2

// add adds a text without spaces and its box on the page.
func (m *lineMaker) add(s string, box knowledge.Box) {
	if strings.ContainsFunc(s, unicode.IsSpace) {
		s = strings.Join(strings.FieldsFunc(s, unicode.IsSpace), " ")
	}
	if s == "" {
		return
	}
	upright := layout.Upright(box, m.turned)
	if m.apart && m.count > 0 {
		m.space = m.space || math.Max(upright.X1-m.last.X2, m.last.X1-upright.X2) > spaceWidth*height(upright)
	}
	m.last = upright
	if m.space && m.count > 0 {
		m.text.WriteByte(' ')
		m.count++
	}
	start := m.count
	m.text.WriteString(s)
	m.count += utf8.RuneCountInString(s)
	begin, _ := utf8.DecodeRuneInString(s)
	if n := len(m.words); n > 0 && !m.space && !beginsAmount(m.lastChar, begin) {
		last := &m.words[n-1]
		last.End, last.X1, last.X2 = m.count, min(last.X1, upright.X1), max(last.X2, upright.X2)
	} else {
		m.words = append(m.words, layout.Word{Start: start, End: m.count, X1: upright.X1, X2: upright.X2})
	}
	m.lastChar, _ = utf8.DecodeLastRuneInString(s)
	if m.space = false; (m.box == knowledge.Box{}) {
		m.box = box
	} else {
		m.box = m.box.Union(box)
	}
}
