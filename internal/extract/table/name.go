package table

import (
	"slices"
	"strings"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// firstGroup returns the index of the first row of the header of which the row at is
// known: of the rows right above it, those that group columns.
func firstGroup(rows []row, at int) int {
	first := at
	for first > 0 && at-first < maxHeaderRows && isGroup(rows[first-1], rows[first:min(at+1, len(rows))]) {
		first--
	}
	return first
}

// isGroup reports whether a row groups the columns that the rows below it name. A row
// with one text for all columns is the subject or the period of the table.
func isGroup(r row, below []row) bool {
	if isSubject(r, below) {
		return false
	}
	if r.spans != nil {
		return groups(r) > 0
	}
	names := below[0].cells
	if filled(r.cells) >= filled(names) || len(r.cells) < 2 {
		return false
	}
	for i, c := range r.cells[1:] { // each group but the last has a column without a text of its own
		if c != "" && i+2 < len(r.cells) && r.cells[i+2] != "" {
			return false
		}
	}
	return filled(r.cells[1:]) > 1 && (r.cells[0] == "" || repeats(names[1:]))
}

// repeats reports whether a name occurs twice.
func repeats(names []string) bool {
	seen := map[string]bool{}
	for _, n := range names {
		if n != "" && seen[n] {
			return true
		}
		seen[n] = true
	}
	return false
}

// groups returns how many cells of a row cover several columns.
func groups(r row) int {
	n := 0
	for i, c := range r.spans {
		if c.Columns > 1 && r.cells[i] != "" {
			n++
		}
	}
	return n
}

// isSubject reports whether the only text of a row, apart from a label, stands above
// several columns and all that the rows below it name: it is the subject of the table,
// its unit or its period. The text of a single cell stands above all columns.
func isSubject(r row, below []row) bool {
	if filled(r.cells) != 1 {
		return false
	}
	at := slices.IndexFunc(r.cells, func(c string) bool { return c != "" })
	start, end := at, at+1
	if r.spans != nil {
		end = at + max(r.spans[at].Columns, 1)
	}
	beside := false // a column with text is not below the text
	for _, b := range below[:min(len(below), maxLead)] {
		for i, c := range b.cells {
			beside = beside || c != "" && i > 0 && (i < start || i >= end)
		}
	}
	if end-start > 1 {
		return !beside
	}
	return beside && r.spans == nil
}

// namesOf returns one row with the name of each column. Rows of a header that stand
// above each other are joined: a name says its group, its own name and its unit.
func namesOf(rows []row) row {
	texts := make([][]string, len(rows))
	columns := 0
	for _, r := range rows {
		columns = max(columns, len(r.cells))
		for i, c := range r.spans {
			columns = max(columns, min(i+c.Columns, maxColumns))
		}
	}
	for i, r := range rows {
		texts[i] = append(slices.Clone(r.cells), make([]string, columns-len(r.cells))...)
	}
	for i, r := range rows {
		spread(texts, i, r.spans)
		if r.spans == nil && i+1 < len(rows) {
			spreadRight(texts[i], texts[i+1])
		}
	}
	last := rows[len(rows)-1]
	out := row{number: last.number, origin: knowledge.Origin{First: rows[0].origin.First, Last: last.origin.Last}}
	for column := range columns {
		var parts []string
		for _, t := range texts {
			if t[column] != "" && !slices.Contains(parts, t[column]) {
				parts = append(parts, t[column])
			}
		}
		out.cells = append(out.cells, strings.Join(parts, " "))
	}
	if len(rows) == 1 && last.spans != nil {
		out.spans = append(slices.Clone(last.spans), make([]Cell, columns-len(last.spans))...)
		for i := len(last.spans); i < columns; i++ {
			out.spans[i].Covered = true
		}
	}
	return out
}

// spread writes the texts of the cells of row i into the cells that they cover.
func spread(texts [][]string, i int, spans []Cell) {
	for column, c := range spans {
		if c.Covered || texts[i][column] == "" {
			continue
		}
		for _, t := range texts[i:min(i+max(c.Rows, 1), len(texts))] {
			for k := column; k < min(column+max(c.Columns, 1), len(t)); k++ {
				t[k] = texts[i][column]
			}
		}
	}
}

// spreadRight writes the names of groups into the empty cells behind them below which
// a column is named, because the file does not say which columns a group covers.
func spreadRight(group, names []string) {
	open := ""
	for i := 1; i < len(group); i++ {
		switch {
		case group[i] != "":
			open = group[i]
		case names[i] != "":
			group[i] = open
		}
	}
}
