package layout

import "math"

// lay returns the grid of rows of a table with these columns. A cell of a header, and one
// that stands alone in its row, covers the columns over which its text reaches.
func lay(rows []visualRow, columns []span, cells []texts, groups [][2]int, labels []visualRow) *grid {
	g := &grid{xs: []float64{columns[0].from - 1}, ys: []float64{rows[0].middle() - rows[0].tall}}
	for i := 1; i < len(columns); i++ {
		g.xs = append(g.xs, (columns[i-1].to+columns[i].from)/2)
	}
	for i := 1; i < len(groups); i++ {
		g.ys = append(g.ys, (rows[groups[i][0]-1].middle()+rows[groups[i][0]].middle())/2)
	}
	end := len(columns)
	lowest := rows[len(rows)-1]
	g.xs, g.ys = append(g.xs, columns[end-1].to+1), append(g.ys, lowest.middle()+lowest.tall)
	for _, r := range rows {
		for _, w := range r.words {
			g.xs[0], g.xs[end] = math.Min(g.xs[0], w.x1-1), math.Max(g.xs[end], w.x2+1)
		}
	}
	sets := newSets(len(columns) * len(groups))
	for n, group := range groups {
		for _, r := range rows[group[0]:group[1]] {
			for _, s := range r.segments(wideGap) {
				first, last := crossed(g.xs, s)
				if last == first {
					first, last = running(g.xs, s)
				}
				for c := first; c < last; c++ {
					sets.join(n*len(columns)+c, n*len(columns)+c+1)
				}
			}
		}
	}
	g.joinGroups(sets, rows, columns, groups)
	for _, label := range labels {
		first, last := g.rowsAround(label, labels, groups, rows)
		for n := first; n < last; n++ {
			sets.join(n*len(columns), (n+1)*len(columns))
		}
	}
	if len(labels) == 0 {
		g.mergedLabels(sets, cells, groups)
	}
	g.fill(sets)
	return g
}

// running returns the columns over which the words of a sentence run: they have spaces of
// one width, also at the edges, and are more than the columns.
func running(xs []float64, s segment) (first, last int) {
	first, last = interval(xs, s.words[0].x1), interval(xs, s.words[len(s.words)-1].x2)
	if first < 0 || last <= first || len(s.words) <= last-first+1 {
		return 0, 0
	}
	widest, edge := 0.0, 0.0
	for i := 1; i < len(s.words); i++ {
		a, b := s.words[i-1], s.words[i]
		if isNumeric(b.text) || touchesLabel(a, b) {
			return 0, 0
		}
		if gap := b.x1 - a.x2; interval(xs, a.x2) != interval(xs, b.x1) {
			edge = math.Max(edge, gap)
		} else {
			widest = math.Max(widest, gap)
		}
	}
	if edge > 1.15*widest {
		return 0, 0
	}
	return first, last
}

// centredLabels returns the rows without those that hold nothing but a label in the middle
// of the rows above and below, over which it is merged, and these labels.
func centredLabels(rows []visualRow, columns []span) (rest, labels []visualRow) {
	for i, r := range rows {
		if r.kind == centred && i > 0 && i+1 < len(rows) && onlyLabel(r, columns) &&
			textsIn(rows[i-1], columns)[0] == "" && textsIn(rows[i+1], columns)[0] == "" {
			labels = append(labels, r)
			continue
		}
		rest = append(rest, r)
	}
	return rest, labels
}

func onlyLabel(r visualRow, columns []span) bool {
	t := textsIn(r, columns)
	return len(t) == 1 && t[0] != ""
}

// rowsAround returns the first and the last row of a table over which a label in its middle
// is merged: as many rows without a label above as below.
func (g *grid) rowsAround(label visualRow, labels []visualRow, groups [][2]int, rows []visualRow) (first, last int) {
	free := func(n int) bool {
		if n < 0 || n >= len(groups) {
			return false
		}
		for _, r := range rows[groups[n][0]:groups[n][1]] {
			if len(r.words) > 0 && r.words[0].x1 < g.xs[1] {
				return false
			}
			for _, other := range labels {
				if math.Abs(other.middle()-r.middle()) < math.Abs(label.middle()-r.middle()) {
					return false
				}
			}
		}
		return true
	}
	last = 0
	for last < len(groups) && rows[groups[last][0]].middle() < label.middle() {
		last++
	}
	first = last - 1
	if !free(first) || !free(last) {
		return first, first
	}
	for free(first-1) && free(last+1) {
		first, last = first-1, last+1
	}
	return first, last
}

// crossed returns the columns whose edges words of a segment cross.
func crossed(xs []float64, s segment) (first, last int) {
	first, last = len(xs), -1
	for _, w := range s.words {
		for i := 1; i < len(xs)-1; i++ {
			if w.x1 < xs[i]-1 && w.x2 > xs[i]+1 {
				first, last = min(first, i-1), max(last, i)
			}
		}
	}
	if last < 0 {
		return 0, 0
	}
	return first, last
}
