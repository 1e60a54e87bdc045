package layout

import (
	"math"
	"slices"
	"unicode"
	"unicode/utf8"
)

// texts is the text of a visual row by column.
type texts map[int]string

// textsIn returns the texts of a row by column.
func textsIn(r visualRow, columns []span) texts {
	t := texts{}
	for _, w := range r.words {
		c, _ := reach(columns, w.x1, w.x2)
		if t[c] != "" {
			t[c] += " "
		}
		t[c] += w.text
	}
	return t
}

// textIn reports for each column whether a row has text in it.
func textIn(r visualRow, columns []span) []bool {
	has := make([]bool, len(columns))
	for _, w := range r.words {
		c, _ := reach(columns, w.x1, w.x2)
		has[c] = true
	}
	return has
}

// cellsOf returns the texts of rows by column.
func cellsOf(rows []visualRow, columns []span) []texts {
	cells := make([]texts, len(rows))
	for i, r := range rows {
		cells[i] = textsIn(r, columns)
	}
	return cells
}

// rowGroups returns the ranges of visual rows, with these texts, that are one row of the
// table: cells whose text is wrapped have several lines. breaks are places between rows at
// which the page draws a line or the edge of an area.
func rowGroups(rows []visualRow, cells []texts, breaks []float64) [][2]int {
	bands := between(rows, breaks)
	if len(bands) > 2 && mostly(bands, func(b [2]int) bool { return oneRow(cells[b[0]:b[1]]) }) {
		return bands
	}
	var out [][2]int
	limit := leading(rows, cells)
	for _, band := range bands {
		start := band[0]
		for i := start + 1; i <= band[1]; i++ {
			if i < band[1] && (rows[i].y1-rows[i-1].y2 < limit || wraps(rows, cells, start, i)) {
				continue
			}
			out = append(out, [2]int{start, i})
			start = i
		}
	}
	return out
}

// between returns the ranges of rows between breaks.
func between(rows []visualRow, breaks []float64) [][2]int {
	var out [][2]int
	start := 0
	for i := 1; i <= len(rows); i++ {
		if i == len(rows) || slices.ContainsFunc(breaks, func(y float64) bool { return y > rows[i-1].middle() && y < rows[i].middle() }) {
			out = append(out, [2]int{start, i})
			start = i
		}
	}
	return out
}

func (r visualRow) middle() float64 { return (r.y1 + r.y2) / 2 }

// mostly reports whether a condition holds for four of five ranges.
func mostly(bands [][2]int, is func([2]int) bool) bool {
	n := 0
	for _, b := range bands {
		if is(b) {
			n++
		}
	}
	return n*5 >= len(bands)*4
}

// oneRow reports whether visual rows can be one row of the table: a column has one line
// of text only, and no column has two numbers.
func oneRow(cells []texts) bool {
	if len(cells) == 1 {
		return true
	}
	lines, numbers := map[int]int{}, map[int]int{}
	for _, t := range cells {
		for c, s := range t {
			lines[c]++
			if isNumeric(s) {
				numbers[c]++
			}
		}
	}
	least := math.MaxInt
	for c, n := range lines {
		least = min(least, n)
		if numbers[c] > 1 {
			return false
		}
	}
	return least == 1 || len(cells) <= 3 && len(numbers) == 0
}

// isNumeric reports whether a text is a number, with its signs.
func isNumeric(s string) bool {
	digits, letters := 0, 0
	for _, r := range s {
		switch {
		case unicode.IsDigit(r):
			digits++
		case unicode.IsLetter(r):
			letters++
		}
	}
	return digits > 0 && letters <= 1
}

const (
	// tightLeading is the widest gap between two lines of a cell, and minJump by how
	// much the gap between rows is wider, in heights of a line.
	tightLeading = .45
	minJump      = .15
)

// leading returns the gap below which a visual row continues the row above it, 0 if the
// gaps do not show it.
func leading(rows []visualRow, cells []texts) float64 {
	var gaps []float64
	for i := 1; i < len(rows); i++ {
		gaps = append(gaps, math.Max(0, rows[i].y1-rows[i-1].y2)/rows[i].tall)
	}
	slices.Sort(gaps)
	limit, jump := 0.0, minJump
	for i := 1; i < len(gaps) && gaps[i-1] <= tightLeading; i++ {
		if d := gaps[i] - gaps[i-1]; d > jump {
			limit, jump = (gaps[i]+gaps[i-1])/2, d
		}
	}
	if jump == minJump {
		return math.Inf(-1)
	}
	limit *= rows[0].tall
	// The lines of a row are not two rows of numbers.
	for start := 0; start < len(rows); {
		end := start + 1
		for end < len(rows) && rows[end].y1-rows[end-1].y2 < limit {
			end++
		}
		if !oneRow(cells[start:end]) {
			return math.Inf(-1)
		}
		start = end
	}
	return limit
}

// wraps reports whether a visual row continues the cells of the row that begins with
// another: the text above breaks off at the end of its column.
func wraps(rows []visualRow, cells []texts, start, i int) bool {
	if rows[i].y1-rows[i-1].y2 > tightLeading*rows[i].tall {
		return false
	}
	if len(cells[i]) == 0 || len(cells[i]) > len(cells[start]) && len(cells[start]) > 1 {
		return false
	}
	above := cells[i-1]
	if len(above) == 1 && above[0] != "" && len(cells[i]) > 1 { // a label, and its numbers behind its last line
		return beginsLower(cells[i][0]) && !isNumeric(above[0])
	}
	for c, s := range cells[i] {
		if above[c] == "" || isNumeric(s) || !beginsLower(s) {
			return false
		}
	}
	return true
}

func beginsLower(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return unicode.IsLower(r)
}
