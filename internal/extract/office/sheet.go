package office

import (
	"strconv"
	"strings"

	"github.com/cairn-rag/cairn/internal/extract/table"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// maxCells is the number of cells above which the tables of a document have their
// text only: cells take five times the memory of the text.
const maxCells = 100_000

// Sheet adds a sheet of a spreadsheet row by row: a heading with its name, then its
// tables. Another table begins below a blank row with a row that names columns, if
// it is not as wide as the row above.
type Sheet struct {
	doc     *Document
	name    string
	table   *table.Table
	rows    int         // of the open table
	alone   string      // the text of a table of one cell, which is a paragraph
	last    int         // number of the last row with text
	extent  [2]int      // first and last column with text of the last row that was added
	pending []table.Row // rows below a blank one that may begin a table
	notes   []string
}

// Sheet begins a sheet.
func (d *Document) Sheet(name string, isHidden bool) *Sheet {
	heading := name
	if isHidden {
		heading += " (hidden sheet)"
	}
	d.names[len(d.Result.Layout.Blocks)], d.hasNames = true, true
	d.Heading(1, heading)
	return &Sheet{doc: d, name: name}
}

// Row adds a row. Numbers of rows increase; rows without text need not be added.
func (s *Sheet) Row(number int, cells []table.Cell) error {
	row := table.Row{Cells: cells, Number: number}
	if table.Filled(cells) == 0 {
		return nil
	}
	below := s.table != nil && number > s.last+1 // below a blank row
	s.last = number
	switch {
	case below:
		s.flush(false)
		s.pending = append(s.pending, row)
	case len(s.pending) == 0:
		s.add(row)
	default:
		first := s.pending[0]
		s.pending = append(s.pending, row)
		s.flush(s.begins(first.Cells) || table.Filled(first.Cells) == 1 && s.begins(cells))
	}
	return s.doc.Err()
}

// begins reports whether a row can be the header of another table.
func (s *Sheet) begins(cells []table.Cell) bool {
	return table.NamesColumns(cells) && extent(cells) != s.extent
}

// extent returns the first and the last column with text.
func extent(cells []table.Cell) [2]int {
	columns := [2]int{-1, -1}
	for i, c := range cells {
		if strings.TrimSpace(c.Text) == "" {
			continue
		}
		if columns[0] < 0 {
			columns[0] = i
		}
		columns[1] = i
	}
	return columns
}

// flush adds the rows that waited, as another table or as more of this one.
func (s *Sheet) flush(isAnother bool) {
	if isAnother {
		s.end()
	}
	for _, row := range s.pending {
		s.add(row)
	}
	s.pending = s.pending[:0]
}

func (s *Sheet) add(row table.Row) {
	if s.table == nil {
		s.rows = 0
		s.table = &table.Table{Sheet: s.name, WithoutCells: s.doc.cells > maxCells}
	}
	s.alone = ""
	if s.extent = extent(row.Cells); s.rows == 0 && s.extent[0] == s.extent[1] {
		s.alone = row.Cells[s.extent[0]].Text
	}
	s.rows++
	s.doc.cells += len(row.Cells)
	if s.doc.cells > maxCells {
		s.table.WithoutCells = true
	}
	for _, c := range row.Cells {
		s.doc.size += len(c.Text) + len(knowledge.CellSeparator)
	}
	s.table.Add(row)
}

// end adds the blocks of the open table.
func (s *Sheet) end() {
	if s.table == nil {
		return
	}
	if s.alone != "" {
		s.doc.Add(knowledge.BlockParagraph, s.alone)
		s.table = nil
		return
	}
	size := s.doc.size // which counts the rows already
	s.doc.Table(s.table)
	s.doc.size = size
	s.table = nil
}

// Note adds a comment on a cell. It follows the tables.
func (s *Sheet) Note(column, row int, author, text string) {
	if text = Tidy(text); text == "" {
		return
	}
	head := "Comment on " + s.name + "!" + ColumnName(column) + strconv.Itoa(row)
	if author = Tidy(author); author != "" {
		head += " by " + author
	}
	s.notes = append(s.notes, head+": "+text)
}

// End ends the sheet.
func (s *Sheet) End() error {
	s.flush(false)
	s.end()
	for _, note := range s.notes {
		s.doc.Add(knowledge.BlockParagraph, note)
	}
	if s.doc.cells > maxCells {
		for i := range s.doc.Result.Layout.Blocks {
			s.doc.Result.Layout.Blocks[i].Cells = nil
		}
	}
	return s.doc.Err()
}

// ColumnName returns the name of a column, 0 = A.
func ColumnName(column int) string {
	var b strings.Builder
	if column >= 26 {
		b.WriteString(ColumnName(column/26 - 1))
	}
	b.WriteByte(byte('A' + column%26))
	return b.String()
}
