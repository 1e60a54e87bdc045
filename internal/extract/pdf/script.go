package pdf

import (
	"math"
	"slices"
	"unicode"
	"unicode/utf8"

	"github.com/cairn-rag/cairn/internal/extract/layout"
	"github.com/cairn-rag/cairn/internal/extract/script"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

const (
	// smallScript is how high a raised or lowered character is at most, in heights of its
	// line.
	smallScript = .87
	// lessHigh is the height from which on a character is not taken for a smaller one.
	lessHigh = .95
	// leastRaised and leastLowered are how far its base line is from the base line of the line.
	leastRaised  = .14
	leastLowered = .04
	// longestScript is how many characters are raised or lowered together. A longer text
	// is one of another size beside the line.
	longestScript = 12
)

// positions is the position of each glyph of a line, nil if all are level.
type positions []script.Position

func (p positions) at(i int) script.Position {
	if p == nil {
		return script.OnLine
	}
	return p[i]
}

// positions returns the positions of the glyphs of a line with a base.
func (t textPage) positions(glyphs []glyph, base glyph, turned int) (positions, error) {
	var found positions
	for i, g := range glyphs {
		if !g.visible() {
			continue
		}
		small, err := t.isSmaller(g, base, turned)
		if err != nil {
			return nil, err
		}
		if !small {
			continue
		}
		at, err := t.positionOf(g, base, turned)
		if err != nil {
			return nil, err
		}
		if at != script.OnLine && found == nil {
			found = make(positions, len(glyphs))
		}
		if found != nil {
			found[i] = at
		}
	}
	levelLong(glyphs, found)
	return found, nil
}

// baseOf returns the first glyph of the greatest height that many characters of a line
// have, or else of the one that most have.
func baseOf(glyphs []glyph, turned int) glyph {
	base := firstVisible(glyphs)
	low, high := math.Inf(1), 0.0
	for _, g := range glyphs {
		if g.visible() {
			tall := uprightHeight(g, turned)
			low, high = min(low, tall), max(high, tall)
		}
	}
	if low >= smallScript*high {
		return base
	}
	counts := map[int]int{} // by height in fifths of a point
	firsts := map[int]glyph{}
	all, best := 0, 0
	for _, g := range glyphs {
		if !g.visible() {
			continue
		}
		key := int(math.Round(5 * uprightHeight(g, turned)))
		if counts[key] == 0 {
			firsts[key] = g
		}
		n := max(1, utf8.RuneCountInString(g.word))
		counts[key], all = counts[key]+n, all+n
	}
	for key, n := range counts {
		if m := counts[best]; n > m || n == m && key > best {
			best = key
		}
	}
	for key, n := range counts {
		if key > best && n*3 >= all {
			best = key
		}
	}
	return firsts[best]
}

func uprightHeight(g glyph, turned int) float64 {
	return height(layout.Upright(g.box, turned))
}

func isSmall(g, base glyph, turned int) bool {
	return uprightHeight(g, turned) < smallScript*uprightHeight(base, turned)
}

// isSmaller reports whether a glyph is smaller than another one. The height of a glyph
// depends on its font too, so the font sizes decide between some of them.
func (t textPage) isSmaller(g, base glyph, turned int) (bool, error) {
	if isSmall(g, base, turned) {
		return true, nil
	}
	if uprightHeight(g, turned) >= lessHigh*uprightHeight(base, turned) {
		return false, nil
	}
	return t.isSmallerFont(g.index, base.index)
}

// isSmallerFont compares the font sizes of two characters.
func (t textPage) isSmallerFont(index, base int) (bool, error) {
	own, err := t.font(index)
	if err != nil {
		return false, err
	}
	usual, err := t.font(base)
	return own.size < smallScript*usual.size, err
}

// positionOf compares the base lines of two glyphs, of which the first is the smaller.
func (t textPage) positionOf(g, base glyph, turned int) (script.Position, error) {
	own, err := t.baseline(g, turned)
	if err != nil {
		return script.OnLine, err
	}
	line, err := t.baseline(base, turned)
	if err != nil {
		return script.OnLine, err
	}
	switch rise := (line - own) / uprightHeight(base, turned); {
	case math.IsNaN(rise), rise > 1, rise < -1:
		return script.OnLine, nil
	case rise >= leastRaised:
		return script.Raised, nil
	case rise <= -leastLowered:
		return script.Lowered, nil
	}
	return script.OnLine, nil
}

// baseline returns the distance of a glyph's base line from the top of the page, when
// the page is turned so that the text is upright.
func (t textPage) baseline(g glyph, turned int) (float64, error) {
	x, y := t.lib.scratch, t.lib.scratch+8
	ok, err := t.lib.call("FPDFText_GetCharOrigin", t.handle, uint64(g.index), x, y)
	if err != nil || ok == 0 {
		return math.NaN(), err
	}
	left, top := t.frame.point(t.lib.doubles())
	return layout.Upright(knowledge.Box{X1: left, Y1: top, X2: left, Y2: top}, turned).Y1, nil
}

// levelLong makes raised and lowered texts level that are too long.
func levelLong(glyphs []glyph, found []script.Position) {
	for start := 0; start < len(found); {
		end, count := start, 0
		for end < len(found) && (found[end] == found[start] || !glyphs[end].visible()) {
			if glyphs[end].visible() {
				count += max(1, utf8.RuneCountInString(glyphs[end].word))
			}
			end++
		}
		if count > longestScript {
			for i := start; i < end; i++ {
				found[i] = script.OnLine
			}
		}
		start = max(end, start+1)
	}
}

// written returns a text as it is written at a position.
func written(text string, at script.Position) string {
	switch at {
	case script.Raised:
		return script.Super(text)
	case script.Lowered:
		return script.Sub(text)
	}
	return text
}

// hidesScript reports whether a word that begins at an index may have a small character
// within, although its first and last have about the same height: a digit beside letters, or
// before the punctuation at its end, that is not as high, or of a smaller font.
func (t textPage) hidesScript(chars []rune, index int, first, end knowledge.Box) (bool, error) {
	last := len(chars) - 1
	if unicode.IsPunct(chars[last]) && height(first) < lessHigh*height(end) { // 2, of which the comma is on the line
		return t.isSmallerFont(index, index+last)
	}
	letters := slices.ContainsFunc(chars, unicode.IsLetter)
	for i := 1; i <= last; i++ {
		if !unicode.IsDigit(chars[i]) || !letters && (i != last-1 || !unicode.IsPunct(chars[last])) {
			continue
		}
		box, err := t.box(index + i)
		if err != nil {
			return false, err
		}
		switch tall := height(box); {
		case tall < smallScript*height(first) && i < last:
			return true, nil
		case tall < lessHigh*height(first):
			if smaller, err := t.isSmallerFont(index+i, index); err != nil || smaller {
				return smaller, err
			}
		}
	}
	return false, nil
}

// scriptMaker makes a line whose glyphs may be raised or lowered.
type scriptMaker struct {
	lineMaker
	begins   script.Position // of the first text
	position script.Position // of the last one
	pending  string          // raised or lowered text that is not in the line yet
	extent   knowledge.Box
}

// addAt adds the text of a glyph at a position.
func (m *scriptMaker) addAt(text string, box knowledge.Box, p script.Position) {
	if p != m.position {
		m.flush()
		m.position = p
	}
	switch {
	case p == script.OnLine:
		m.add(text, box)
	case m.pending == "":
		m.pending, m.extent = text, box
	default:
		m.pending, m.extent = m.pending+text, m.extent.Union(box)
	}
}

// addSpace adds a space before the next glyph.
func (m *scriptMaker) addSpace() {
	m.flush()
	m.space = true
}

// flush adds the raised or lowered text so far. The mark of a note at the beginning of a
// line does not join the first word of the note.
func (m *scriptMaker) flush() {
	if m.pending == "" {
		return
	}
	begins := m.count == 0
	m.add(written(m.pending, m.position), m.extent)
	m.pending, m.space = "", begins && m.position == script.Raised
	if begins {
		m.begins = m.position
	}
}
