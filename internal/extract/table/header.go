package table

import (
	"slices"
	"strconv"
	"strings"
)

// headerRow returns the index of the row that names the columns, -1 if there is
// none. It is the first row that is as full as the median row, apart from the
// corner, and contains no number.
func headerRow(rows []row) int {
	if len(rows) < 2 {
		return -1
	}
	usual := usualCells(rows)
	for i, row := range rows[:min(len(rows)-1, 20)] {
		if n := filled(row.cells); n < usual && (n < usual-1 || n == 0 || row.cells[0] != "") {
			continue
		}
		if hasNumber(row.cells, rows[i+1].cells) {
			return -1
		}
		return i
	}
	return -1
}

// usualCells returns the median number of filled cells of the first rows.
func usualCells(rows []row) int {
	var counts []int
	for _, row := range rows {
		counts = append(counts, filled(row.cells))
	}
	slices.Sort(counts)
	return counts[len(counts)/2]
}

// Filled returns the number of cells with text.
func Filled(cells []Cell) int {
	n := 0
	for _, c := range cells {
		if strings.TrimSpace(c.Text) != "" {
			n++
		}
	}
	return n
}

// NamesColumns reports whether a row can be a header: it has several cells, and no
// number.
func NamesColumns(cells []Cell) bool {
	for _, c := range cells {
		if isNumber(c.Text) {
			return false
		}
	}
	return Filled(cells) > 1
}

func filled(row []string) int {
	n := 0
	for _, c := range row {
		if c != "" {
			n++
		}
	}
	return n
}

// hasNumber reports whether a row contains a number that is not the name of a
// column: a year names a column unless a year is below it.
func hasNumber(row, below []string) bool {
	for i, c := range row {
		if isNumber(c) && (!isYear(c) || i >= len(below) || isYear(below[i])) {
			return true
		}
	}
	return false
}

var withoutSigns = strings.NewReplacer(",", "", "%", "", "$", "", "€", "")

func isNumber(cell string) bool {
	_, err := strconv.ParseFloat(strings.TrimSpace(withoutSigns.Replace(cell)), 64)
	return err == nil
}

func isYear(cell string) bool {
	year, err := strconv.Atoi(cell)
	return err == nil && year >= 1900 && year < 2100
}
