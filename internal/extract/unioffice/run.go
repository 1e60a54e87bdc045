//go:build unioffice

package unioffice

import (
	"strings"

	"github.com/cairn-rag/cairn/internal/extract/office"
	"github.com/cairn-rag/cairn/internal/extract/table"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// maxColumn bounds the place of a cell, which a document may state as it likes.
const maxColumn = 16_384

// run is a piece of a paragraph, which unioffice returns one by one.
type run struct {
	paragraph   any // which paragraph of the document
	text        string
	level       int // of a heading, 0 = none
	table       any // which table the paragraph is in, nil = none
	row, column int
}

// addRuns adds the paragraphs and tables that runs make.
func addRuns(doc *office.Document, runs []run) {
	var open grid
	for len(runs) > 0 {
		first, n, text := runs[0], 0, ""
		for n < len(runs) && runs[n].paragraph == first.paragraph {
			text += runs[n].text
			n++
		}
		runs = runs[n:]
		if first.table != open.table {
			open.end(doc)
			open.table = first.table
		}
		switch {
		case first.table != nil:
			open.add(first.row, first.column, text)
		case first.level > 0:
			doc.Heading(first.level, text)
		default:
			doc.Add(knowledge.BlockParagraph, text)
		}
	}
	open.end(doc)
}

// grid collects the cells of one table.
type grid struct {
	table any // which table of the document
	rows  [][]table.Cell
}

// add adds a paragraph of a cell.
func (g *grid) add(row, column int, text string) {
	for row >= len(g.rows) && row < len(g.rows)+maxColumn {
		g.rows = append(g.rows, nil)
	}
	if row >= 0 && row < len(g.rows) {
		g.rows[row] = withCell(g.rows[row], column, text)
	}
}

// end adds the table to the document.
func (g *grid) end(doc *office.Document) {
	if len(g.rows) > 0 {
		var t table.Table
		for _, cells := range g.rows {
			t.Add(table.Row{Cells: cells})
		}
		doc.Table(&t)
	}
	*g = grid{}
}

// withCell returns the cells of a row with a text in a column, from 0 on.
func withCell(cells []table.Cell, column int, text string) []table.Cell {
	if column < 0 || column >= maxColumn {
		return cells
	}
	for column >= len(cells) {
		cells = append(cells, table.Cell{})
	}
	cells[column].Text = strings.TrimSpace(cells[column].Text + " " + text)
	return cells
}
