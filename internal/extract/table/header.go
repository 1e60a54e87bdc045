package table

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// maxLead is how many rows may stand above the header of a table.
const maxLead = 20

// headerRows returns the rows that name the columns, from first up to end. The rows
// above first are a caption. If no row names the columns, found is false. stated means
// that the first row is a header.
func headerRows(rows []row, stated bool) (first, end int, found bool) {
	n := statedRows(rows)
	if n > 0 && !isSubject(rows[n-1], rows[n:]) {
		return firstName(rows[:n]), lastName(rows, n-1) + 1, true
	}
	if lead := subjects(rows); lead > 0 && (stated || n > 0) {
		first, end, found = headerRows(rows[lead:], false)
		return lead + first, lead + end, found
	}
	var at int
	if stated {
		at, found = lastHeaderRow(rows), true
	} else {
		at, found = headerRow(rows)
	}
	if first = firstGroup(rows, at); !found {
		return first, at, first < at
	}
	return first, lastName(rows, at) + 1, len(rows) > 0
}

// subjects returns how many of the first rows only name the subject of the table.
func subjects(rows []row) int {
	n := 0
	for n+1 < len(rows) && n < maxHeaderRows && isSubject(rows[n], rows[n+1:]) {
		n++
	}
	return n
}

// maxHeaderRows is how many rows name the columns at most.
const maxHeaderRows = 5

// statedRows returns the number of the first rows of which the file states that they
// name columns, 0 if it states it of all rows, or of too many to be true.
func statedRows(rows []row) int {
	n := slices.IndexFunc(rows, func(r row) bool { return !r.header })
	if n < 0 && len(rows) == 1 {
		n = 1
	}
	if n > maxHeaderRows {
		return 0
	}
	return max(n, 0)
}

// firstName returns the index of the first of the stated header rows that does not
// only name the subject of the table in one cell.
func firstName(rows []row) int {
	first := 0
	for first+1 < len(rows) && isSubject(rows[first], rows[first+1:]) {
		first++
	}
	return first
}

// lastName returns the index of the last row of a header whose row at is known. A row
// below that one belongs to the header if it has no label, and names the columns of a
// group or stands above numbers, as units do.
func lastName(rows []row, at int) int {
	last := at
	for next := at + 1; next+1 < len(rows) && next < at+maxHeaderRows; next++ {
		cells, below := rows[next].cells, rows[next+1].cells
		isName := groups(rows[next-1]) > 0 || isUnits(cells, below)
		if !isName || cells[0] != "" || isData(cells, below) || isLonely(rows[next]) || isLabelled(rows[next]) {
			break
		}
		last = next
	}
	return last
}

// isLabelled reports whether a cell of a row covers rows below it, and none covers
// several columns: it is the label of these rows.
func isLabelled(r row) bool {
	return groups(r) == 0 && slices.ContainsFunc(r.spans, func(c Cell) bool { return !c.Covered && c.Rows > 1 })
}

// isLonely reports whether a row has one text at most, which is then no name of a
// column but of the rows below.
func isLonely(r row) bool { return filled(r.cells) < 2 && (r.spans == nil || len(r.cells) > 2) }

// isUnits reports whether all cells of a row are words right above numbers.
func isUnits(cells, below []string) bool {
	names := 0
	for i, c := range cells {
		switch {
		case c == "":
		case isNumber(c) || i >= len(below) || !isNumber(below[i]):
			return false
		default:
			names++
		}
	}
	return names > 0
}

// headerRow returns the index of the row that names the columns. It is the first row
// that is as full as the median row, apart from the corner, and is no data.
// If no row names the columns, found is false, and at is the number of rows that only
// group columns: they are no data, and their first cell is empty.
func headerRow(rows []row) (at int, found bool) {
	if len(rows) < 2 {
		return 0, false
	}
	usual := usualCells(rows)
	for i, row := range rows[:min(len(rows)-1, maxLead)] {
		if n := filled(row.cells); n < usual && (n < usual-1 || n == 0 || row.cells[0] != "") {
			continue
		}
		isLabel := isLabelled(row) && !isUnits(rows[i+1].cells, rows[min(i+2, len(rows)-1)].cells)
		if isLabel || isData(row.cells, rows[i+1].cells) {
			return groupRows(rows[:i]), false
		}
		return i, true
	}
	return 0, false
}

