package xml

import (
	"encoding/xml"
	"slices"
	"strings"

	"github.com/cairn-rag/cairn/internal/extract/table"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// records are elements of the same kind, which become the rows of a table.
type records struct {
	columns []string
	rows    [][]string
	nodes   []*node
}

// maxColumns is the most columns of such a table.
const maxColumns = 40

// newRecords returns the records that elements with the same name are. ok is false if
// they are something else: fewer than two, with elements inside their elements, with
// paragraphs or long text, or with only one value each.
func newRecords(nodes []*node) (r records, ok bool) {
	if len(nodes) < 2 || slices.Contains(titleNames, nodes[0].name) || slices.Contains(paragraphNames, nodes[0].name) {
		return r, false
	}
	index := map[string]int{}
	for _, n := range nodes {
		row, flat := r.row(n, index)
		if !flat || len(r.columns) > maxColumns {
			return r, false
		}
		r.rows, r.nodes = append(r.rows, row), append(r.nodes, n)
	}
	return r, len(r.columns) > 1
}

// row returns the values of a record by column. flat is false if it is none.
func (r *records) row(n *node, index map[string]int) (row []string, flat bool) {
	set := func(name, value string) bool {
		i, known := index[name]
		if !known {
			i = len(r.columns)
			index[name] = i
			r.columns = append(r.columns, name)
		}
		for len(row) <= i {
			row = append(row, "")
		}
		if row[i] != "" && value != "" {
			value = row[i] + ", " + value
		}
		row[i] = value
		return len(value) < longValue
	}
	for _, a := range n.attributes {
		if isData(a) && !set(a.Name.Local, a.Value) {
			return nil, false
		}
	}
	if n.isLeaf() {
		return row, len(row) > 0 && (n.line() == "" || set(n.name, n.line()))
	}
	if n.isMixed() {
		return nil, false
	}
	for _, c := range n.elements() {
		if !c.isLeaf() || slices.Contains(paragraphNames, c.name) || !set(c.name, c.line()) {
			return nil, false
		}
		for _, a := range c.attributes {
			if isData(a) && !set(c.name+" "+a.Name.Local, a.Value) {
				return nil, false
			}
		}
	}
	return row, true
}

// isData reports whether an attribute is for readers of the document.
func isData(a xml.Attr) bool {
	return a.Name.Space != "xmlns" && a.Name.Local != "xmlns" && !strings.Contains(a.Name.Space, "XMLSchema-instance") &&
		a.Name.Space != "http://www.w3.org/XML/1998/namespace" && strings.TrimSpace(a.Value) != ""
}

// records adds the table of records.
func (w *writer) records(r records) {
	w.flush()
	t := table.Table{HasHeader: true}
	t.Add(table.Row{Cells: cellsOf(r.columns, len(r.columns)), Origin: knowledge.Origin{First: r.nodes[0].first, Last: r.nodes[0].first}})
	for i, row := range r.rows {
		t.Add(table.Row{Cells: cellsOf(row, len(r.columns)), Origin: knowledge.Origin{First: r.nodes[i].first, Last: r.nodes[i].last}})
	}
	w.addTable(t)
}

func cellsOf(values []string, columns int) []table.Cell {
	cells := make([]table.Cell, columns)
	for i, v := range values {
		cells[i].Text = v
	}
	return cells
}

// addTable adds the blocks of a table. Their lines do not follow the lines of the file.
func (w *writer) addTable(t table.Table) {
	for _, b := range t.Blocks() {
		b.Origin.LineByLine = false
		w.layout.Blocks = append(w.layout.Blocks, b)
	}
}

// rowsOf returns the rows of a table as documents have them: rows of cells, perhaps in
// a head and a body.
func rowsOf(n *node) (rows []*node) {
	for _, c := range n.elements() {
		if slices.Contains(rowNames, c.name) {
			rows = append(rows, c)
		} else if !slices.Contains(tableNames, c.name) || c.name == "tgroup" {
			rows = append(rows, rowsOf(c)...)
		}
	}
	return rows
}

// grid adds a table as documents have them, after its title.
func (w *writer) grid(n *node) {
	if title := n.child("title", "caption", "label"); title != nil {
		w.add(knowledge.Block{Kind: knowledge.BlockCaption, Text: title.line()}, title)
	}
	w.flush()
	t := table.Table{HasHeader: true}
	for _, row := range rowsOf(n) {
		var cells []table.Cell
		for _, c := range row.elements() {
			cells = append(cells, table.Cell{Text: c.line()})
		}
		t.Add(table.Row{Cells: cells, Origin: knowledge.Origin{First: row.first, Last: row.last}})
	}
	w.addTable(t)
}
