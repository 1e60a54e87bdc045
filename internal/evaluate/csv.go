package evaluate

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
)

// columns are the columns of CSV in the order in which they are written.
func columns() []string {
	return []string{"id", "question", "reference", "expected_documents", "expected_pages", "tags", "kind", "passages"}
}

// columnNames are other names of columns.
var columnNames = map[string]string{
	"answer": "reference", "expected_answer": "reference", "reference_answer": "reference", "documents": "expected_documents",
	"expected_document": "expected_documents", "pages": "expected_pages", "expected_page": "expected_pages", "tag": "tags", "passage": "passages", "frage": "question", "antwort": "reference",
}

// readCSV reads a header and a row for each item.
func (f *file) readCSV(data []byte) {
	reader := csv.NewReader(bytes.NewReader(data))
	reader.Comma = separatorOf(data)
	reader.FieldsPerRecord = -1
	header, err := reader.Read()
	if err != nil {
		f.csvProblem(err)
		return
	}
	for i, name := range header {
		header[i] = columnOf(name)
		if !slices.Contains(columns(), header[i]) {
			f.wrong(1, "there is no column %q; the columns are %s", name, strings.Join(columns(), ", "))
		} else if slices.Index(header, header[i]) < i {
			f.wrong(1, "the column %q is there twice", header[i])
		}
	}
	if !slices.Contains(header, "question") {
		f.wrong(1, "the column question is missing")
	}
	for len(f.problems.List) < MaxProblems {
		row, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			f.csvProblem(err)
			return
		}
		line, _ := reader.FieldPos(0)
		if !f.addRow(header, row, line) {
			return
		}
	}
}

func (f *file) csvProblem(err error) {
	var parse *csv.ParseError
	switch {
	case errors.Is(err, io.EOF):
		f.wrong(1, "the file is empty")
	case errors.As(err, &parse):
		f.wrong(parse.Line, "%s", parse.Err)
	default:
		f.wrong(0, "%s", err)
	}
}

// columnOf returns the name of a column as columns has it, if it is one.
func columnOf(name string) string {
	name = strings.ToLower(strings.Join(strings.FieldsFunc(name, func(r rune) bool { return r == ' ' || r == '_' || r == '-' }), "_"))
	if other, ok := columnNames[name]; ok {
		return other
	}
	return name
}

// separatorOf returns which of comma, semicolon and tab the header has most of, outside of
// quotation marks.
func separatorOf(data []byte) rune {
	counts := map[rune]int{}
	quoted := false
	for _, r := range string(data[:min(len(data), 4096)]) {
		if r == '"' {
			quoted = !quoted
		}
		if !quoted && (r == '\n' || r == '\r') {
			break
		}
		if !quoted {
			counts[r]++
		}
	}
	best := ','
	for _, r := range ";\t" {
		if counts[r] > counts[best] {
			best = r
		}
	}
	return best
}

// addRow adds the item of a row, and reports whether more may follow. An empty row is none.
func (f *file) addRow(header, row []string, line int) bool {
	if !slices.ContainsFunc(row, func(cell string) bool { return strings.TrimSpace(cell) != "" }) {
		return true
	}
	if len(row) != len(header) {
		f.wrong(line, "the row has %d cells, the header %d", len(row), len(header))
		return true
	}
	var item Item
	for i, cell := range row {
		if err := item.set(header[i], strings.TrimSpace(cell)); err != nil {
			f.problems.add(Problem{Line: line, Item: len(f.items), Field: header[i], Message: err.Error()})
		}
	}
	return f.add(item, line)
}

// set sets the field of a column.
func (i *Item) set(column, cell string) (err error) {
	switch column {
	case "id":
		i.ID = cell
	case "question":
		i.Question = cell
	case "reference":
		i.Reference = cell
	case "kind":
		i.Kind = Kind(strings.ToLower(cell))
	case "expected_documents":
		i.ExpectedDocuments, err = listOf(cell)
	case "tags":
		i.Tags, err = listOf(cell)
	case "passages":
		i.Passages, err = listOf(cell)
	case "expected_pages":
		var names []string
		if names, err = listOf(cell); err != nil {
			return err
		}
		for _, name := range names {
			page, err := parsePage(name)
			if err != nil {
				return err
			}
			i.ExpectedPages = append(i.ExpectedPages, page)
		}
	}
	return err
}

// listOf reads a list in a cell: "a; b", an element a line, or JSON.
func listOf(cell string) ([]string, error) {
	if strings.HasPrefix(cell, "[") {
		var list []string
		if err := json.Unmarshal([]byte(cell), &list); err != nil {
			return nil, errors.New("it begins as JSON but is no list of texts")
		}
		return list, nil
	}
	var list []string
	for element := range strings.FieldsFuncSeq(cell, func(r rune) bool { return r == ';' || r == '\n' }) {
		if element = strings.TrimSpace(element); element != "" {
			list = append(list, element)
		}
	}
	return list, nil
}

// cellOf returns a list as listOf reads it.
func cellOf(list []string) string {
	plain := !slices.ContainsFunc(list, func(element string) bool {
		return strings.ContainsAny(element, ";\n\r") || strings.HasPrefix(element, "[") || strings.TrimSpace(element) != element || element == ""
	})
	if plain {
		return strings.Join(list, "; ")
	}
	cell, _ := json.Marshal(list) // texts always marshal
	return string(cell)
}
