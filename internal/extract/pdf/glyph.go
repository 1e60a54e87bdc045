package pdf

import (
	"math"
	"slices"
	"strings"
	"unicode"

	"github.com/cairn-rag/cairn/internal/extract/layout"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"golang.org/x/text/unicode/norm"
)

// softHyphen is the character that some fonts assign to their visible hyphen.
const softHyphen = 0xad

// glyph is one character of a page, or a word whose characters stand side by
// side. Spaces, line ends and joiners have no box.
type glyph struct {
	char  rune   // the first character
	word  string // the text of a word, "" for one character
	index int    // of the first character on pdfium's page
	// unknown is true if the file does not say which characters these are.
	unknown bool
	box     knowledge.Box // on the displayed page
}

func (g glyph) visible() bool { return g.box != knowledge.Box{} }

// text returns the text of a visible glyph, "" if it is not text.
func (g glyph) text() string {
	if g.word != "" {
		return g.word
	}
	return letters(g.char)
}

// glyphs returns the characters of the page in pdfium's order, and how many it left out
// because they have no meaning. Calling pdfium for every character would take a third of
// the time of a page, so most words become one glyph. The result holds until the next call.
func (t textPage) glyphs() (glyphs []glyph, unknown int, err error) {
	chars, err := t.characters()
	if err != nil {
		return nil, 0, err
	}
	r := glyphReader{textPage: t, glyphs: slices.Grow(t.lib.glyphs[:0], len(chars)/2)}
	for start := 0; start < len(chars); {
		end := start + 1
		for end < len(chars) && !endsLine(chars[end-1]) {
			end++
		}
		if err := r.readLine(chars[start:end], start); err != nil {
			return nil, 0, err
		}
		start = end
	}
	t.lib.glyphs = r.glyphs
	if !r.doubt {
		return r.glyphs, 0, nil
	}
	return t.meaningful(r.glyphs)
}

// glyphReader collects the glyphs of a page.
type glyphReader struct {
	textPage
	glyphs []glyph
	doubt  bool // a character may have no meaning, so all words are asked about
}

// endsLine reports whether pdfium ends a line after a character.
func endsLine(char rune) bool { return char == '\r' || char == '\n' || char == lineHyphen }

// readLine reads the glyphs of one line, whose first character has the given index. A
// line with letters that are written from right to left has no words: its characters may
// be stored in either order.
func (r *glyphReader) readLine(chars []rune, index int) error {
	words := !slices.ContainsFunc(chars, layout.RightToLeft)
	first := true
	for i := 0; i < len(chars); {
		if !drawn(chars[i]) {
			if chars[i] != 0 && !knowledge.Invisible(chars[i]) {
				r.glyphs = append(r.glyphs, glyph{char: chars[i], index: index + i})
			}
			i++
			continue
		}
		end := i + 1
		for words && end < len(chars) && inWord(chars[i]) && inWord(chars[end]) && !beginsAmount(chars[end-1], chars[end]) {
			end++
		}
		known, err := r.isKnown(chars[i], index+i, first)
		if err != nil {
			return err
		}
		before := len(r.glyphs)
		if r.glyphs, err = r.appendWord(r.glyphs, chars[i:end], index+i); err != nil {
			return err
		}
		if !known {
			r.doubt = true
			for j := before; j < len(r.glyphs); j++ {
				r.glyphs[j].unknown = true
			}
		}
		i, first = end, false
	}
	return nil
}

// lastLatin is the last character of the Latin blocks that most texts use.
const lastLatin = 0x24f

// isKnown reports whether the file says which character the drawing of a word's first
// character stands for. If it does not, pdfium returns the code of the character in its
// font. On a page without doubt only the first word of a line and words in other scripts
// are worth the call.
func (r *glyphReader) isKnown(char rune, index int, first bool) (bool, error) {
	switch {
	case char == unicode.ReplacementChar:
		return false, nil
	case !first && !r.doubt && char <= lastLatin:
		return true, nil
	}
	unknown, err := r.lib.call("FPDFText_HasUnicodeMapError", r.handle, uint64(index))
	return unknown == 0, err
}