// groupRows returns how many of the first rows only group columns.
func groupRows(rows []row) int {
	n := 0
	for n < len(rows) && rows[n].cells[0] == "" {
		n++
	}
	return n
}

// lastHeaderRow returns the index of the row that names the columns if the file states
// that the first row is a header. Each row of a header with several rows groups the
// columns of the next one, so that it has fewer cells, and the next one has no label.
func lastHeaderRow(rows []row) int {
	at := 0
	for at+2 < len(rows) && at < maxLead {
		group, next := rows[at].cells, rows[at+1].cells
		if next[0] != "" || filled(group[1:]) >= filled(next[1:]) || isData(next, rows[at+2].cells) {
			break
		}
		at++
	}
	return at
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
// number but years that stand above several columns.
func NamesColumns(cells []Cell) bool {
	for _, c := range cells {
		if isNumber(c.Text) && (c.Columns < 2 || !isYear(c.Text)) {
			return false
		}
	}
	return Filled(cells) > 1
}

// filled returns the number of cells with text. A sign that stands in a cell of its
// own beside its number does not count.
func filled(row []string) int {
	n := 0
	for _, c := range row {
		if c != "" && !isSign(c) {
			n++
		}
	}
	return n
}

func isSign(cell string) bool { return strings.Trim(cell, "$€£¥%()") == "" }

// isData reports whether a row does not name columns: it contains a value, or a cell with
// the form of the one below. A year names a column unless a year is below it, and so does an
// amount with a number below it, such as "under $500".
func isData(row, below []string) bool {
	for i, c := range row {
		under := ""
		if i < len(below) {
			under = below[i]
		}
		if len(row) == 2 && i == 1 && quantity.MatchString(c) && quantity.MatchString(under) { // a list of names and values
			return true
		}
		isName := isYear(c) && i < len(below) && !isYear(under) || !isNumber(c) && isNumber(under)
		if !isName && (isNumber(c) || i > 0 && amount.MatchString(c) || sameForm(c, under)) {
			return true
		}
	}
	return false
}

// sentenceWords is the number of words from which a cell with a full stop is a sentence.
const sentenceWords = 4

// sameForm reports whether two cells of a column differ in their digits only, as
// successive codes do, or are both sentences, or both labels with a colon.
func sameForm(cell, under string) bool {
	switch {
	case cell == under || cell == "" || under == "":
		return false
	case strings.HasSuffix(cell, ":"):
		return strings.HasSuffix(under, ":")
	case strings.HasSuffix(cell, "."):
		return strings.HasSuffix(under, ".") && min(len(strings.Fields(cell)), len(strings.Fields(under))) >= sentenceWords
	}
	return digits.MatchString(cell) && digits.ReplaceAllString(cell, "0") == digits.ReplaceAllString(under, "0")
}

// quantity matches a number with its unit.
var quantity = regexp.MustCompile(`^[<>≤≥±~+-]?\s?\d[\d.,]*\s?[\pL%°µΩ/²³]{1,6}$`)

var digits = regexp.MustCompile(`\d+`)

// amount matches a number with a currency, a percent sign or a magnitude, and a range of
// numbers.
var amount = regexp.MustCompile(`(?i)[$€£¥] ?\(?\d|\d ?(?:[%€£¥]|(?:thousand|million|billion|trillion|mn|bn|bps|basis points)\b)|\d to \d`)

var withoutSigns = strings.NewReplacer(",", "", "%", "", "$", "", "€", "", "£", "", "¥", "")

// isNumber reports whether a cell is a number. Brackets around it mean that it is
// negative.
func isNumber(cell string) bool {
	text := strings.TrimSpace(withoutSigns.Replace(cell))
	if inner, ok := strings.CutPrefix(text, "("); ok {
		text = strings.TrimSpace(strings.TrimSuffix(inner, ")"))
	}
	_, err := strconv.ParseFloat(text, 64)
	return err == nil
}

func isYear(cell string) bool {
	year, err := strconv.Atoi(cell)
	return err == nil && year >= 1900 && year < 2100
}
