package pdf

import (
	"slices"
	"unicode"

	"github.com/cairn-rag/cairn/internal/extract/layout"
)

// logical returns the glyphs with scripts that are written from right to left
// in reading order. They are in the opposite order in two cases: where the file
// stores them in visual order, and where they are the replacement text of a
// picture or word, which pdfium reverses. In the second case all of them have
// the box of the whole.
func logical(glyphs []glyph, turned int) []glyph {
	reversible := func(g glyph) bool { return g.visible() && rightToLeft(g.char) }
	if !slices.ContainsFunc(glyphs, reversible) {
		return glyphs
	}
	out := slices.Clone(glyphs)
	for start := 0; start < len(out); start++ {
		if !reversible(out[start]) {
			continue
		}
		end, steps, same := start+1, 0, 0
		for i := start + 1; i < len(out) && !leftToRight(out[i].char); i++ {
			if !reversible(out[i]) {
				continue
			}
			switch before, here := layout.Upright(out[end-1].box, turned), layout.Upright(out[i].box, turned); {
			case before == here:
				same++
			case here.X1 > before.X1:
				steps++
			default:
				steps--
			}
			end = i + 1
		}
		if steps > 0 || steps == 0 && same > 1 {
			slices.Reverse(out[start:end])
		}
		start = end
	}
	return out
}

// rightToLeft reports whether a character is a letter of a script that is written
// from right to left.
func rightToLeft(char rune) bool {
	return char >= firstRightToLeft && unicode.IsLetter(char) &&
		unicode.In(char, unicode.Hebrew, unicode.Arabic, unicode.Syriac, unicode.Thaana, unicode.Nko)
}

func leftToRight(char rune) bool {
	return unicode.IsDigit(char) || unicode.IsLetter(char) && !rightToLeft(char)
}