// inWord reports whether a character can be part of a glyph that is a word: its
// script has spaces and is written from left to right.
func inWord(char rune) bool {
	return char > ' ' && char < layout.FirstRightToLeft && char != softHyphen && drawn(char)
}

// beginsAmount reports whether a character is the sign of a currency right behind another
// text, as where the sign of an amount stands at the left edge of its cell.
func beginsAmount(last, char rune) bool {
	switch char {
	case '$', '€', '£', '¥':
		return last == ')' || last == '%' || last == '–' || last == '—' || unicode.IsDigit(last) || unicode.IsLower(last)
	}
	return false
}

// appendWord appends the glyph of a word that begins at the given index, or the
// glyphs of its characters if they do not stand side by side on the page.
func (t textPage) appendWord(glyphs []glyph, chars []rune, index int) ([]glyph, error) {
	first, err := t.box(index)
	if err != nil {
		return nil, err
	}
	last := len(chars) - 1
	if last > 0 {
		end, err := t.box(index + last)
		if err != nil {
			return nil, err
		}
		if word := first.Union(end); sideBySide(first, end, len(chars)) && t.frame.holds(word) {
			if apart, err := t.hidesScript(chars, index, first, end); err != nil || apart {
				return t.appendEach(glyphs, chars, index, first)
			}
			return append(glyphs, glyph{char: chars[0], word: wordText(chars), index: index, box: word}), nil
		}
	}
	return t.appendEach(glyphs, chars, index, first)
}

// appendEach appends a glyph for each character, of which the first has the given box.
func (t textPage) appendEach(glyphs []glyph, chars []rune, index int, first knowledge.Box) ([]glyph, error) {
	for i, char := range chars {
		box := first
		if i > 0 {
			var err error
			if box, err = t.box(index + i); err != nil {
				return nil, err
			}
		}
		if g := (glyph{char: char, index: index + i, box: box}); g.visible() {
			glyphs = append(glyphs, g)
		}
	}
	return glyphs, nil
}

// sideBySide reports whether the first and the last of n characters can belong to
// one word that runs from left to right: they have the same height and font
// size, and there is room for the others between them, but not for more.
func sideBySide(first, last knowledge.Box, n int) bool {
	if (first == knowledge.Box{} || last == knowledge.Box{}) {
		return false
	}
	tall := math.Max(height(first), height(last))
	between := last.X1 - first.X2
	return layout.Overlap(first.Y1, first.Y2, last.Y1, last.Y2) > .8 && math.Min(height(first), height(last)) > .8*tall &&
		between > -.2*tall && between < float64(n-2)*tall+.5*tall
}

func wordText(chars []rune) string {
	var b strings.Builder
	b.Grow(len(chars))
	for _, char := range chars {
		if char < unicode.MaxASCII {
			b.WriteByte(byte(char))
			continue
		}
		b.WriteString(letters(char))
	}
	return b.String()
}

func drawn(char rune) bool {
	return char == lineHyphen || char == softHyphen || unicode.IsGraphic(char) && !unicode.IsSpace(char) || unicode.Is(unicode.Co, char)
}

// box returns the box of a character on the displayed page, high enough for
// every letter of its font, or the zero Box if pdfium has none.
func (t textPage) box(index int) (knowledge.Box, error) {
	ok, err := t.lib.run(t.lib.looseBox, t.handle, uint64(index), t.lib.scratch)
	if err != nil || ok == 0 {
		return knowledge.Box{}, err
	}
	r := t.lib.floats(4) // left, top, right, bottom
	sum := r[0] + r[1] + r[2] + r[3]
	if math.IsNaN(sum) || math.Abs(sum) > 1e7 {
		return knowledge.Box{}, nil
	}
	return t.frame.box(r[0], r[3], r[2], r[1]), nil
}

// letters returns the text of a character: the letters for a ligature or
// presentation form, "" for a character that is not text.
func letters(char rune) string {
	switch {
	case char >= 0xfb00 && char <= 0xfdff, char >= 0xfe70 && char < 0xfeff:
		return norm.NFKC.String(string(char))
	case char == lineHyphen || char == softHyphen:
		return "-"
	case char == unicode.ReplacementChar:
		return string(char)
	case char >= 0xfff0 && char <= 0xffff, !unicode.IsGraphic(char):
		return ""
	default:
		return string(char)
	}
}
