package table

import (
	"encoding/csv"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// maxFieldLines is the largest number of line ends in a quoted field. A field
// with more is treated as a stray quote that swallowed the rows after it.
const maxFieldLines = 200

// row is a row that is not blank, and the lines of the file that it is on.
type row struct {
	cells  []string
	origin knowledge.Origin
}

// parse returns the rows that are not blank. Cells contain no line ends.
func parse(s string, comma rune) []row {
	r := csv.NewReader(strings.NewReader(s))
	r.Comma, r.FieldsPerRecord, r.LazyQuotes, r.ReuseRecord = comma, -1, true, true
	var rows []row
	for {
		record, err := r.Read()
		if err == io.EOF {
			return rows
		}
		if err != nil || slices.ContainsFunc(record, hasTooManyLines) {
			return parsePlain(s, comma)
		}
		first, _ := r.FieldPos(0)
		last, _ := r.FieldPos(len(record) - 1)
		rows = appendRow(rows, record, first, last+strings.Count(record[len(record)-1], "\n"))
	}
}

func hasTooManyLines(field string) bool { return strings.Count(field, "\n") > maxFieldLines }

// parsePlain splits at every delimiter and keeps quotes as text.
func parsePlain(s string, comma rune) []row {
	var rows []row
	number := 0
	for l := range strings.Lines(s) {
		number++
		rows = appendRow(rows, strings.Split(l, string(comma)), number, number)
	}
	return rows
}

func appendRow(rows []row, record []string, first, last int) []row {
	cells := make([]string, len(record))
	blank := true
	for i, c := range record {
		cells[i] = strings.Join(strings.Fields(c), " ")
		blank = blank && cells[i] == ""
	}
	if blank {
		return rows
	}
	return append(rows, row{cells, knowledge.Origin{First: first, Last: last}})
}

// delimiter returns the character that splits the first lines most evenly.
func delimiter(s string) rune {
	best, bestScore := ',', 0.0
	for _, comma := range []rune{',', ';', '\t', '|'} {
		if score := evenness(s, comma); score > bestScore {
			best, bestScore = comma, score
		}
	}
	return best
}

// evenness returns the share of the first records that have the most frequent
// number of fields, weighted by that number; 0 if the delimiter splits nothing.
func evenness(s string, comma rune) float64 {
	r := csv.NewReader(strings.NewReader(s[:min(len(s), 64<<10)]))
	r.Comma, r.FieldsPerRecord, r.LazyQuotes, r.ReuseRecord = comma, -1, true, true
	counts := map[int]int{}
	records := 0
	for ; records < 50; records++ {
		record, err := r.Read()
		if err != nil {
			break
		}
		counts[len(record)]++
	}
	fields, most := 0, 0
	for n, c := range counts {
		if n > 1 && (c > most || c == most && n > fields) {
			fields, most = n, c
		}
	}
	if most == 0 {
		return 0
	}
	return float64(most) / float64(records) * (1 - 1/float64(fields+1))
}

// headerRow returns the index of the row that names the columns, -1 if there is
// none. It is the first row that fills as many cells as the median row and
// contains no number.
func headerRow(rows []row) int {
	if len(rows) < 2 {
		return -1
	}
	usual := usualCells(rows)
	for i, row := range rows[:min(len(rows)-1, 20)] {
		if filled(row.cells) < max(usual, 1) {
			continue
		}
		if slices.ContainsFunc(row.cells, isNumber) {
			return -1
		}
		return i
	}
	return -1
}

// usualCells returns the median number of filled cells of the first rows.
func usualCells(rows []row) int {
	var counts []int
	for _, row := range rows[:min(len(rows), 200)] {
		counts = append(counts, filled(row.cells))
	}
	slices.Sort(counts)
	return counts[len(counts)/2]
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

func isNumber(cell string) bool {
	cell = strings.NewReplacer(",", "", "%", "", "$", "", "€", "").Replace(cell)
	_, err := strconv.ParseFloat(strings.TrimSpace(cell), 64)
	return err == nil
}
