package table

import (
	"strings"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// builder collects the rows of one block.
type builder struct {
	text    strings.Builder
	rows    int
	first   knowledge.Origin // of the first row
	last    knowledge.Origin // of the last row
	numbers []int
	columns int
	cells   []knowledge.Cell
	exact   []knowledge.Exact
}

// write adds a row to the open block, and begins another block if that one is full.
func (t *Table) write(r row) {
	b := &t.open
	if b.rows == knowledge.RowsPerBlock || b.rows > 0 && b.text.Len() >= bytesPerBlock {
		t.flush()
	}
	r, labels := t.labels.fill(r, b.rows == 0)
	switch {
	case b.rows > 0:
		b.text.WriteByte('\n')
		b.text.WriteString(knowledge.TableRow(r.cells))
	case len(t.blocks) == 0 || t.blocks[len(t.blocks)-1].Kind != knowledge.BlockTable:
		b.first = r.origin
		if t.header == "" {
			b.text.WriteString(knowledge.TableRow(r.cells))
			break
		}
		b.text.WriteString(t.header)
		b.numbers = append(b.numbers, r.number) // of the row of dashes
		t.header = knowledge.HeaderWithin(t.header, knowledge.MaxHeader)
	default:
		b.first = r.origin
		b.text.WriteString(knowledge.TableRow(r.cells))
	}
	if !t.WithoutCells {
		b.addCells(r, labels)
	}
	for column := range r.cells {
		if value := r.exact[column]; value != "" {
			b.exact = append(b.exact, knowledge.Exact{Line: len(b.numbers), Column: column, Value: value})
		}
	}
	b.numbers = append(b.numbers, r.number)
	b.columns = max(b.columns, len(r.cells))
	b.last = r.origin
	b.rows++
}

// addCells adds the cells of a row. A cell that covers rows of the next block is
// cut at the end of this one. labels are the cells of the block before that cover this
// row, with the number of the rows from here on.
func (b *builder) addCells(r row, labels map[int]int) {
	for i, text := range r.cells {
		c := knowledge.Cell{Row: b.rows, Column: i, Text: text}
		if r.spans != nil {
			if r.spans[i].Covered {
				if rows, isLabel := labels[i]; isLabel {
					c.RowSpan = several(rows)
					b.cells = append(b.cells, c)
				}
				continue
			}
			c.RowSpan, c.ColumnSpan = several(r.spans[i].Rows), several(r.spans[i].Columns)
		}
		if text != "" || c.RowSpan > 0 || c.ColumnSpan > 0 {
			b.cells = append(b.cells, c)
		}
	}
}

// several returns a span of more than one, else 0.
func several(span int) int {
	if span > 1 {
		return span
	}
	return 0
}

// flush ends the open block.
func (t *Table) flush() {
	b := &t.open
	if b.rows == 0 {
		return
	}
	for i, c := range b.cells {
		b.cells[i].RowSpan = several(min(c.RowSpan, b.rows-c.Row))
	}
	block := knowledge.Block{
		Kind: knowledge.BlockTable, Text: b.text.String(), Header: t.header, Cells: b.cells,
		Origin: knowledge.Origin{First: b.first.First, Last: b.last.Last},
	}
	lines := b.rows // in the file
	if t.HasDashes {
		lines = len(b.numbers)
	}
	block.Origin.LineByLine = b.first.First > 0 && b.last.Last-b.first.First+1 == lines
	if t.Sheet != "" {
		block.Sheet = knowledge.Sheet{Name: t.Sheet, Columns: b.columns, Rows: b.numbers, Exact: b.exact}
	}
	t.blocks = append(t.blocks, block)
	t.open = builder{}
}
