package layout

import (
	"math"
	"slices"
)

// tableRun is the successive lines of one table.
type tableRun struct {
	lines []Line
	rows  int
}

// joinTables makes one table of each table that continues on the next page: no other text
// is between the two parts, and they have the same columns. It leaves out the header that
// the second part repeats.
func joinTables(lines []Line) []Line {
	if !slices.ContainsFunc(lines, func(l Line) bool { return l.Role.Table > 0 }) {
		return lines
	}
	out := make([]Line, 0, len(lines))
	var last tableRun // the table at the end of out, without lines if there is none
	for start := 0; start < len(lines); {
		end := start + 1
		for end < len(lines) && lines[end].Role.Table == lines[start].Role.Table {
			end++
		}
		next := lines[start:end]
		start = end
		if next[0].Role.Table == 0 {
			out, last = append(out, next...), tableRun{}
			continue
		}
		if len(last.lines) > 0 && next[0].Page == last.lines[len(last.lines)-1].Page+1 && sameColumns(last.lines, next) {
			next = last.continued(next)
			last.lines, last.rows = append(last.lines, next...), max(last.rows, rowCount(next))
		} else {
			last = tableRun{lines: next[:len(next):len(next)], rows: rowCount(next)}
		}
		out = append(out, next...)
	}
	return out
}

// keepTables takes the lines of each table out of the candidates for headers and footers,
// unless all of the table is repeated: the header of a table that continues stands at the
// same place on each page.
func keepTables(lines []Line, candidates map[int]bool) {
	kept := map[int]bool{}
	for i, l := range lines {
		kept[l.Role.Table] = kept[l.Role.Table] || !candidates[i]
	}
	for i, l := range lines {
		if l.Role.Table != 0 && kept[l.Role.Table] {
			candidates[i] = false
		}
	}
}

func rowCount(lines []Line) int {
	n := 0
	for _, l := range lines {
		n = max(n, l.Role.Row+max(1, l.Role.Rows))
	}
	return n
}

// sameColumns reports whether two parts of a table have the same columns at the same
// places, apart from a margin that differs between left and right pages.
func sameColumns(a, b []Line) bool {
	x, y := extentsOf(a), extentsOf(b)
	if len(x) == 0 || len(y) == 0 || columnCount(a) != columnCount(b) || a[0].Turned != b[0].Turned {
		return false
	}
	return alikeExtents(x, y, 0) || alikeExtents(x, y, leftmost(x)-leftmost(y))
}

func columnCount(lines []Line) int {
	n := 0
	for _, l := range lines {
		n = max(n, l.Role.Column+max(1, l.Role.Columns))
	}
	return n
}

// extentsOf returns the extents of the texts in the columns of a table.
func extentsOf(lines []Line) map[int]span {
	found := map[int]span{}
	for _, l := range lines {
		if l.Role.Columns > 1 {
			continue
		}
		s := span{l.upbox.X1, l.upbox.X2}
		if c, ok := found[l.Role.Column]; ok {
			s = span{math.Min(c.from, s.from), math.Max(c.to, s.to)}
		}
		found[l.Role.Column] = s
	}
	return found
}

func leftmost(columns map[int]span) float64 {
	least := math.Inf(1)
	for _, c := range columns {
		least = math.Min(least, c.from)
	}
	return least
}

// alikeExtents reports whether the columns overlap, and no column overlaps another, if
// the words of b are moved.
func alikeExtents(a, b map[int]span, moved float64) bool {
	both, overlap := 0, 0
	for i, c := range b {
		c.from, c.to = c.from+moved, c.to+moved
		for j, other := range a {
			switch shared := Overlap(other.from, other.to, c.from, c.to); {
			case i == j && shared > .2:
				overlap++
			case i != j && shared > .5:
				return false
			}
		}
		if _, ok := a[i]; ok {
			both++
		}
	}
	return overlap >= 2 && overlap*5 >= both*4
}

// continued returns the lines of the next part of a table, as rows behind the rows of the
// run. Rows of a header that are there already are left out.
func (t tableRun) continued(next []Line) []Line {
	repeated := 0
	first, own := rowTexts(t.lines), rowTexts(next)
	for repeated < min(len(first), len(own), maxHeaderRows) && same(first[repeated], own[repeated]) {
		repeated++
	}
	number, shift := t.lines[0].Role.Table, t.rows-repeated
	if repeated < len(own) && t.breaksIn(own[repeated]) {
		shift--
	}
	var out []Line
	for _, l := range next {
		if l.Role.Row < repeated {
			continue
		}
		l.Role.Table, l.Role.Row = number, l.Role.Row+shift
		out = append(out, l)
	}
	return out
}

// rowTexts returns the texts of the rows of a table by column.
func rowTexts(lines []Line) []texts {
	rows := make([]texts, rowCount(lines))
	for _, l := range lines {
		if rows[l.Role.Row] == nil {
			rows[l.Role.Row] = texts{}
		}
		rows[l.Role.Row][l.Role.Column] += l.Text + " "
	}
	return rows
}

// same reports whether two rows of several cells have the same texts.
func same(a, b texts) bool {
	for c, s := range a {
		if b[c] != s {
			return false
		}
	}
	return len(a) == len(b) && len(a) > 0
}

// breaksIn reports whether the first row of the next part of a table is the rest of the
// last row before it, whose cells the page cut: it has text in fewer cells, and each goes
// on in small letters.
func (t tableRun) breaksIn(row texts) bool {
	last := texts{}
	for _, l := range t.lines {
		if l.Role.Row == t.rows-1 {
			last[l.Role.Column] += l.Text
		}
	}
	if len(row) == 0 || len(row) >= len(last) && len(last) > 1 {
		return false
	}
	for c, s := range row {
		if last[c] == "" || !beginsLower(s) || isNumeric(last[c]) {
			return false
		}
	}
	return true
}
