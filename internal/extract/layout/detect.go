package layout

import (
	"cmp"
	"slices"
)

// withTables returns the lines with the roles of cells for the tables that show on
// the pages.
func (d Document) withTables(lines []Line) []Line {
	number := 0
	for _, l := range lines {
		number = max(number, l.Role.Table)
	}
	var out []Line // the lines so far, nil as long as no page has changed
	end := 0
	for _, page := range pagesOf(lines) {
		before := number
		start := end
		end += len(page)
		page, number = d.pageWithTables(page, number)
		if out == nil && number > before {
			out = append(make([]Line, 0, len(lines)), lines[:start]...)
		}
		if out != nil {
			out = append(out, page...)
		}
	}
	if out == nil {
		return lines
	}
	return out
}

// pageWithTables returns the lines of a page with the roles of cells, and the number of the
// last table. The lines are the given ones if no table shows.
func (d Document) pageWithTables(page []Line, number int) ([]Line, int) {
	drawing := d.Drawings[page[0].Page]
	down := map[int][]rule{} // lines and edges down the page, by direction
	claim := func(grids []*grid, turned int) {
		for _, g := range grids {
			if claimed, ok := g.claim(page, turned, number+1); ok {
				page = claimed
				number++
			}
		}
	}
	for _, turned := range directions(page) {
		across, sides := rulesOf(drawing, turned)
		claim(ruledGrids(across, sides), turned)
		across, down[turned] = hints(drawing, turned, across, sides)
		claim(openGrids(page, across, down[turned], turned), turned)
	}
	seen := map[int]bool{}
	for _, l := range page {
		if t := l.Role.Table; t > 0 && !l.claimed && !seen[t] {
			seen[t] = true
			placeStated(page, down[l.Turned], t)
		}
	}
	return page, number
}

// directions returns the directions of the lines of a page.
func directions(page []Line) []int {
	var list []int
	for _, l := range page {
		if !slices.Contains(list, l.Turned) {
			list = append(list, l.Turned)
		}
	}
	return list
}

// ruledGrids returns the grids that lines draw, the smallest first, because a table may be
// in a frame.
func ruledGrids(across, down []rule) []*grid {
	var grids []*grid
	for _, m := range meshes(across, down) {
		if g := gridOf(m); g != nil {
			grids = append(grids, g)
		}
	}
	slices.SortStableFunc(grids, func(a, b *grid) int { return cmp.Compare(a.size(), b.size()) })
	return grids
}

func (g *grid) size() float64 {
	return (g.xs[len(g.xs)-1] - g.xs[0]) * (g.ys[len(g.ys)-1] - g.ys[0])
}
