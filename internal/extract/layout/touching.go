package layout

import (
	"math"
	"slices"
	"strings"
	"unicode"
)

const (
	// alignedWithin is how far the edges of texts in one column may be apart, in points.
	alignedWithin = 1
	// touchWithin is the widest space between two texts that touch, in points.
	touchWithin = 1
)

// touchingEdges returns lines down the page between columns that no space parts in several
// rows, because the text of one ends where that of the next begins. A place that the words
// of another row cross is none.
func touchingEdges(rows []visualRow) []rule {
	var out []rule
	for _, r := range rows {
		for i := 1; i < len(r.words); i++ {
			if !r.touchesAt(i) {
				continue
			}
			at := (r.words[i-1].x2 + r.words[i].x1) / 2
			if !slices.ContainsFunc(out, func(r rule) bool { return math.Abs(r.at-at) <= alignedWithin }) && alignedAt(rows, at) {
				out = append(out, rule{at: at, from: rows[0].y1, to: rows[len(rows)-1].y2})
			}
		}
	}
	return out
}

// touchesAt reports whether a word begins a column right behind the number of another one.
func (r visualRow) touchesAt(i int) bool {
	a, b := r.words[i-1], r.words[i]
	return touchesLabel(a, b) || i+1 < len(r.words) && b.x1-a.x2 < minGapWide && isNumeric(a.text) && opensAmount(b.text) && isNumeric(r.words[i+1].text)
}

// touchesLabel reports whether a is a number that ends where the label b begins, which is
// written from right to left.
func touchesLabel(a, b placedWord) bool {
	return math.Abs(b.x1-a.x2) <= touchWithin && isNumeric(a.text) && hasRightToLeft(b.text)
}

// opensAmount reports whether a text is the sign of a currency that stands before amounts.
func opensAmount(s string) bool { return s == "$" || s == "£" || s == "¥" }

// alignedAt reports whether columns touch at a place in enough rows, and no row has a word
// over it. An amount has its sign in the first and the last row only, as a rule.
func alignedAt(rows []visualRow, at float64) bool {
	count, least := 0, minOpenRows
	for _, r := range rows {
		for i, w := range r.words {
			if w.x1 < at-alignedWithin && w.x2 > at+alignedWithin {
				return false
			}
			if i > 0 && r.touchesAt(i) && math.Abs((r.words[i-1].x2+w.x1)/2-at) <= alignedWithin {
				count++
				if opensAmount(w.text) {
					least = fewRows
				}
			}
		}
	}
	return count >= least
}

// FirstRightToLeft is the first character of the Hebrew block, and of the scripts that are
// written from right to left.
const FirstRightToLeft = 0x590

// RightToLeft reports whether a character is a letter of a script that is written from right
// to left.
func RightToLeft(char rune) bool {
	return char >= FirstRightToLeft && unicode.IsLetter(char) &&
		unicode.In(char, unicode.Hebrew, unicode.Arabic, unicode.Syriac, unicode.Thaana, unicode.Nko)
}

// hasRightToLeft reports whether a text has such a letter.
func hasRightToLeft(s string) bool { return strings.ContainsFunc(s, RightToLeft) }
