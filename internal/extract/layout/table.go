package layout

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/cairn-rag/cairn/internal/extract/table"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// cell is the lines of a cell of a table.
type cell []Line

// row is the cells of a row that are not empty, with their columns.
type row struct {
	cells   []cell
	columns []int
	header  bool // all of them are headers
}

// tableAt returns the rows of the table that begins with the first of lines and the
// number of lines in them, or none if no table begins there. A table of one column, or of
// one row, only arranges text on the page.
func tableAt(lines []Line) (rows []row, count int) {
	if lines[0].Role.Table == 0 {
		return nil, 0
	}
	for count < len(lines) && lines[count].Role.Table == lines[0].Role.Table {
		count++
	}
	sorted := slices.Clone(lines[:count])
	slices.SortStableFunc(sorted, func(a, b Line) int {
		return cmp.Or(cmp.Compare(a.Role.Row, b.Role.Row), cmp.Compare(a.Role.Column, b.Role.Column), downwards(a, b))
	})
	columns := 0
	for i, l := range sorted {
		if i == 0 || l.Role.Row != sorted[i-1].Role.Row {
			rows = append(rows, row{header: true})
		}
		r := &rows[len(rows)-1]
		if n := len(r.columns); n > 0 && r.columns[n-1] == l.Role.Column {
			r.cells[n-1] = append(r.cells[n-1], l)
		} else {
			r.cells, r.columns = append(r.cells, cell{l}), append(r.columns, l.Role.Column)
		}
		r.header = r.header && l.Role.Header
		columns = max(columns, l.Role.Column+1)
	}
	if columns < 2 || len(rows) < 2 {
		return nil, 0
	}
	return rows, count
}

// downwards orders the lines of a cell that is drawn on the page.
func downwards(a, b Line) int {
	if a.Page != b.Page {
		return cmp.Compare(a.Page, b.Page)
	}
	if !a.claimed || sameRow(a, b) {
		return 0
	}
	return cmp.Compare(a.upbox.Y1, b.upbox.Y1)
}

// tableBlocks returns the blocks of a table with the lines in them.
func tableBlocks(rows []row) []knowledge.Block {
	made := table.Table{HasHeader: rows[0].header}
	var cells []knowledge.Block // in order
	lines := make([][]table.Cell, len(rows))
	header := true // of the rows so far
	for r, row := range rows {
		header = header && row.header
		lines[r] = append(lines[r], make([]table.Cell, max(0, row.width()-len(lines[r])))...)
		for i, c := range row.cells {
			text := joined(c)
			cells = append(cells, text)
			lines[r][row.columns[i]].Text, lines[r][row.columns[i]].Covered = text.Text, false // a file may state that cells overlap
			cover(lines[r:], rows[r:], c[0].Role, row.columns[i])
		}
		made.Add(table.Row{Cells: lines[r], IsHeader: header && r+1 < len(rows)})
	}
	blocks := made.Blocks()
	addLines(blocks, cells)
	return blocks
}

// width returns the number of columns of a row.
func (r row) width() int {
	last := len(r.columns) - 1
	return r.columns[last] + max(1, r.cells[last][0].Role.Columns)
}

// cover marks the cells that a cell of the first of the rows covers.
func cover(lines [][]table.Cell, rows []row, role Role, column int) {
	columns, down := max(1, role.Columns), 1
	for down < len(rows) && rows[down].number() < role.Row+role.Rows {
		down++
	}
	if columns == 1 && down == 1 {
		return
	}
	for r := range down {
		if missing := column + columns - len(lines[r]); missing > 0 {
			lines[r] = append(lines[r], make([]table.Cell, missing)...)
		}
		for c := column; c < column+columns; c++ {
			lines[r][c].Covered = lines[r][c].Covered || r > 0 || c > column
		}
	}
	lines[0][column].Rows, lines[0][column].Columns = down, columns
}

// number returns the row of the table in which the cells of a row are.
func (r row) number() int { return r.cells[0][0].Role.Row }

// addLines adds the lines of cells, which are in the order of the table, to the
// blocks that contain their texts. A cell of a header with several rows is a part of
// the name of its column, in another order.
func addLines(blocks []knowledge.Block, cells []knowledge.Block) {
	at, from := 0, 0  // the block and the byte in its text behind the last cell
	named := [2]int{} // the same behind the last cell of the header that was found as a part
	for _, c := range cells {
		block, start, end := findCell(blocks, c.Text, at, from)
		if start < 0 {
			block, start, end = findName(blocks, c.Text, named)
			if start < 0 {
				continue
			}
			named = [2]int{block, end}
		} else {
			at, from = block, end
		}
		isTable := blocks[block].Kind == knowledge.BlockTable
		offset := utf8.RuneCountInString(blocks[block].Text[:start])
		for _, l := range c.Lines {
			if isTable {
				l.Start, l.End = escaped(c.Text, l.Start), escaped(c.Text, l.End)
			}
			l.Start, l.End = l.Start+offset, l.End+offset
			blocks[block].Lines = append(blocks[block].Lines, l)
		}
	}
	for i := range blocks {
		slices.SortStableFunc(blocks[i].Lines, func(a, b knowledge.Line) int { return a.Start - b.Start })
		blocks[i].Lines = withoutOverlap(blocks[i].Lines)
	}
}

const bar = "|"

// find returns where the text of a whole cell stands in the text of a table, at or
// behind a byte of it; start is negative if it does not. The text of a table has a
// backslash before each bar in a cell if escape is set.
func find(text, cell string, from int, escape bool) (start, end int) {
	if escape {
		cell = strings.ReplaceAll(cell, bar, `\`+bar)
	}
	for from <= len(text) {
		i := strings.Index(text[from:], cell)
		if i < 0 {
			break
		}
		start, end = from+i, from+i+len(cell)
		before, after := text[:start], text[end:]
		if (before == "" || strings.HasSuffix(before, "\n") || strings.HasSuffix(before, bar+" ")) &&
			(after == "" || after[0] == '\n' || strings.HasPrefix(after, " "+bar)) {
			return start, end
		}
		from = start + 1
	}
	return -1, 0
}

// escaped returns the offset of a code point of a cell when each bar has a
// backslash before it.
func escaped(cell string, offset int) int {
	n, bars := 0, 0
	for _, r := range cell {
		if n == offset {
			break
		}
		if n++; r == '|' {
			bars++
		}
	}
	return offset + bars
}
