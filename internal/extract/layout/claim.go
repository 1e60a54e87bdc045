package layout

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// piece is a part of a line with its cell, nil if it is outside of the table.
type piece struct {
	line Line
	area *area
}

// pieces cuts a line where another cell begins.
func (g *grid) pieces(l Line) []piece {
	y := (l.upbox.Y1 + l.upbox.Y2) / 2
	if y < g.ys[0] || y > g.ys[len(g.ys)-1] || l.upbox.X2 < g.xs[0] || l.upbox.X1 > g.xs[len(g.xs)-1] {
		return []piece{{line: l}}
	}
	if l = withoutLeader(l); l.Text == "" {
		return nil
	}
	if len(l.Words) < 2 {
		return []piece{{l, g.at((l.upbox.X1+l.upbox.X2)/2, y)}}
	}
	var out []piece
	start := 0
	cell := func(w Word) *area { return g.at((w.X1+w.X2)/2, y) }
	for i := 1; i <= len(l.Words); i++ {
		if i < len(l.Words) && cell(l.Words[i]) == cell(l.Words[start]) {
			continue
		}
		p := piece{l, cell(l.Words[start])}
		if start > 0 || i < len(l.Words) {
			p.line = l.part(start, i)
		}
		out, start = append(out, p), i
	}
	return out
}

// withoutLeader returns a line of a table without the dots at its ends that lead from a
// label to a number.
func withoutLeader(l Line) Line {
	first, end := 0, len(l.Words)
	texts := l.wordTexts()
	for first < end && isLeader(l, texts[first]) {
		first++
	}
	for first < end && isLeader(l, texts[end-1]) {
		end--
	}
	switch {
	case first == end && end > 0:
		return Line{}
	case first > 0 || end < len(l.Words):
		return l.part(first, end)
	}
	return l
}

// isLeader reports whether a word of a line is nothing but dots that lead to the next. Three
// dots can be the value of a cell, and so can one, but not one among many.
func isLeader(l Line, word string) bool {
	return word == "." && strings.Contains(l.Text, ". . . .") || leaderDots(word) && strings.Trim(word, ".·… ") == ""
}

func leaderDots(word string) bool {
	return strings.Contains(word, "....") || strings.Contains(word, "····") || strings.Contains(word, "……")
}

// claim sets the roles of the lines of a page that are in the cells of a grid, and moves
// them to the first of them. ok is false if the grid is no table.
func (g *grid) claim(page []Line, turned, number int) (lines []Line, ok bool) {
	var table []piece
	first := -1
	for _, l := range page {
		if l.Turned != turned || l.claimed {
			lines = append(lines, l)
			continue
		}
		for _, p := range g.pieces(l) {
			if p.area == nil {
				lines = append(lines, p.line)
				continue
			}
			if first < 0 {
				first = len(lines)
			}
			table = append(table, p)
		}
	}
	if !g.isTable(table) && (!g.isRow(table) || !atEdge(lines, table, turned)) {
		return page, false
	}
	g.tighten(table)
	mirrored := g.rightToLeft(table)
	header := headerRows(table)
	if !mirrored {
		header = max(header, stackedNames(table))
	}
	claimed := make([]Line, len(table))
	for i, p := range table {
		role := Role{Table: number, Row: p.area.row, Column: p.area.column, Rows: p.area.rows, Columns: p.area.columns}
		if mirrored {
			role.Column = len(g.xs) - 1 - p.area.column - p.area.columns
		}
		role.Header = p.line.Role.Header || p.area.row < header
		p.line.Role, p.line.stated, p.line.claimed = role, p.line.Role, true
		claimed[i] = p.line
	}
	return slices.Insert(lines, first, claimed...), true
}

