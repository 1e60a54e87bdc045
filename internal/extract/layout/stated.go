package layout

import (
	"cmp"
	"math"
	"slices"
)

// placeStated corrects the columns of a table that the file states. pdfium leaves out the
// empty cells of a tagged table, so that the cells behind them seem to be in the columns
// before. The places of the words show the columns, and so do the lines down the page.
func placeStated(page []Line, down []rule, number int) {
	var lines []*Line
	for i := range page {
		if page[i].Role.Table == number {
			lines = append(lines, &page[i])
		}
	}
	cells := statedCells(lines)
	most := 0
	for _, c := range cells {
		most = max(most, c.role.Column+max(1, c.role.Columns))
	}
	rows := visualRowsOf(page, lines[0].Turned, func(l Line) bool { return l.Role.Table == number })
	columns := joinSigns(columnsIn(rows, inside(down, rows), true), rows)
	if len(columns) < max(most, 2) || !placeCells(cells, columns) {
		return
	}
	for _, c := range cells {
		for _, l := range c.lines {
			l.Role.Column = c.role.Column
		}
	}
}

// statedCell is the lines of a cell that the file states.
type statedCell struct {
	role  Role
	lines []*Line
	at    span
}

func statedCells(lines []*Line) []*statedCell {
	found := map[[2]int]*statedCell{}
	var cells []*statedCell
	for _, l := range lines {
		key := [2]int{l.Role.Row, l.Role.Column}
		c := found[key]
		if c == nil {
			c = &statedCell{role: l.Role, at: span{l.upbox.X1, l.upbox.X2}}
			found[key] = c
			cells = append(cells, c)
		}
		c.lines = append(c.lines, l)
		c.at = span{math.Min(c.at.from, l.upbox.X1), math.Max(c.at.to, l.upbox.X2)}
	}
	slices.SortStableFunc(cells, func(a, b *statedCell) int {
		return cmp.Or(cmp.Compare(a.role.Row, b.role.Row), cmp.Compare(a.role.Column, b.role.Column))
	})
	return cells
}

// placeCells sets the columns of cells by their places. ok is false if two cells of a row
// would be in the same column, or in another order.
func placeCells(cells []*statedCell, columns []span) (ok bool) {
	mirrored := 0
	for i := 1; i < len(cells); i++ {
		if a, b := cells[i-1], cells[i]; a.role.Row == b.role.Row && b.at.from < a.at.from {
			mirrored++
		} else if a.role.Row == b.role.Row {
			mirrored--
		}
	}
	last := -1
	for i, c := range cells {
		if i == 0 || c.role.Row != cells[i-1].role.Row {
			last = -1
		}
		count := max(1, c.role.Columns)
		column := columnAround(columns, c.at, count)
		if mirrored > 0 {
			column = len(columns) - column - count
		}
		if column <= last || column+count > len(columns) {
			return false
		}
		c.role.Column, last = column, column+count-1
	}
	return true
}

// columnAround returns the first of so many columns whose middle is nearest to the middle
// of a text.
func columnAround(columns []span, at span, count int) int {
	if count == 1 {
		first, last := reach(columns, at.from, at.to)
		if first == last {
			return first
		}
	}
	best, least := 0, math.Inf(1)
	for c := 0; c+count <= len(columns); c++ {
		if away := math.Abs(columns[c].from + columns[c+count-1].to - at.from - at.to); away < least {
			best, least = c, away
		}
	}
	return best
}
