package table

import (
	"encoding/csv"
	"io"
	"slices"
	"strings"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// maxFieldLines is the largest number of line ends in a quoted field. A field
// with more is treated as a stray quote that swallowed the rows after it.
const maxFieldLines = 200

// Read returns the table blocks of delimited text, without their cells. comma is
// the delimiter; with 0 Read detects it.
func Read(s string, comma rune) []knowledge.Block {
	if rest, found := strings.CutPrefix(s, "sep="); found && len(rest) > 1 && (rest[1] == '\n' || rest[1] == '\r') {
		comma, s = rune(rest[0]), rest[1:] // Excel declares the delimiter in this way
	}
	text, comma := quoted(s, comma)
	if t, ok := parse(text, comma); ok {
		return t.Blocks()
	}
	return parsePlain(s, comma).Blocks()
}

// parse reads quoted fields. ok is false if the quotes do not match.
func parse(s string, comma rune) (t *Table, ok bool) {
	r := csv.NewReader(strings.NewReader(s))
	r.Comma, r.FieldsPerRecord, r.LazyQuotes, r.ReuseRecord = comma, -1, true, true
	t = &Table{WithoutCells: true}
	for {
		record, err := r.Read()
		if err == io.EOF {
			return t, true
		}
		if err != nil || slices.ContainsFunc(record, hasTooManyLines) {
			return nil, false
		}
		first, _ := r.FieldPos(0)
		last, _ := r.FieldPos(len(record) - 1)
		t.addRecord(record, first, last+strings.Count(record[len(record)-1], "\n"))
	}
}

func hasTooManyLines(field string) bool { return strings.Count(field, "\n") > maxFieldLines }

// parsePlain splits at every delimiter and keeps quotes as text.
func parsePlain(s string, comma rune) *Table {
	t := &Table{WithoutCells: true}
	number := 0
	for l := range strings.Lines(s) {
		number++
		t.addRecord(strings.Split(l, string(comma)), number, number)
	}
	return t
}

func (t *Table) addRecord(record []string, first, last int) {
	cells := make([]string, len(record))
	for i, c := range record {
		if inner, ok := strings.CutPrefix(c, `="`); ok && strings.IndexByte(inner, '"') == len(inner)-1 { // so that Excel keeps 00123 as text
			c = inner[:len(inner)-1]
		}
		cells[i] = oneLine(c)
	}
	t.add(row{cells: cells, origin: knowledge.Origin{First: first, Last: last}})
}

// delimiter returns the character that splits the first lines most evenly.
func delimiter(s string) rune {
	best, bestScore := ',', 0.0
	for _, comma := range delimiters {
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