// tighten leaves out columns and rows without text that are too narrow for it, as
// between the two lines of a wide border.
func (g *grid) tighten(table []piece) {
	const room = 7 // points that a text needs
	begins := map[[2]int]bool{}
	for _, p := range table {
		begins[[2]int{0, p.area.column}], begins[[2]int{1, p.area.row}] = true, true
	}
	kept := func(axis int, edges []float64) (map[int]int, []float64) {
		index, left, n := map[int]int{}, edges[:1:1], 0
		for i := range len(edges) - 1 {
			index[i] = n
			if begins[[2]int{axis, i}] || edges[i+1]-edges[i] >= room {
				n++
				left = append(left, edges[i+1])
			}
		}
		index[len(edges)-1] = n
		return index, left
	}
	columns, xs := kept(0, g.xs)
	rows, ys := kept(1, g.ys)
	done := map[*area]bool{}
	for _, p := range table {
		if a := p.area; !done[a] {
			done[a] = true
			a.columns, a.rows = max(1, columns[a.column+a.columns]-columns[a.column]), max(1, rows[a.row+a.rows]-rows[a.row])
			a.column, a.row = columns[a.column], rows[a.row]
		}
	}
	g.xs, g.ys = xs, ys
}

// rightToLeft reports whether most letters of a table are of scripts that are written
// from right to left, so that its first column is on the right.
func (g *grid) rightToLeft(table []piece) bool {
	right, all := 0, 0
	for _, p := range table {
		for _, r := range p.line.Text {
			if unicode.IsLetter(r) {
				all++
				if RightToLeft(r) {
					right++
				}
			}
		}
	}
	return 2*right > all
}

// headerRows returns how many of the first rows are bold, in a table that is not bold as
// a whole.
func headerRows(table []piece) int {
	light := map[int]bool{}
	rows, end := 0, 0
	for _, p := range table {
		rows = max(rows, p.area.row+p.area.rows)
		light[p.area.row] = light[p.area.row] || !p.line.Bold
	}
	for end < rows && !light[end] {
		end++
	}
	if end == rows || end > maxHeaderRows {
		return 0
	}
	return end
}

// maxHeaderRows is how many rows a header has at most.
const maxHeaderRows = 4

const (
	// maxAreaText is the largest average of code points in a cell with lines around it.
	maxAreaText = 600
	// minFilled is the least share of cells with text, unless the first row or the first
	// column has text in most cells, as a form that is to be filled in.
	minFilled = .3
)

// isTable reports whether the cells with these texts can be a table: they are in two
// rows and two columns at least, most of them have text, and few are irregular, as
// the fields of a form or the lines of a chart are.
func (g *grid) isTable(table []piece) bool {
	texts := map[*area]int{}
	stated := map[Role]bool{} // the cells that the file states
	for _, p := range table {
		texts[p.area] += utf8.RuneCountInString(p.line.Text)
		if r := p.line.Role; r.Table != 0 {
			stated[r] = true
		}
	}
	rows, columns := map[int]bool{}, map[int]bool{}
	length, irregular, wide := 0, 0, 0
	for a, n := range texts {
		rows[a.row], columns[a.column] = true, true
		length += n
		if a.square != a.rows*a.columns {
			irregular++
		}
		if a.columns > 1 {
			wide++
		}
	}
	switch n := len(texts); {
	case len(rows) < 2 || len(columns) < 2 || n < 3 || n < len(stated):
		return false
	case irregular*10 > n || length > maxAreaText*n:
		return false
	case wide*2 > n:
		return false
	}
	return float64(len(texts)) >= minFilled*float64(g.areas()) || g.filledEdge(texts)
}

// areas returns the number of cells.
func (g *grid) areas() int {
	seen := map[*area]bool{}
	for _, row := range g.cells {
		for _, a := range row {
			seen[a] = true
		}
	}
	return len(seen)
}

// filledEdge reports whether most cells of the first row or of the first column have
// text.
func (g *grid) filledEdge(texts map[*area]int) bool {
	row, column := 0, 0
	for _, a := range g.cells[0] {
		if texts[a] > 0 {
			row++
		}
	}
	for _, cells := range g.cells {
		if texts[cells[0]] > 0 {
			column++
		}
	}
	return row > 1 && row*5 >= 3*len(g.cells[0]) || column > 1 && column*5 >= 4*len(g.cells)
}
