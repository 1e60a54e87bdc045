package layout

import (
	"math"
	"slices"
	"strings"
)

// joinNames joins a column that has text in the first rows only, and its neighbour that has
// text below them only: they are a name and its numbers, which are aligned differently. It
// also joins columns with a small space between them that few rows show.
func joinNames(columns []span, rows []visualRow, down []rule) []span {
	first, last := make([]int, len(columns)), make([]int, len(columns))
	both := make([]int, len(columns)) // rows with text in a column and in the one before it
	for c := range columns {
		first[c] = len(rows)
	}
	for i, r := range rows {
		has := textIn(r, columns)
		for c := range columns {
			if !has[c] {
				continue
			}
			first[c], last[c] = min(first[c], i), i
			if c > 0 && has[c-1] {
				both[c]++
			}
		}
	}
	var out []span
	for c := range columns {
		n := len(out)
		switch {
		case n == 0, columns[c].from-out[n-1].to < minGapWide && ruleBetween(down, out[n-1].to, columns[c].from): // a line alone parts them
		case last[c-1] < first[c] && last[c-1] < maxHeaderRows, last[c] < first[c-1] && last[c] < maxHeaderRows,
			both[c] > 0 && both[c] <= fewRows && both[c] < len(rows) && columns[c].from-out[n-1].to < looseGap*rows[0].tall && min(last[c], last[c-1]) < maxHeaderRows,
			both[c] > 0 && min(last[c], last[c-1]) < headEnd(rows) && runsOn(rows, columns[c-1], columns[c]):
			out[n-1].to = math.Max(out[n-1].to, columns[c].to)
			first[c], last[c] = min(first[c], first[c-1]), max(last[c], last[c-1])
			continue
		}
		out = append(out, columns[c])
	}
	return out
}

// headEnd returns the index of the first row with a number.
func headEnd(rows []visualRow) int {
	return max(0, slices.IndexFunc(rows, visualRow.hasNumber))
}

// runsOn reports whether the words on both sides of the space between two columns are only
// a space apart in the rows that have both.
func runsOn(rows []visualRow, left, right span) bool {
	for _, r := range rows {
		i := slices.IndexFunc(r.words, func(w placedWord) bool { return w.x1+w.x2 > left.to+right.from })
		if i > 0 && r.words[i].x1-r.words[i-1].x2 > tightGap*r.tall && r.words[i].x1 < right.to && r.words[i-1].x2 > left.from {
			return false
		}
	}
	return true
}

// joinSigns joins a column that holds nothing but signs, such as signs of a currency, to
// the column of their numbers.
func joinSigns(columns []span, rows []visualRow) []span {
	var out []span
	join := false
	for i, c := range columns {
		opens, closes, found := true, true, false
		for _, r := range rows {
			for _, w := range r.words {
				if middle := (w.x1 + w.x2) / 2; middle < c.to && middle > c.from {
					found = true
					opens = opens && strings.Trim(w.text, "$€£¥(") == ""
					closes = closes && strings.Trim(w.text, ")%€*†‡") == ""
				}
			}
		}
		switch {
		case join, found && closes && i > 0:
			out[len(out)-1].to = math.Max(out[len(out)-1].to, c.to)
		default:
			out = append(out, c)
		}
		join = found && opens && i+1 < len(columns)
	}
	return out
}
