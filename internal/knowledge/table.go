package knowledge

import (
	"strings"
	"unicode/utf8"
)

// The text of a table is Markdown: one line for each row, and below the header row
// a row of dashes.
//
//	| name | price |
//	| --- | --- |
//	| tea | 2 |
//
// The outer bars cost one token a row. Without them a row whose first cell is empty
// would lose that cell, and a cell such as "- none" would end the table.

// CellSeparator stands between the cells of a row of a table.
const CellSeparator = " | "

const (
	rowStart  = "| "
	rowEnd    = " |"
	dashes    = "---"
	dashesRow = "\n" + rowStart + dashes // begins the second line of a header
)

// RowsPerBlock is how many rows of a table a block holds at most.
const RowsPerBlock = 40

// MaxHeader bounds the header of a table in a layout, in code points: every
// block of the table brings it along.
const MaxHeader = 1000

// TableRow returns the line of a table that holds the cells, which contain no line
// ends. It leaves out empty cells at the end, and returns "" if all are empty.
func TableRow(cells []string) string { return tableRow(cells, filled(cells)) }

// TableHeader returns the header of a table with so many columns: the row with
// their names, and the row of dashes. Columns without a name have empty cells.
func TableHeader(names []string, columns int) string {
	n := filled(names)
	if n == 0 {
		return ""
	}
	columns = max(columns, n)
	return tableRow(names[:n], columns) + dashesRow + strings.Repeat(CellSeparator+dashes, columns-1) + rowEnd
}

// filled returns the number of cells without the empty ones at the end.
func filled(cells []string) int {
	n := len(cells)
	for n > 0 && cells[n-1] == "" {
		n--
	}
	return n
}

// tableRow returns the line of a table with the first count cells. Those that are
// missing are empty.
func tableRow(cells []string, count int) string {
	if count == 0 {
		return ""
	}
	size := count * len(CellSeparator)
	for _, c := range cells {
		size += len(c)
	}
	var b strings.Builder
	b.Grow(size + 1)
	b.WriteString(rowStart)
	for i := range count {
		if i > 0 {
			b.WriteString(CellSeparator)
		}
		if i < len(cells) {
			b.WriteString(escaped(cells[i]))
		}
	}
	b.WriteString(rowEnd)
	return b.String()
}

func escaped(cell string) string {
	if strings.Contains(cell, "|") {
		return strings.ReplaceAll(cell, "|", `\|`)
	}
	return cell
}

// HeaderWithin returns the header of the first columns of a table that has at most
// so many code points; "" if the header of one column has more. It also takes a header of
// one line whose cells are separated by CellSeparator.
func HeaderWithin(header string, most int) string {
	if utf8.RuneCountInString(header) <= most {
		return header
	}
	names, _, hasDashes := strings.Cut(header, "\n")
	kept := ""
	count, cells := 0, 0 // code points and cells before i
	for i := range names {
		if count > most {
			break
		}
		if strings.HasPrefix(names[i:], CellSeparator) {
			cells++
			switch {
			case !hasDashes:
				kept = names[:i]
			case count+len(rowEnd)+len(dashesRow)+(cells-1)*len(CellSeparator+dashes)+len(rowEnd) <= most:
				kept = names[:i] + rowEnd + dashesRow + strings.Repeat(CellSeparator+dashes, cells-1) + rowEnd
			}
		}
		count++
	}
	return kept
}

// HasHeader reports whether the text of a table begins with the header, of which
// HeaderWithin may have left out columns.
func HasHeader(text, header string) bool {
	names, _, _ := strings.Cut(header, "\n")
	return strings.HasPrefix(text, strings.TrimSpace(names))
}

// HeaderIn returns the header of the first table in a text, "" if it contains none.
func HeaderIn(text string) string {
	for start := 0; ; {
		at := strings.Index(text[start:], dashesRow)
		if at < 0 {
			return ""
		}
		end := start + at
		names := text[strings.LastIndexByte(text[:end], '\n')+1 : end]
		row, _, _ := strings.Cut(text[end+1:], "\n")
		if strings.HasPrefix(names, rowStart) && strings.Trim(row, "-| ") == "" {
			return names + "\n" + row
		}
		start = end + 1
	}
}
