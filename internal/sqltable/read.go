package sqltable

import (
	"slices"
	"strconv"
	"strings"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// rows are the rows of one table of a layout.
type rows struct {
	sheet, title string
	headers      []string // nil = no row names the columns
	cells        [][]string
	numbers      []int // of the rows in the sheet, or lines in the text
	exact        map[int]map[int]string
}

// tablesOf returns the tables of a layout that are rows of a sheet or of delimited text.
func tablesOf(layout knowledge.Layout) []*rows {
	isDelimited := slices.Contains(delimited, withoutParameters(layout.MediaType))
	var tables []*rows
	var open *rows
	title := ""
	for _, b := range layout.Blocks {
		if b.Kind != knowledge.BlockTable || b.Sheet.Name == "" && !isDelimited {
			open, title = nil, ""
			if b.Kind == knowledge.BlockCaption {
				title = b.Text
			}
			continue
		}
		hasHeader := b.Header != "" && knowledge.HasHeader(b.Text, b.Header)
		if open == nil || hasHeader || open.sheet != b.Sheet.Name {
			open = &rows{sheet: b.Sheet.Name, title: title, exact: map[int]map[int]string{}}
			tables, title = append(tables, open), ""
		}
		open.add(b, hasHeader)
	}
	return slices.DeleteFunc(tables, func(r *rows) bool { return len(r.cells) == 0 })
}

// add adds the rows of a block.
func (r *rows) add(b knowledge.Block, hasHeader bool) {
	lines := strings.Split(b.Text, "\n")
	first := 0
	if hasHeader && len(lines) > 1 {
		r.headers, first = splitRow(lines[0]), 2 // and the row of dashes
	}
	exact := exactOf(b)
	for i := first; i < len(lines); i++ {
		if cells := splitRow(lines[i]); cells != nil {
			if values := exact[i]; values != nil {
				r.exact[len(r.cells)] = values
			}
			r.cells = append(r.cells, cells)
			r.numbers = append(r.numbers, rowNumber(b, i, len(lines)))
		}
	}
}

// exactOf returns the stored values of the numbers that are shown rounded, by line and column.
func exactOf(b knowledge.Block) map[int]map[int]string {
	lines := map[int]map[int]string{}
	for _, e := range b.Sheet.Exact {
		if lines[e.Line] == nil {
			lines[e.Line] = map[int]string{}
		}
		lines[e.Line][e.Column] = e.Value
	}
	return lines
}

// rowNumber returns the row of a line of a block. Lines of a text with blank lines or with
// cells of several lines are counted from the end of the block.
func rowNumber(b knowledge.Block, line, lines int) int {
	if line < len(b.Sheet.Rows) {
		return b.Sheet.Rows[line]
	}
	return max(b.Origin.First, b.Origin.Last-(lines-1-line))
}

// splitRow returns the cells of a line that knowledge.TableRow has made.
func splitRow(line string) []string {
	inner, begins := strings.CutPrefix(line, "| ")
	inner, ends := strings.CutSuffix(inner, " |")
	if !begins || !ends {
		return nil
	}
	cells := strings.Split(inner, knowledge.CellSeparator)
	for i, c := range cells {
		cells[i] = strings.TrimSpace(strings.ReplaceAll(c, `\|`, "|"))
	}
	return cells
}

// columns returns the texts of each column.
func (r *rows) columns() [][]string {
	count := len(r.headers)
	for _, cells := range r.cells {
		count = max(count, len(cells))
	}
	columns := make([][]string, min(count, maxColumns))
	for i := range columns {
		texts := make([]string, len(r.cells))
		for row, cells := range r.cells {
			if i < len(cells) {
				texts[row] = cells[i]
			}
		}
		columns[i] = texts
	}
	return columns
}

// converters returns what turns the texts of each column into values.
func (r *rows) converters(columns [][]string) []converter {
	taken, notation := names{RowColumn: true}, preferred(columns)
	list := make([]converter, len(columns))
	for i, texts := range columns {
		c := Column{}
		if i < len(r.headers) {
			c.Header = r.headers[i]
		}
		c.Name = taken.of(c.Header, "column_"+strconv.Itoa(i+1))
		list[i] = newConverter(c, texts, notation)
		list[i].useExact(r.exact, i)
	}
	return list
}

// maxTotals bounds the rows that a table names as totals.
const maxTotals = 20

// totals returns the rows that seem to sum up others.
func (r *rows) totals() []int {
	var found []int
	for i, cells := range r.cells {
		at := slices.IndexFunc(cells, func(c string) bool { return c != "" })
		if at >= 0 && isTotal(cells[at]) && len(found) < maxTotals {
			found = append(found, r.numbers[i])
		}
	}
	return found
}

func isTotal(text string) bool {
	first, _, _ := strings.Cut(strings.ToLower(text), " ")
	switch strings.TrimRight(first, ":.") {
	case "total", "totals", "subtotal", "sum", "summe", "gesamt", "gesamtsumme", "zwischensumme", "insgesamt", "somme", "totaux", "suma", "totale", "totaal":
		return true
	}
	return strings.HasPrefix(strings.ToLower(text), "grand total")
}
