// Package table makes the blocks of tables for all formats that have tables, and
// reads delimited text: TSV, and CSV with comma, semicolon, tab or bar.
package table

import (
	"slices"
	"strings"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

const (
	bytesPerBlock = 4000
	// sample is how many rows a table waits for before it looks for its header.
	sample = 200
	// maxColumns bounds the columns for which a header has cells without a name.
	maxColumns = 100
)

// Cell is a cell of a table as its file has it.
type Cell struct {
	Text    string // line ends in it become spaces
	Rows    int    // that it covers, 0 and 1 = one
	Columns int    // that it covers, 0 and 1 = one
	Covered bool   // by another cell, so that it has no text
	Exact   string // the number that the file stores, if Text shows it rounded and it was asked for
}

// Row is a row of a table, with a cell for each column.
type Row struct {
	Cells  []Cell
	Number int              // in its sheet, 1 = first
	Origin knowledge.Origin // in a text file
	// IsHeader means that the file states that the row names columns. Rows of data
	// follow the last such row.
	IsHeader bool
}

// Table makes the blocks of one table from its rows, which are added one after
// another. It keeps the text of the rows only.
type Table struct {
	// HasHeader means that the first row is a header, of which more rows may follow.
	// Without it, and without a row that IsHeader, the table looks for the rows that
	// name the columns. They become one row with one name for each column. Rows above
	// them become a caption.
	HasHeader bool
	// HasDashes means that the text file has a row of dashes below the header, as
	// Markdown does.
	HasDashes bool
	// Sheet is the name of the sheet of a spreadsheet.
	Sheet string
	// WithoutCells leaves out the cells of the blocks, which take several times
	// the memory of the text.
	WithoutCells bool

	waiting []row // before the header is known
	begun   bool  // the header is known
	header  string
	open    builder
	labels  labels
	blocks  []knowledge.Block
}

// row is a row whose cells contain no line ends.
type row struct {
	cells  []string
	spans  []Cell // nil if no cell covers another
	number int
	origin knowledge.Origin
	header bool           // as the file states
	exact  map[int]string // Cell.Exact by column
}

// Add adds a row. A row without text is left out.
func (t *Table) Add(r Row) {
	added := row{cells: make([]string, len(r.Cells)), number: r.Number, origin: r.Origin, header: r.IsHeader}
	for i, c := range r.Cells {
		added.cells[i] = oneLine(c.Text)
		if c.Covered || c.Rows > 1 || c.Columns > 1 {
			added.spans = r.Cells
		}
		if c.Exact != "" {
			if added.exact == nil {
				added.exact = map[int]string{}
			}
			added.exact[i] = c.Exact
		}
	}
	t.add(added)
}

func (t *Table) add(r row) {
	switch {
	case !slices.ContainsFunc(r.cells, func(c string) bool { return c != "" }):
	case t.begun:
		t.write(r)
	default:
		if t.waiting = append(t.waiting, r); len(t.waiting) == sample {
			t.begin()
		}
	}
}

// Blocks ends the table and returns its blocks.
func (t *Table) Blocks() []knowledge.Block {
	if !t.begun {
		t.begin()
	}
	t.flush()
	return t.blocks
}

// begin finds the header and writes the rows that waited for it.
func (t *Table) begin() {
	t.begun = true
	rows := t.waiting
	t.waiting = nil
	first, end, found := headerRows(rows, t.HasHeader)
	if first > 0 {
		t.lead(rows[:first])
	}
	if found {
		names := namesOf(rows[first:end])
		t.header = header(names, rows[end:])
		t.write(names)
		first = end
	}
	for _, r := range rows[first:] {
		t.write(r)
	}
}

func header(names row, rows []row) string {
	columns := min(len(names.cells), maxColumns)
	for _, r := range rows {
		columns = max(columns, min(len(r.cells), maxColumns))
	}
	return knowledge.TableHeader(names.cells, columns)
}

// lead makes a caption of the rows above the header, which name the subject of the
// table, its unit or the period of a group of columns.
func (t *Table) lead(rows []row) {
	var lines []string
	for _, r := range rows {
		cells := slices.DeleteFunc(slices.Clone(r.cells), func(c string) bool { return c == "" })
		lines = append(lines, strings.Join(cells, knowledge.CellSeparator))
	}
	t.blocks = append(t.blocks, knowledge.Block{Kind: knowledge.BlockCaption, Text: strings.Join(lines, "\n"), Origin: originOf(rows)})
}

// originOf returns the lines of successive rows. If each row is on a line of its
// own, and no line between them is blank, the block follows the file line by line.
func originOf(rows []row) knowledge.Origin {
	o := knowledge.Origin{First: rows[0].origin.First, Last: rows[len(rows)-1].origin.Last}
	o.LineByLine = o.First > 0 && o.Last-o.First+1 == len(rows)
	return o
}

func oneLine(cell string) string { return strings.Join(strings.Fields(cell), " ") }
