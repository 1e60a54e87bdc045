package layout

import (
	"math"
	"slices"
)

// sideBySide returns the first column of the second of two tables that stand side by side,
// 0 if the columns are one table.
func (f *finder) sideBySide(rows []visualRow, columns []span) int {
	widest, next := 0, 0.0
	gap := func(i int) float64 { return columns[i].from - columns[i-1].to }
	for i := 1; i < len(columns); i++ {
		if widest == 0 || gap(i) > gap(widest) {
			widest = i
		}
	}
	if widest < 2 || len(columns)-widest < 2 {
		return 0
	}
	for i := 1; i < len(columns); i++ {
		if i != widest {
			next = math.Max(next, gap(i))
		}
	}
	if gap(widest) < 1.2*next || gap(widest) < rows[0].tall {
		return 0
	}
	middle := (columns[widest-1].to + columns[widest].from) / 2
	if crosses(rows, middle) {
		return 0
	}
	if f.linesApart(rows, columns, widest) || repeatsHeader(rows, columns, widest) || outOfStep(rows, middle) {
		return widest
	}
	if gap(widest) >= 1.8*next && labels(rows, columns, 0, widest) && labels(rows, columns, widest, len(columns)) {
		return widest
	}
	return 0
}

func crosses(rows []visualRow, x float64) bool {
	return slices.ContainsFunc(rows, func(r visualRow) bool {
		return slices.ContainsFunc(r.segments(wideGap), func(s segment) bool { return s.x1 < x && s.x2 > x })
	})
}

// linesApart reports whether lines run along the columns on both sides of a space, and
// none over it.
func (f *finder) linesApart(rows []visualRow, columns []span, at int) bool {
	left, right := 0, 0
	for _, r := range f.across {
		if r.at < rows[0].y1-rows[0].tall || r.at > rows[len(rows)-1].y2+rows[0].tall {
			continue
		}
		switch from, to := columns[at-1].to, columns[at].from; {
		case r.from < from && r.to > to:
			return false
		case r.to <= to && r.length() > from-columns[0].from-snap:
			left++
		case r.from >= from && r.length() > columns[len(columns)-1].to-to-snap:
			right++
		}
	}
	return left > 0 && right > 0
}

// repeatsHeader reports whether the first row names the first column again.
func repeatsHeader(rows []visualRow, columns []span, at int) bool {
	t := textsIn(rows[0], columns)
	return t[0] != "" && t[0] == t[at] && !isNumeric(t[0])
}

// outOfStep reports whether few rows have text on both sides of a place.
func outOfStep(rows []visualRow, x float64) bool {
	both, left, right := 0, 0, 0
	for _, r := range rows {
		before, behind := r.words[0].x1 < x, r.words[len(r.words)-1].x2 > x
		switch {
		case before && behind:
			both++
		case before:
			left++
		default:
			right++
		}
	}
	return 2*both < min(left, right)
}

// labels reports whether the first of a range of columns is labels and the others are
// numbers.
func labels(rows []visualRow, columns []span, first, end int) bool {
	cells := cellsOf(rows[1:], columns)
	for c := first; c < end; c++ {
		numbers, all := 0, 0
		for _, t := range cells {
			if s := t[c]; s != "" {
				all++
				if isNumeric(s) {
					numbers++
				}
			}
		}
		if all == 0 || (c == first) == (2*numbers > all) {
			return false
		}
	}
	return true
}

// split returns the rows on the left and on the right of a place.
func split(rows []visualRow, x float64) [2][]visualRow {
	var out [2][]visualRow
	for _, r := range rows {
		n := slices.IndexFunc(r.words, func(w placedWord) bool { return w.x1 > x })
		if n < 0 {
			n = len(r.words)
		}
		for i, words := range [][]placedWord{r.words[:n], r.words[n:]} {
			if len(words) == 0 {
				continue
			}
			half := r
			half.words, half.kind = words, single
			if half.isCut(wideGap) {
				half.kind = several
			}
			out[i] = append(out[i], half)
		}
	}
	return out
}
