package layout

import (
	"cmp"
	"math"
	"slices"
)

// span is an interval of the axis along the lines.
type span struct{ from, to float64 }

const (
	// tightGap is the least width of the space between two columns, in font sizes, where
	// many rows leave it free; looseGap where few do. A space is .25 to .32.
	tightGap = .37
	looseGap = .6
	manyRows = 6
	fewRows  = 2
)

// columnsIn returns the extents of the columns of rows: the intervals that words cover,
// between the spaces that all rows leave free. Down are lines and edges of areas that run
// down the page: they part columns however near these are. Text may reach over the spaces
// in some of the first rows, which name groups of columns, and in few others. hinted means
// that lines or areas show that the rows are those of a table.
func columnsIn(rows []visualRow, down []rule, hinted bool) []span {
	best := columnsBelow(rows, down, hinted)
	if len(best) == 0 {
		return nil
	}
	kept, crossing := rows, []visualRow(nil)
	try := func(rest, without []visualRow) {
		if found := columnsBelow(rest, down, hinted); len(found) > len(best) && supported(found, rest, without) && !isProseOver(without, found) {
			best, kept, crossing = found, rest, without
		}
	}
	for head := 1; head <= min(2, len(rows)-2); head++ {
		try(rows[head:], rows[:head])
	}
	if len(rows) > maxExcluded {
		return joinNames(widened(best, crossing), rows)
	}
	for range max(1, len(rows)/6) {
		before := len(best)
		from, out := kept, crossing
		for i := range from {
			if from[i].kind == several && len(from) > 3 {
				try(slices.Concat(from[:i], from[i+1:]), append(slices.Clone(out), from[i]))
			}
		}
		if len(best) == before {
			break
		}
	}
	return joinNames(widened(best, crossing), rows)
}

// maxExcluded is the number of rows up to which each is tried as one whose text reaches
// over several columns.
const maxExcluded = 60

// columnsBelow returns the columns of rows that all count.
func columnsBelow(rows []visualRow, down []rule, hinted bool) []span {
	var covered []span
	count, words, numbers := 0, 0, 0
	tall := math.Inf(1)
	for _, r := range rows {
		if r.kind == several {
			count++
			tall = math.Min(tall, r.tall)
			for _, w := range r.words {
				if words++; isNumeric(w.text) {
					numbers++
				}
			}
		}
	}
	wide := looseGap - (looseGap-tightGap)*math.Min(1, math.Max(0, float64(count-fewRows)/(manyRows-fewRows)))
	if hinted || count > 1 && 2*numbers > words {
		wide = tightGap
	}
	for _, r := range rows {
		if r.kind != several && r.kind != centred {
			continue
		}
		for _, s := range r.segments(tightGap) {
			covered = append(covered, parted(s, down)...)
		}
	}
	return joinSpans(covered, math.Max(minGapWide, wide*tall), down)
}

// parted returns the extent of a segment, cut at lines between its words.
func parted(s segment, down []rule) []span {
	var out []span
	for _, w := range s.words {
		if n := len(out); n > 0 && !ruleBetween(down, out[n-1].to, w.x1) {
			out[n-1].to = math.Max(out[n-1].to, w.x2)
		} else {
			out = append(out, span{w.x1, w.x2})
		}
	}
	return out
}

func ruleBetween(down []rule, from, to float64) bool {
	return slices.ContainsFunc(down, func(r rule) bool { return r.at >= from-.5 && r.at <= to+.5 })
}

// joinSpans joins intervals that are less than a gap apart, unless a line is between
// them.
func joinSpans(spans []span, gap float64, down []rule) []span {
	slices.SortFunc(spans, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	var out []span
	for _, s := range spans {
		n := len(out)
		if n == 0 || s.from-out[n-1].to >= gap || s.from >= out[n-1].to-.5 && ruleBetween(down, out[n-1].to, s.from) {
			out = append(out, s)
			continue
		}
		out[n-1].to = math.Max(out[n-1].to, s.to)
	}
	return out
}

// supported reports whether each column has text in several rows, of which one may be among
// those whose text reaches over columns.
func supported(columns []span, rows, crossing []visualRow) bool {
	for i, c := range columns {
		n := 0
		for _, r := range crossing {
			if slices.ContainsFunc(r.words, func(w placedWord) bool { return nearest(columns, w) == i }) {
				n++
				break
			}
		}
		for _, r := range rows {
			if slices.ContainsFunc(r.words, func(w placedWord) bool { return w.x1 < c.to && w.x2 > c.from }) {
				n++
			}
		}
		if n < 2 {
			return false
		}
	}
	return true
}

// isProseOver reports whether words of a row stand over more than half of the spaces
// between columns, as those of prose do.
func isProseOver(rows []visualRow, columns []span) bool {
	return slices.ContainsFunc(rows, func(r visualRow) bool {
		return len(columns) > 2 && 2*len(r.words) > 3*len(columns) && 2*wordsOver(r, columns) > len(columns)-1
	})
}

// wordsOver returns over how many of the spaces between columns a row has a word.
func wordsOver(r visualRow, columns []span) int {
	n := 0
	for i := 1; i < len(columns); i++ {
		x := (columns[i-1].to + columns[i].from) / 2
		if slices.ContainsFunc(r.words, func(w placedWord) bool { return w.x1 < x && w.x2 > x }) {
			n++
		}
	}
	return n
}

// widened returns columns that also contain the words of rows that are names of one column:
// a name in the middle may be wider than the numbers below it, and reach over the space.
func widened(columns []span, rows []visualRow) []span {
	out := slices.Clone(columns)
	for _, r := range rows {
		for _, w := range r.words {
			c := nearest(columns, w)
			if c < 0 {
				continue
			}
			out[c].from, out[c].to = math.Min(out[c].from, w.x1), math.Max(out[c].to, w.x2)
		}
	}
	for i := 1; i < len(out); i++ {
		if a, b := &out[i-1], &out[i]; a.to > b.from {
			middle := (math.Max(columns[i-1].to, math.Min(a.to, b.from)) + math.Min(columns[i].from, math.Max(a.to, b.from))) / 2
			a.to, b.from = middle, middle
		}
	}
	return out
}

// nearest returns the column that a word overlaps, -1 if it overlaps two of them by much.
func nearest(columns []span, w placedWord) int {
	best, second := -1, 0.0
	most := 0.0
	for i, c := range columns {
		switch shared := math.Min(c.to, w.x2) - math.Max(c.from, w.x1); {
		case shared <= 0:
		case shared > most:
			best, second, most = i, most, shared
		case shared > second:
			second = shared
		}
	}
	if second > .25*(w.x2-w.x1) || 3*second > most {
		return -1
	}
	return best
}

// reach returns the first and the last column that an interval overlaps. If it overlaps
// none, both are the nearest.
func reach(columns []span, from, to float64) (first, last int) {
	first, last = -1, -1
	nearest := 0
	for i, c := range columns {
		if from < c.to && to > c.from {
			if first < 0 {
				first = i
			}
			last = i
		}
		if away(c, from, to) < away(columns[nearest], from, to) {
			nearest = i
		}
	}
	if first < 0 {
		return nearest, nearest
	}
	return first, last
}

func away(c span, from, to float64) float64 { return math.Max(c.from-to, from-c.to) }
