package layout

import (
	"math"
	"unicode/utf8"
)

// drawnApart returns the first column on the right of a place where the file draws all that
// is on one side before all that is on the other, as it does with a table beside prose or
// beside another table; 0 if there is none.
func drawnApart(rows []visualRow, columns []span) int {
	order := orderOf(rows, columns)
	for at := 1; at < len(columns); at++ {
		left, right := order.between(0, at), order.between(at, len(columns))
		if left.last >= right.first && right.last >= left.first {
			continue
		}
		if order.isUnit(0, at) && order.isUnit(at, len(columns)) {
			return at
		}
	}
	return 0
}

// drawnColumn is when the file draws the text of a column, by the numbers of the lines.
type drawnColumn struct {
	first, last  int
	lines, runes int
}

type drawnColumns []drawnColumn

func orderOf(rows []visualRow, columns []span) drawnColumns {
	found := make(drawnColumns, len(columns))
	for i := range found {
		found[i] = drawnColumn{first: math.MaxInt, last: -1}
	}
	for _, r := range rows {
		seen := map[int]bool{}
		for _, w := range r.words {
			i, _ := reach(columns, w.x1, w.x2)
			c := &found[i]
			c.first, c.last = min(c.first, w.line), max(c.last, w.line)
			c.runes += utf8.RuneCountInString(w.text) + 1
			if !seen[i] {
				seen[i] = true
				c.lines++
			}
		}
	}
	return found
}

// between returns a range of columns as one.
func (d drawnColumns) between(first, end int) drawnColumn {
	all := d[first]
	for _, c := range d[first+1 : end] {
		all.first, all.last = min(all.first, c.first), max(all.last, c.last)
	}
	return all
}

// isUnit reports whether a range of columns is drawn row by row, or is a column of prose.
func (d drawnColumns) isUnit(first, end int) bool {
	if end-first == 1 {
		return d[first].lines >= fewRows && d[first].runes >= minColumnText*d[first].lines
	}
	for i := first + 1; i < end; i++ {
		if d[i].first >= d[i-1].last || d[i].last <= d[i-1].first {
			return false
		}
	}
	return true
}
