package pdf

import (
	"math"
	"strings"
	"unicode"
	"unicode/utf16"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/tetratelabs/wazero/api"
	"golang.org/x/text/unicode/norm"
)

// lineHyphen is the character that pdfium returns for a hyphen at the end of a
// line.
const lineHyphen = 0x02

// softHyphen is the character that some fonts assign to their visible hyphen.
const softHyphen = 0xad

// glyph is one character of a page. Spaces, line ends and joiners have no box.
type glyph struct {
	char  rune
	index int           // of the character on pdfium's page
	box   knowledge.Box // on the displayed page
}

func (g glyph) visible() bool { return g.box != knowledge.Box{} }

// textPage reads the text of one page.
type textPage struct {
	lib    *library
	handle uint64
	frame  frame
}

// glyphs returns the characters of the page in pdfium's order.
func (t textPage) glyphs() ([]glyph, error) {
	count, err := t.lib.number("FPDFText_CountChars", t.handle)
	if err != nil {
		return nil, err
	}
	var glyphs []glyph
	var high rune // the first half of a surrogate pair
	for i := range max(0, count) {
		code, err := t.lib.run(t.lib.unicode, t.handle, uint64(i))
		if err != nil {
			return nil, err
		}
		g := glyph{char: rune(uint32(code)), index: i}
		if utf16.IsSurrogate(g.char) {
			pair := utf16.DecodeRune(high, g.char)
			high = g.char
			if pair == unicode.ReplacementChar {
				continue
			}
			g.char = pair
		}
		if drawn(g.char) {
			if g.box, err = t.box(i); err != nil {
				return nil, err
			}
			if !g.visible() {
				continue
			}
		} else if knowledge.Invisible(g.char) {
			continue
		}
		glyphs = append(glyphs, g)
	}
	return glyphs, nil
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

// direction returns the direction in which a character is displayed, in quarter
// turns clockwise.
func (t textPage) direction(index int) (int, error) {
	angle, err := t.lib.call("FPDFText_GetCharAngle", t.handle, uint64(index))
	if err != nil {
		return 0, err
	}
	turns := math.Round(float64(api.DecodeF32(angle)) / (math.Pi / 2)) // clockwise in user space
	if !(math.Abs(turns) <= 4) {
		turns = 0
	}
	return ((int(turns)+t.frame.quarters)%4 + 4) % 4, nil
}

// font returns the size in which a character is displayed, in points, and
// whether its font is bold.
func (t textPage) font(index int) (size float64, bold bool, err error) {
	raw, err := t.lib.call("FPDFText_GetFontSize", t.handle, uint64(index))
	if err != nil {
		return 0, false, err
	}
	size = api.DecodeF64(raw)
	ok, err := t.lib.call("FPDFText_GetMatrix", t.handle, uint64(index), t.lib.scratch)
	if err != nil {
		return 0, false, err
	}
	if ok != 0 {
		m := t.lib.floats(6)
		size *= math.Hypot(m[2], m[3])
	}
	const nameBytes = 256
	flags := t.lib.scratch + nameBytes
	n, err := t.lib.number("FPDFText_GetFontInfo", t.handle, uint64(index), t.lib.scratch, nameBytes, flags)
	if err != nil {
		return 0, false, err
	}
	info := t.lib.bytes(nameBytes + 4)
	return size, n > 0 && boldFont(string(info[:min(n, nameBytes)]), info[nameBytes:]), nil
}

// boldFont reports whether a font is bold, by its name or by its ForceBold flag
// (bit 19 of flags, little endian).
func boldFont(name string, flags []byte) bool {
	name = strings.ToLower(name)
	for _, word := range []string{"bold", "black", "heavy", "demi"} {
		if strings.Contains(name, word) {
			return true
		}
	}
	return flags[2]&4 != 0
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
