package table

// maxGrid bounds the covered cells of a grid, because a short file can state large
// spans.
const maxGrid = 1 << 20

// Grid returns the rows of a table whose file leaves out the cells that others
// cover, as HTML and Word do: covered cells are added, so that the index of a cell
// is its column. It adds at most maxGrid of them.
func Grid(rows [][]Cell) [][]Cell {
	g := grid{room: maxGrid}
	out := make([][]Cell, len(rows))
	for i, cells := range rows {
		out[i] = g.row(cells, len(rows)-i)
	}
	return out
}

type grid struct {
	open []int // number of rows below that a cell covers, by column
	room int   // covered cells that may still be added
}

// row returns the cells of the next row. left is the number of rows, with this one.
func (g *grid) row(cells []Cell, left int) []Cell {
	var out []Cell
	for _, c := range cells {
		out = g.cover(out)
		c.Columns, c.Rows = min(max(c.Columns, 1), g.room+1), min(max(c.Rows, 1), left)
		g.room -= c.Columns - 1
		for range len(out) + c.Columns - len(g.open) {
			g.open = append(g.open, 0)
		}
		for column := range c.Columns {
			g.open[len(out)] = c.Rows - 1
			if column == 0 {
				out = append(out, c)
			} else {
				out = append(out, Cell{Covered: true})
			}
		}
	}
	return g.cover(out)
}

// cover adds the cells that rows above cover in the next columns.
func (g *grid) cover(out []Cell) []Cell {
	for len(out) < len(g.open) && g.open[len(out)] > 0 && g.room > 0 {
		g.open[len(out)]--
		g.room--
		out = append(out, Cell{Covered: true})
	}
	return out
}
