package layout

// A table that continues on the next page may have one row on one of the pages: its header
// on the first, or its last row on the second.

// isRow reports whether a grid is one row with text in several cells.
func (g *grid) isRow(table []piece) bool {
	seen := map[*area]bool{}
	for _, p := range table {
		seen[p.area] = true
	}
	return len(g.ys) == 2 && len(seen) > 1
}

// maxOutside is how many lines, such as a footer, may stand further out on the page than a
// row that belongs to a table on another page.
const maxOutside = 2

// atEdge reports whether a row is the first or the last on its page, apart from few lines.
func atEdge(others []Line, row []piece, turned int) bool {
	above, below := 0, 0
	for _, l := range others {
		switch {
		case l.Turned != turned:
		case l.upbox.Y1 < row[0].line.upbox.Y1:
			above++
		default:
			below++
		}
	}
	return min(above, below) <= maxOutside
}

// withoutSingleRows returns lines without the roles of rows that no other page continues.
func withoutSingleRows(lines []Line) []Line {
	rows := map[int]int{}
	for _, l := range lines {
		rows[l.Role.Table] = max(rows[l.Role.Table], l.Role.Row+1)
	}
	for i, l := range lines {
		if l.claimed && rows[l.Role.Table] == 1 {
			lines[i].Role, lines[i].claimed = l.stated, false
		}
	}
	return lines
}
