package odf

import (
	"github.com/cairn-rag/cairn/internal/extract/markup"
	"github.com/cairn-rag/cairn/internal/extract/office"
)

// openSheet is the sheet of a spreadsheet that is being read.
type openSheet struct {
	*office.Sheet
	row   int            // number of the last row
	after []func() error // adds what is anchored in it
}

// beginSheet begins a sheet, of which the rows follow.
func (r *reader) beginSheet(n *markup.Node) {
	r.endSheet()
	name := n.Attr("name")
	r.sheet = &openSheet{Sheet: r.doc.Sheet(name, r.styles.isHidden("table", n.Attr("style-name")))}
}

// endSheet ends the open sheet, and adds its charts, pictures and text boxes.
func (r *reader) endSheet() {
	if r.sheet == nil || r.err != nil {
		return
	}
	if r.err = r.sheet.End(); r.err == nil {
		r.err = run(r.sheet.after)
	}
	r.sheet = nil
}

// sheetRow adds a row of a sheet.
func (r *reader) sheetRow(n *markup.Node) error {
	if r.sheet == nil {
		return nil
	}
	cells, after := r.cells(n)
	r.sheet.after = append(r.sheet.after, after...)
	r.sheetComments(n)
	for i := range repeats(n) {
		if err := r.sheet.Row(r.sheet.row+i+1, cells); err != nil {
			return err
		}
	}
	r.sheet.row += max(office.Int(n.Attr("number-rows-repeated"), 1), 1)
	return nil
}

// sheetComments keeps the comments on the cells of a row.
func (r *reader) sheetComments(row *markup.Node) {
	column := 0
	for _, cell := range row.Nodes {
		if note := cell.Child("annotation"); note != nil {
			r.sheet.Note(column, r.sheet.row+1, note.Child("creator").Content(), r.plain(note))
		}
		if cell.Name == "table-cell" || cell.Name == "covered-table-cell" {
			column += max(office.Int(cell.Attr("number-columns-repeated"), 1), 1)
		}
	}
}
