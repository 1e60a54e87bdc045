package pdf

import (
	"math"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

const (
	minRows     = 2
	maxCell     = 60 // largest average of code points in a cell; columns of prose have more
	rowDistance = 3  // largest gap between rows, in heights of a line
)

var number = regexp.MustCompile(`^[-+(]?[\d.,%$€£ ]+\)?$`)

// row is a run of lines that stand side by side.
type row []line

// tableAt returns the rows of the table that begins with the first of lines and
// the number of lines in them, or none if no table begins there. A table is two
// or more aligned rows of two or more cells.
func tableAt(lines []line) (rows []row, count int) {
	cells, length := 0, 0
	for count < len(lines) {
		r := rowAt(lines[count:])
		if len(r) < 2 || len(rows) > 0 && !aligned(rows[len(rows)-1], r) {
			break
		}
		for _, c := range r {
			length += utf8.RuneCountInString(c.text)
		}
		rows = append(rows, r)
		cells += len(r)
		count += len(r)
	}
	if len(rows) < minRows || length > maxCell*cells {
		return nil, 0
	}
	return rows, count
}

func rowAt(lines []line) row {
	n := 1
	for n < len(lines) && beside(lines[n-1], lines[n]) {
		n++
	}
	return lines[:n]
}

// beside reports whether b stands to the right of a.
func beside(a, b line) bool {
	return a.page == b.page && a.turned == b.turned && b.upbox.X1 >= a.upbox.X2-1 &&
		overlap(a.upbox.Y1, a.upbox.Y2, b.upbox.Y1, b.upbox.Y2) > .5
}

// aligned reports whether at least two cells of b stand below cells of a.
func aligned(a, b row) bool {
	first, next := a[0], b[0]
	tall := max(height(first.upbox), height(next.upbox))
	gap := next.upbox.Y1 - first.upbox.Y2
	if first.page != next.page || first.turned != next.turned || gap > rowDistance*tall || gap < -tall {
		return false
	}
	below := 0
	for _, c := range b {
		for _, above := range a {
			if overlap(above.upbox.X1, above.upbox.X2, c.upbox.X1, c.upbox.X2) > .2 {
				below++
				break
			}
		}
	}
	return below >= 2
}

// tableBlocks returns the blocks of a table: one line of text per row, its
// cells joined by knowledge.CellSeparator.
func tableBlocks(rows []row) []knowledge.Block {
	columns := widest(rows)
	header := ""
	if !hasNumber(rows[0]) {
		text, _ := rowText(rows[0], columns)
		header = knowledge.HeaderWithin(text, knowledge.MaxHeader)
	}
	var out []knowledge.Block
	for len(rows) > 0 {
		n := min(len(rows), knowledge.RowsPerBlock)
		b := knowledge.Block{Kind: knowledge.BlockTable, Header: header}
		var texts []string
		at := 0
		for _, r := range rows[:n] {
			text, lines := rowText(r, columns)
			for _, l := range lines {
				l.Start, l.End = l.Start+at, l.End+at
				b.Lines = append(b.Lines, l)
			}
			texts = append(texts, text)
			at += utf8.RuneCountInString(text) + 1
		}
		b.Text = strings.Join(texts, "\n")
		out = append(out, b)
		rows = rows[n:]
	}
	return out
}

// widest returns the first of the rows with the most cells. Its cells define
// the columns.
func widest(rows []row) row {
	most := rows[0]
	for _, r := range rows {
		if len(r) > len(most) {
			most = r
		}
	}
	return most
}

// rowText returns the text of a row and its lines. A cell that the row lacks is
// empty.
func rowText(r, columns row) (text string, lines []knowledge.Line) {
	var b strings.Builder
	at, column, next := 0, 0, 0
	for i, c := range r {
		to := columnOf(c, columns, next, len(columns)-len(r)+i)
		b.WriteString(strings.Repeat(knowledge.CellSeparator, to-column))
		at += (to - column) * len(knowledge.CellSeparator)
		b.WriteString(c.text)
		end := at + utf8.RuneCountInString(c.text)
		lines = append(lines, knowledge.Line{Start: at, End: end, Page: c.page, Box: c.box})
		at, column, next = end, to, to+1
	}
	return b.String(), lines
}

// columnOf returns the column, from first to last, in which a cell stands: the
// first that it overlaps, so that a cell over several columns is in the first
// of them, else the nearest.
func columnOf(cell line, columns row, first, last int) int {
	nearest := first
	for i := first; i <= last; i++ {
		a, b := cell.upbox, columns[i].upbox
		if overlap(a.X1, a.X2, b.X1, b.X2) > .5 {
			return i
		}
		if distance(cell, columns[i]) < distance(cell, columns[nearest]) {
			nearest = i
		}
	}
	return nearest
}

// distance returns the horizontal distance between the middles of two cells.
func distance(a, b line) float64 {
	return math.Abs(a.upbox.X1+a.upbox.X2-b.upbox.X1-b.upbox.X2) / 2
}

func hasNumber(r row) bool {
	for _, c := range r {
		if number.MatchString(c.text) {
			return true
		}
	}
	return false
}
