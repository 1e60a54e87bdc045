package ooxml

import (
	"unicode/utf8"

	"github.com/cairn-rag/cairn/internal/extract/markup"
	"github.com/cairn-rag/cairn/internal/extract/office"
	"github.com/cairn-rag/cairn/internal/extract/table"
)

// table adds a table, then what is anchored in it. A table that only arranges
// paragraphs is added as these.
func (w *word) table(n *markup.Node) error {
	rows := w.rows(n)
	if isLayout(rows) {
		for _, row := range rows {
			for _, cell := range row.cells {
				if err := w.flow(cell); err != nil {
					return err
				}
			}
		}
		return nil
	}
	grid := make([][]table.Cell, len(rows))
	var after []func() error
	for i, row := range rows {
		for range row.before {
			grid[i] = append(grid[i], table.Cell{})
		}
		for _, cell := range row.cells {
			text, more := w.text(cell)
			after = append(after, more...)
			grid[i] = appendCell(grid[i], cell, text)
		}
	}
	t := table.Table{HasHeader: len(rows) > 1 && rows[0].isHeader}
	for i, row := range mergeDown(grid) {
		t.Add(table.Row{Cells: row, IsHeader: rows[i].isHeader})
	}
	w.doc.Table(&t)
	if err := run(after); err != nil {
		return err
	}
	return w.doc.Err()
}

// wordRow is a row of a table in a Word document.
type wordRow struct {
	cells    []*markup.Node
	before   int // empty columns before the first cell
	isHeader bool
}

// rows returns the rows of a table that were not deleted.
func (w *word) rows(n *markup.Node) []wordRow {
	var rows []wordRow
	for _, c := range n.Nodes {
		switch c.Name {
		case "tr":
			properties := c.Child("trPr")
			if properties.Child("del") != nil {
				continue
			}
			rows = append(rows, wordRow{
				cells: cells(c), before: min(number(properties.Child("gridBefore"), 0), 63), isHeader: isOn(properties.Child("tblHeader")),
			})
		case "sdt", "sdtContent", "customXml", "ins", "moveTo":
			rows = append(rows, w.rows(c)...)
		}
	}
	return rows
}

func cells(n *markup.Node) []*markup.Node {
	var found []*markup.Node
	for _, c := range n.Nodes {
		switch c.Name {
		case "tc":
			found = append(found, c)
		case "sdt", "sdtContent", "customXml":
			found = append(found, cells(c)...)
		}
	}
	return found
}

// appendCell adds a cell of a Word table with the columns that it covers. A cell that
// continues the one above it is marked as covered.
func appendCell(row []table.Cell, n *markup.Node, text string) []table.Cell {
	properties := n.Child("tcPr")
	cell := table.Cell{Text: text, Columns: min(max(number(properties.Child("gridSpan"), 1), 1), 63)}
	if merge := properties.Child("vMerge"); merge != nil && value(merge) != "restart" {
		cell.Covered = true
	}
	if merge := properties.Child("hMerge"); merge != nil && value(merge) != "restart" {
		cell.Covered = true
	}
	row = append(row, cell)
	for range cell.Columns - 1 {
		row = append(row, table.Cell{Covered: true})
	}
	return row
}

// mergeDown counts how many rows the cells cover that others below continue. Text in
// a covered cell, which programs do not show, is dropped.
func mergeDown(rows [][]table.Cell) [][]table.Cell {
	owner := map[int]*table.Cell{} // by column, the cell that those below continue
	for i := range rows {
		for column := range rows[i] {
			cell := &rows[i][column]
			switch {
			case !cell.Covered:
				cell.Rows = 1
				owner[column] = cell
			case owner[column] != nil && cell.Columns > 0: // covered from above
				owner[column].Rows++
				cell.Text, cell.Columns = "", 0
			default:
				cell.Text = ""
			}
		}
	}
	return rows
}

const (
	// A table with more text in one cell than maxCell code points, in several
	// paragraphs, arranges text.
	maxCell       = 600
	maxParagraphs = 3
)

// isLayout reports whether a table only arranges text: it has one cell, contains
// another table, or has a cell with as much text as a section.
func isLayout(rows []wordRow) bool {
	if len(rows) == 1 && len(rows[0].cells) == 1 {
		return true
	}
	for _, row := range rows {
		for _, cell := range row.cells {
			if cell.Child("tbl") != nil {
				return true
			}
			if len(cell.Children("p")) > maxParagraphs && utf8.RuneCountInString(office.Tidy(cell.Content())) > maxCell {
				return true
			}
		}
	}
	return false
}
