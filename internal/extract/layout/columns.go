package layout

import (
	"cmp"
	"slices"
	"unicode/utf8"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

const (
	minGutter      = 6.0 // points between columns
	minColumnLines = 6   // lines of a column
	minColumnText  = 20  // average of code points in the lines of a column
	maxColumns     = 4
)

// column is the horizontal extent of a column of prose.
type column struct{ left, right float64 }

// sortColumns sorts the lines of a page with columns of prose by column, if the file
// draws them row by row across the columns. Most files draw one column after the
// other, and their order is kept.
func sortColumns(lines []Line) {
	columns := columnsOf(lines)
	if len(columns) < 2 {
		return
	}
	for start := 0; start < len(lines); {
		end := start
		for end < len(lines) && columnAt(lines[end], columns) >= 0 {
			end++
		}
		if band := lines[start:end]; switches(band, columns) > 2*(len(columns)-1) {
			slices.SortStableFunc(band, func(a, b Line) int { return columnAt(a, columns) - columnAt(b, columns) })
		}
		start = max(end, start+1)
	}
}

// columnsOf returns the columns of prose on a page, from left to right, or nil if
// the page has fewer than two. Lines that cross a gutter, such as a title, do not
// count if they are few.
func columnsOf(lines []Line) []column {
	var upright []Line
	for _, l := range lines {
		if l.Turned == 0 && l.Role.Table == 0 {
			upright = append(upright, l)
		}
	}
	if len(upright) < 2*minColumnLines {
		return nil
	}
	page := upright[0].Box
	for _, l := range upright {
		page = page.Union(l.Box)
	}
	narrow := slices.DeleteFunc(upright, func(l Line) bool { return width(l.Box) > .55*width(page) })
	columns := extents(narrow)
	if len(columns) < 2 || len(columns) > maxColumns {
		return nil
	}
	for i := range columns {
		if !isProseColumn(i, columns, narrow) {
			return nil
		}
	}
	return columns
}

// extents returns the intervals of the horizontal axis that more than a few lines
// cover, and that are at least minGutter apart.
func extents(lines []Line) []column {
	type edge struct {
		x    float64
		step int
	}
	var edges []edge
	for _, l := range lines {
		edges = append(edges, edge{l.Box.X1, 1}, edge{l.Box.X2, -1})
	}
	slices.SortFunc(edges, func(a, b edge) int { return cmp.Compare(a.x, b.x) })
	few := max(1, len(lines)/20)
	var columns []column
	covering, open := 0, false
	for _, e := range edges {
		covering += e.step
		switch {
		case covering > few && !open:
			open = true
			if n := len(columns); n == 0 || e.x >= columns[n-1].right+minGutter {
				columns = append(columns, column{left: e.x})
			}
		case covering <= few && open:
			open = false
			columns[len(columns)-1].right = e.x
		}
	}
	return columns
}

// isProseColumn reports whether the lines of a column are running text: most of them are
// as wide as the column, which the cells of a table are not.
func isProseColumn(index int, columns []column, lines []Line) bool {
	count, full, text := 0, 0, 0
	for _, l := range lines {
		if columnAt(l, columns) != index {
			continue
		}
		count++
		text += utf8.RuneCountInString(l.Text)
		if width(l.Box) > .8*(columns[index].right-columns[index].left) {
			full++
		}
	}
	return count >= minColumnLines && full*5 >= count*3 && text >= minColumnText*count
}

// columnAt returns the index of the column in which a line stands, -1 if it stands
// in none or in several.
func columnAt(l Line, columns []column) int {
	in := func(c column) bool { return l.Box.X1 < c.right && l.Box.X2 > c.left }
	first := slices.IndexFunc(columns, in)
	if first < 0 || slices.ContainsFunc(columns[first+1:], in) {
		return -1
	}
	return first
}

// switches counts how often successive lines stand in different columns.
func switches(lines []Line, columns []column) int {
	n := 0
	for i := 1; i < len(lines); i++ {
		if columnAt(lines[i-1], columns) != columnAt(lines[i], columns) {
			n++
		}
	}
	return n
}

// continuesInColumn reports whether b begins the column to the right of the one
// that a ends.
func continuesInColumn(a, b knowledge.Box) bool {
	return b.X1 >= a.X2-1 && b.Y1 < a.Y1 && width(b) > .5*width(a)
}
