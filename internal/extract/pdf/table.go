package pdf

import (
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

const (
	minRows      = 2
	rowsPerBlock = 40
	maxCell      = 60 // code points that a cell has on average, at most; columns of prose have more
	rowDistance  = 3  // heights of a line
)

var number = regexp.MustCompile(`^[-+(]?[\d.,%$€£ ]+\)?$`)

// row is a run of lines that stand side by side.
type row []line

// tableAt gives the rows of the table that begins with the first of lines, and
// how many lines they are; none if no table begins there. A table is two or
// more rows of two or more cells that stand below each other.
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

// aligned reports whether two cells of b stand below cells of a.
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

// tableBlocks makes blocks of the rows of a table: a line of text per row, its
// cells joined by " | ".
func tableBlocks(rows []row) []knowledge.Block {
	header := ""
	if !hasNumber(rows[0]) {
		header = knowledge.HeaderWithin(rowText(rows[0]), knowledge.MaxHeader)
	}
	var out []knowledge.Block
	for len(rows) > 0 {
		n := min(len(rows), rowsPerBlock)
		b := knowledge.Block{Kind: knowledge.BlockTable, Header: header}
		var text strings.Builder
		at := 0
		for i, r := range rows[:n] {
			for j, c := range r {
				switch {
				case j > 0:
					text.WriteString(" | ")
					at += 3
				case i > 0:
					text.WriteByte('\n')
					at++
				}
				text.WriteString(c.text)
				end := at + utf8.RuneCountInString(c.text)
				b.Lines = append(b.Lines, knowledge.Line{Start: at, End: end, Page: c.page, Box: c.box})
				at = end
			}
		}
		b.Text = text.String()
		out = append(out, b)
		rows = rows[n:]
	}
	return out
}

func rowText(r row) string {
	var cells []string
	for _, c := range r {
		cells = append(cells, c.text)
	}
	return strings.Join(cells, " | ")
}

func hasNumber(r row) bool {
	for _, c := range r {
		if number.MatchString(c.text) {
			return true
		}
	}
	return false
}
