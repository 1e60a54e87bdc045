package odf

import (
	"unicode/utf8"

	"github.com/cairn-rag/cairn/internal/extract/charset"
	"github.com/cairn-rag/cairn/internal/extract/markup"
	"github.com/cairn-rag/cairn/internal/extract/office"
	"github.com/cairn-rag/cairn/internal/extract/table"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

const (
	// A short file can state that a cell or a row is repeated a million times.
	maxRepeatedCells = 256
	maxRepeatedRows  = 1000
	// A table with more text in one cell than maxCell code points, in several
	// paragraphs, arranges text.
	maxCell       = 600
	maxParagraphs = 3
)

// table adds a table of a text, then what is anchored in it. A table that only
// arranges paragraphs is added as these.
func (r *reader) table(n *markup.Node) error {
	var rows []*markup.Node
	headers := collectRows(n, &rows, false)
	if isLayout(rows) {
		for _, row := range rows {
			for _, cell := range row.Children("table-cell") {
				if err := r.flow(cell); err != nil {
					return err
				}
			}
		}
		return nil
	}
	t := table.Table{HasHeader: headers > 0 && len(rows) > 1}
	var after []func() error
	room := charset.MaxText
	for i, row := range rows {
		cells, more := r.cells(row)
		after = append(after, more...)
		for range repeats(row) {
			if room -= size(cells); room < 0 {
				return charset.TooLong()
			}
			t.Add(table.Row{Cells: cells, IsHeader: i < headers})
		}
	}
	r.doc.Table(&t)
	if err := run(after); err != nil {
		return err
	}
	return r.doc.Err()
}

// repeats returns how many rows of a table a row stands for.
func repeats(row *markup.Node) int {
	return min(max(office.Int(row.Attr("number-rows-repeated"), 1), 1), maxRepeatedRows)
}

// size returns the bytes that a row takes as text.
func size(cells []table.Cell) int {
	n := 0
	for _, c := range cells {
		n += len(c.Text) + len(knowledge.CellSeparator)
	}
	return n
}

// collectRows adds the rows of a table, and returns how many of them are header rows.
func collectRows(n *markup.Node, rows *[]*markup.Node, isHeader bool) int {
	headers := 0
	for _, c := range n.Nodes {
		switch c.Name {
		case "table-row":
			if *rows = append(*rows, c); isHeader {
				headers++
			}
		case "table-header-rows":
			headers += collectRows(c, rows, true)
		case "table-rows", "table-row-group":
			headers += collectRows(c, rows, isHeader)
		}
	}
	return headers
}

// cells returns the cells of a row, and the actions that add what is anchored in
// them. Empty cells at the end, of which spreadsheets have thousands, are left out.
func (r *reader) cells(row *markup.Node) (cells []table.Cell, after []func() error) {
	empty := 0
	for _, n := range row.Nodes {
		if n.Name != "table-cell" && n.Name != "covered-table-cell" || len(cells) > maxColumns {
			continue
		}
		repeated := max(office.Int(n.Attr("number-columns-repeated"), 1), 1)
		text, more := r.cellText(n)
		after = append(after, more...)
		cell := table.Cell{
			Text: text, Covered: n.Name == "covered-table-cell",
			Rows: office.Int(n.Attr("number-rows-spanned"), 1), Columns: office.Int(n.Attr("number-columns-spanned"), 1),
		}
		if text == "" && cell.Rows <= 1 && cell.Columns <= 1 && !cell.Covered {
			empty += repeated
			continue
		}
		for range min(empty, maxColumns) {
			cells = append(cells, table.Cell{})
		}
		empty = 0
		for range min(repeated, maxRepeatedCells) {
			cells = append(cells, cell)
		}
	}
	return cells, after
}

// maxColumns is the number of columns of a sheet in LibreOffice.
const maxColumns = 16384

// cellText returns the text of a cell as it is shown.
func (r *reader) cellText(n *markup.Node) (text string, after []func() error) {
	for _, c := range n.Nodes {
		switch c.Name {
		case "p", "h":
			line, more := r.inline(c)
			text += line + "\n"
			after = append(after, more...)
		case "annotation":
			if r.sheet != nil {
				continue // it names the cell
			}
			after = append(after, func() error {
				r.doc.Add(knowledge.BlockParagraph, r.comment(c))
				return nil
			})
		case "list", "section":
			text += r.plain(c) + "\n"
		case "":
		default:
			after = append(after, func() error { return r.graphic(c, "") })
		}
	}
	return text, after
}

// isLayout reports whether a table only arranges text: it has one cell, contains
// another table, or has a cell with as much text as a section.
func isLayout(rows []*markup.Node) bool {
	if len(rows) == 1 && len(rows[0].Children("table-cell")) == 1 {
		return true
	}
	for _, row := range rows {
		for _, cell := range row.Children("table-cell") {
			if cell.Child("table") != nil {
				return true
			}
			if len(cell.Children("p"))+len(cell.Children("list")) > maxParagraphs && utf8.RuneCountInString(office.Tidy(cell.Content())) > maxCell {
				return true
			}
		}
	}
	return false
}
