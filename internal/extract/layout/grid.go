package layout

import (
	"cmp"
	"math"
	"slices"
)

const (
	// openSide is how far the lines of a table must extend beyond its outermost
	// crossing line for a column or row without an outer border, in points.
	openSide = 8
	// drawnShare is the share of a cell's side that a line must cover to be its border.
	drawnShare = .6
	// maxCells bounds the cells of a table on one page.
	maxCells = 20_000
)

// grid is where the cells of a table are on a page whose text is upright.
type grid struct {
	xs, ys []float64 // edges of the columns and of the rows
	cells  [][]*area // by row and column; one area may cover several
}

// area is one cell of a grid with the rows and columns that it covers.
type area struct {
	row, column, rows, columns int
	square                     int // cells of the grid that are in it
}

// gridOf returns the grid that connected lines draw, nil if they draw none.
func gridOf(m mesh) *grid {
	if len(m.across)+len(m.down) < 3 || len(m.across) == 0 || len(m.down) == 0 {
		return nil
	}
	xs, ys := edges(m.down, m.across), edges(m.across, m.down)
	if len(xs) < 3 || len(ys) < 2 || len(xs)*len(ys) > maxCells { // less than two columns
		return nil
	}
	g := &grid{xs: xs, ys: ys}
	columns := len(xs) - 1
	sets := newSets(columns * (len(ys) - 1))
	for r := range len(ys) - 1 {
		for c := range columns {
			if c+1 < columns && !drawn(m.down, xs[c+1], ys[r], ys[r+1]) {
				sets.join(r*columns+c, r*columns+c+1)
			}
			if r+2 < len(ys) && !drawn(m.across, ys[r+1], xs[c], xs[c+1]) {
				sets.join(r*columns+c, (r+1)*columns+c)
			}
		}
	}
	g.fill(sets)
	return g
}

// fill makes an area of each set of cells.
func (g *grid) fill(sets sets) {
	columns := len(g.xs) - 1
	areas := map[int]*area{}
	g.cells = make([][]*area, len(g.ys)-1)
	for r := range g.cells {
		g.cells[r] = make([]*area, columns)
		for c := range columns {
			set := sets.find(r*columns + c)
			a := areas[set]
			if a == nil {
				a = &area{row: r, column: c}
				areas[set] = a
			}
			last := max(a.column+a.columns, c+1)
			a.column = min(a.column, c)
			a.rows, a.columns = max(a.rows, r+1-a.row), last-a.column
			a.square++
			g.cells[r][c] = a
		}
	}
}

// edges returns the places of lines, and the outer ends of those that cross them where
// these are further out.
func edges(rules, crossing []rule) []float64 {
	var at []float64
	for _, r := range rules {
		at = append(at, r.at)
	}
	slices.Sort(at)
	at = slices.CompactFunc(at, func(a, b float64) bool { return math.Abs(a-b) <= snap })
	from := slices.MinFunc(crossing, func(a, b rule) int { return cmp.Compare(a.from, b.from) }).from
	to := slices.MaxFunc(crossing, func(a, b rule) int { return cmp.Compare(a.to, b.to) }).to
	if from < at[0]-openSide {
		at = slices.Insert(at, 0, from)
	}
	if to > at[len(at)-1]+openSide {
		at = append(at, to)
	}
	return at
}

// drawn reports whether lines at a place cover most of an interval.
func drawn(rules []rule, at, from, to float64) bool {
	covered := 0.0
	for _, r := range rules {
		if r.at >= at-snap && r.at <= at+snap {
			covered += max(0, min(r.to, to)-max(r.from, from))
		}
	}
	return covered >= drawnShare*(to-from)
}

// at returns the cell at a point, nil if the point is outside of the table.
func (g *grid) at(x, y float64) *area {
	c, r := interval(g.xs, x), interval(g.ys, y)
	if c < 0 || r < 0 {
		return nil
	}
	return g.cells[r][c]
}

// interval returns the index of the interval between successive edges in which a place
// is, -1 if it is in none.
func interval(edges []float64, at float64) int {
	n, found := slices.BinarySearch(edges, at)
	if found {
		n++
	}
	if n == 0 || n >= len(edges) {
		return -1
	}
	return n - 1
}
