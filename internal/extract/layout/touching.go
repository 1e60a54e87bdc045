package layout

import (
	"math"
	"slices"
	"unicode"
)

const (
	// alignedWithin is how far the edges of texts in one column may be apart, in points.
	alignedWithin = 1
	// touchWithin is the widest space between two texts that touch, in points.
	touchWithin = 1
)

// touchingEdges returns lines down the page where numbers end and labels that are written
// from right to left begin in at least three rows: the cells of such a table may touch, so
// no space parts them. A place that the words of another row cross is none.
func touchingEdges(rows []visualRow) []rule {
	var out []rule
	for _, r := range rows {
		for i := 1; i < len(r.words); i++ {
			a, b := r.words[i-1], r.words[i]
			if !touchesLabel(a, b) {
				continue
			}
			at := (a.x2 + b.x1) / 2
			if !slices.ContainsFunc(out, func(r rule) bool { return math.Abs(r.at-at) <= alignedWithin }) && alignedAt(rows, at) {
				out = append(out, rule{at: at, from: rows[0].y1, to: rows[len(rows)-1].y2})
			}
		}
	}
	return out
}

// touchesLabel reports whether a is a number that ends where the label b begins.
func touchesLabel(a, b placedWord) bool {
	return math.Abs(b.x1-a.x2) <= touchWithin && isNumeric(a.text) && isRightToLeft(b.text)
}

// alignedAt reports whether numbers touch labels at a place in enough rows, and no row has
// a word over it.
func alignedAt(rows []visualRow, at float64) bool {
	count := 0
	for _, r := range rows {
		for i, w := range r.words {
			if w.x1 < at-alignedWithin && w.x2 > at+alignedWithin {
				return false
			}
			if i > 0 && touchesLabel(r.words[i-1], w) && math.Abs((r.words[i-1].x2+w.x1)/2-at) <= alignedWithin {
				count++
			}
		}
	}
	return count >= minOpenRows
}

// isRightToLeft reports whether a text has a letter of a script that is written from right
// to left.
func isRightToLeft(s string) bool {
	for _, r := range s {
		if r >= 0x590 && unicode.IsLetter(r) && unicode.In(r, unicode.Hebrew, unicode.Arabic, unicode.Syriac, unicode.Thaana, unicode.Nko) {
			return true
		}
	}
	return false
}
