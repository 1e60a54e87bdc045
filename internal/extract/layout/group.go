package layout

import (
	"math"
	"slices"
)

const (
	// groupShift is how far the name of a group may stand beside the middle of its columns,
	// and groupSpread by how much these distances may differ, in widths of a column. Numbers
	// are aligned at one side of their columns, so that all names are shifted alike.
	groupShift  = .4
	groupSpread = .3
)

// joinGroups joins the cells below which the names of groups of columns stand, in the first
// rows of a table. A name in the middle of four columns may be no wider than one of them, so
// that it crosses only the edge in the middle.
func (g *grid) joinGroups(sets sets, rows []visualRow, columns []span, groups [][2]int) {
	for n := 0; n+1 < len(groups) && n < maxHeaderRows-1; n++ {
		if groups[n][1]-groups[n][0] > 1 {
			return
		}
		names := rows[groups[n][0]].segments(wideGap)
		below := rows[groups[n+1][0]]
		if len(names) == 1 { // the subject of the table
			continue
		}
		if len(below.segments(wideGap)) <= len(names) {
			return
		}
		var texts []texts
		for _, group := range groups[n+1 : min(len(groups), maxHeaderRows)] {
			texts = append(texts, textsIn(rows[group[0]], columns))
		}
		ranges := groupsBelow(names, columns, texts)
		if ranges == nil {
			return
		}
		for i, r := range ranges {
			if first, last := crossed(g.xs, names[i]); last > first && (first < r[0] || last > r[1]) {
				return
			}
		}
		for _, r := range ranges {
			for c := r[0]; c < r[1]; c++ {
				sets.join(n*len(columns)+c, n*len(columns)+c+1)
			}
		}
	}
}

// groupsBelow returns the first and the last column of each group that has one of these
// names, if groups of one size are all columns but the first, which holds the labels. The
// texts are the cells of the rows below. If these do not name the columns of each group
// alike, the names must stand in the middle, on the edge between two columns.
func groupsBelow(names []segment, columns []span, below []texts) [][2]int {
	many := len(columns) - 1
	size := many / len(names)
	if size < 2 || many%len(names) > 0 || names[0].x1 < columns[0].to || slices.ContainsFunc(names, isValueAlone) {
		return nil
	}
	alike := slices.ContainsFunc(below, func(t texts) bool { return repeatsEach(t, size, many) })
	if !alike && size%2 > 0 {
		return nil
	}
	ranges := make([][2]int, len(names))
	least, most := math.Inf(1), math.Inf(-1)
	pitch := (columns[many].to - columns[1].from) / float64(many)
	for i, s := range names {
		from, to := 1+i*size, (i+1)*size
		ranges[i] = [2]int{from, to}
		shift := ((s.x1 + s.x2) - (columns[from].from + columns[to].to)) / 2 / pitch
		least, most = math.Min(least, shift), math.Max(most, shift)
	}
	if alike && math.Max(-least, most) > groupShift+float64(size)/2 || !alike && (math.Max(-least, most) > groupShift || most-least > groupSpread) {
		return nil
	}
	return ranges
}

// isValue reports whether a text is a number that is no year.
func isValue(text string) bool { return isNumeric(text) && !year.MatchString(text) }

// isValueAlone reports whether the one word of a segment is a value.
func isValueAlone(s segment) bool { return len(s.words) == 1 && isValue(s.words[0].text) }

// repeatsEach reports whether the texts of a row behind the first are the same ones again
// and again.
func repeatsEach(row texts, size, many int) bool {
	for c := 1; c <= many; c++ {
		if row[c] == "" || isNumeric(row[c]) || row[c] != row[1+(c-1)%size] {
			return false
		}
	}
	return true
}

// stackedNames returns how many of the first rows of a table name its columns together: no
// label stands before them, they have no number but years, and numbers with a label follow.
func stackedNames(table []piece) int {
	rows := map[int]texts{}
	last := 0
	for _, p := range table {
		r := rows[p.area.row]
		if r == nil {
			r = texts{}
			rows[p.area.row] = r
		}
		if r[p.area.column] != "" {
			r[p.area.column] += " "
		}
		r[p.area.column] += p.line.Text
		last = max(last, p.area.row)
	}
	end := 0
	for end <= last && rows[end][0] == "" && len(rows[end]) > 1 && !hasValue(rows[end]) {
		end++
	}
	if end < 2 || end > maxHeaderRows || end > last || rows[end][0] == "" || isNumeric(rows[end][0]) || !hasValue(rows[end]) {
		return 0
	}
	return end
}

// hasValue reports whether a row has a value.
func hasValue(row texts) bool {
	for _, s := range row {
		if isValue(s) {
			return true
		}
	}
	return false
}
