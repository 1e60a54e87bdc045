package localmodel

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// flushTable turns the rows collected so far into lines of "column: cell".
func (c *splitter) flushTable() {
	lines := c.table
	c.table = nil
	if len(lines) == 0 {
		return
	}
	header, rows := readTable(lines)
	for i, cells := range rows {
		named, values := nameCells(header, cells)
		before := len(c.out)
		c.add(renderRow(named), false)
		for j := range c.out[before:] {
			p := &c.out[before+j]
			p.cells, p.values, p.labels = named, values, min(countLabels(rows, i), len(named))
		}
	}
}

// readTable returns the names of the columns of a table, none if it has no header, and its
// rows.
func readTable(lines []string) (header []string, rows [][]string) {
	ruled := false // a rule is below the first row
	for i, line := range lines {
		cells := cutRow(line)
		if len(cells) == 0 {
			ruled = ruled || i == 1
			continue
		}
		rows = append(rows, cells)
	}
	if len(rows) == 0 || len(lines) < 2 || !ruled && !isHeader(rows[0]) {
		return nil, rows
	}
	header, rows = rows[0], rows[1:]
	if len(rows) > 1 && continuesHeader(header, rows[0]) {
		header, rows = joinHeaders(header, rows[0]), rows[1:]
	}
	return header, rows
}

// isHeader reports whether the cells of a first row name columns: each has a
// text that is not just a number.
func isHeader(cells []string) bool {
	for _, cell := range cells {
		if cell == "" || !strings.ContainsFunc(cell, unicode.IsLetter) {
			return false
		}
	}
	return true
}

// continuesHeader reports whether a row is the second one of a header: it names no row, has
// no numbers, and the first header leaves out the names of columns or repeats them.
func continuesHeader(header, row []string) bool {
	if len(row) != len(header) || row[0] != "" || strings.ContainsAny(strings.Join(row, ""), "0123456789") || strings.Join(row, "") == "" {
		return false
	}
	for i := 2; i < len(header); i++ {
		if header[i] == "" || header[i] == header[i-1] {
			return true
		}
	}
	return false
}

// joinHeaders returns one name a column of two rows of a header. A name of the upper row
// spans the empty cells behind it.
func joinHeaders(upper, lower []string) []string {
	joined := make([]string, len(upper))
	above := ""
	for i := range upper {
		if upper[i] != "" {
			above = upper[i]
		}
		joined[i] = strings.TrimSpace(above + " " + lower[i])
	}
	return joined
}

// countLabels returns the number of first cells that are the name of row i: one, and a
// further one for each that it has in common with the row before or after it.
func countLabels(rows [][]string, i int) int {
	shared := 0
	for _, j := range []int{i - 1, i + 1} {
		n := 0
		for j >= 0 && j < len(rows) && n < min(len(rows[i]), len(rows[j])) && rows[i][n] != "" && rows[i][n] == rows[j][n] {
			n++
		}
		shared = max(shared, n)
	}
	return shared + 1
}

// nameCells returns the cells of a row that are not empty, each behind the name of its
// column if that is known, and without it.
func nameCells(header, cells []string) (named, values []string) {
	for i, cell := range cells {
		if cell == "" {
			continue
		}
		values = append(values, cell)
		if len(cells) <= len(header) && header[i] != "" { // empty cells at the end are left out
			cell = header[i] + ": " + cell
		}
		named = append(named, cell)
	}
	return named, values
}

// longestKey is the length in characters up to which a text before a colon is a key.
const longestKey = 40

// areKeysAndValues reports whether each of several lines is a key and its value.
func areKeysAndValues(lines []string) bool {
	return len(lines) > 1 && !slices.ContainsFunc(lines, func(line string) bool {
		key, value, ok := strings.Cut(line, ": ")
		return !ok || strings.TrimSpace(value) == "" || utf8.RuneCountInString(key) > longestKey || strings.ContainsAny(key, ".!?")
	})
}
