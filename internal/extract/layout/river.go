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
// that lines or areas show that the rows are a table.
func columnsIn(rows []visualRow, down []rule, hinted bool) []span {
	c := newCoverage(rows, down, hinted)
	best := slices.Clone(c.columns(nil, -1))
	if len(best) == 0 {
		return nil
	}
	var crossing []int // rows that do not count
	try := func(without []int, extra int) {
		found := c.columns(without, extra)
		if len(found) <= len(best) {
			return
		}
		out := slices.Clone(without)
		if extra >= 0 {
			out = append(out, extra)
		}
		rest, over := c.divide(out)
		if supported(found, rest, over) && !isProseOver(over, found) {
			best, crossing = slices.Clone(found), out
		}
	}
	for head := 1; head <= min(2, len(rows)-2); head++ {
		try([]int{0, 1}[:head], -1)
	}
	if len(rows) <= maxExcluded {
		for range max(1, len(rows)/6) {
			before, without := len(best), crossing
			if !c.oneRowParts(without) {
				break
			}
			for i, r := range rows {
				if r.kind == several && len(rows)-len(without) > 3 && !slices.Contains(without, i) {
					try(without, i)
				}
			}
			if len(best) == before {
				break
			}
		}
	}
	if len(best) < 2 {
		return best // prose
	}
	_, over := c.divide(crossing)
	return joinNames(widened(best, over), rows, down)
}

// maxExcluded is the number of rows up to which each is tried as one whose text reaches
// over several columns.
const maxExcluded = 60

// coverage is what rows cover of the axis along the lines. Columns are looked for in many
// choices of the same rows, so it is sorted once.
type coverage struct {
	rows   []visualRow
	down   []rule
	hinted bool
	spans  []rowSpan // by their beginning
	words  []int     // of each row
	digits []int     // of each row: its words that are numbers
	skip   []bool    // rows that do not count now
	found  []span
}

// rowSpan is an interval that the words of a row cover.
type rowSpan struct {
	span

	row int
}

func newCoverage(rows []visualRow, down []rule, hinted bool) *coverage {
	c := &coverage{rows: rows, down: down, hinted: hinted, words: make([]int, len(rows)), digits: make([]int, len(rows)), skip: make([]bool, len(rows))}
	for i, r := range rows {
		if r.kind != several && r.kind != centred {
			continue
		}
		c.addSpans(i, r.segments(tightGap))
		c.words[i] = len(r.words)
		for _, w := range r.words {
			switch {
			case isNumeric(w.text):
				c.digits[i]++
			case opensAmount(w.text): // it belongs to a number
				c.words[i]--
			}
		}
	}
	slices.SortFunc(c.spans, func(a, b rowSpan) int {
		if a.from != b.from { // no place is NaN
			return cmp.Compare(a.from, b.from)
		}
		return a.row - b.row
	})
	return c
}

// addSpans adds the extents of the segments of a row, cut at lines between their words.
func (c *coverage) addSpans(row int, segments []segment) {
	for _, s := range segments {
		if len(c.down) == 0 {
			c.spans = append(c.spans, rowSpan{span{s.x1, s.x2}, row})
			continue
		}
		for _, part := range parted(s, c.down) {
			c.spans = append(c.spans, rowSpan{part, row})
		}
	}
}

// divide returns the rows without some, and these.
func (c *coverage) divide(without []int) (rest, over []visualRow) {
	for i, r := range c.rows {
		if !slices.Contains(without, i) {
			rest = append(rest, r)
		}
	}
	for _, i := range without {
		over = append(over, c.rows[i])
	}
	return rest, over
}

// columns returns the columns of the rows without some, and without one more if extra is
// not negative. The result holds until the next call.
func (c *coverage) columns(without []int, extra int) []span {
	clear(c.skip)
	for _, i := range without {
		c.skip[i] = true
	}
	if extra >= 0 {
		c.skip[extra] = true
	}
	gap := c.gap()
	out := c.found[:0]
	for _, s := range c.spans {
		n := len(out)
		switch {
		case c.skip[s.row]:
		case n == 0 || s.from-out[n-1].to >= gap || s.from >= out[n-1].to-.5 && ruleBetween(c.down, out[n-1].to, s.from):
			out = append(out, s.span)
		default:
			out[n-1].to = math.Max(out[n-1].to, s.to)
		}
	}
	c.found = out
	return out
}

// oneRowParts reports whether more columns may show without one more row: somewhere it
// alone covers the space between words of others. No row of prose does.
func (c *coverage) oneRowParts(without []int) bool {
	if len(c.down) > 0 {
		return true
	}
	least := math.Inf(1)
	for i, r := range c.rows {
		if r.kind == several && !slices.Contains(without, i) {
			least = math.Min(least, r.tall)
		}
	}
	gap := math.Max(minGapWide, tightGap*least)
	end, others, row := math.Inf(-1), math.Inf(-1), -1 // how far all words reach so far, and the words of other rows than row
	for _, s := range c.spans {
		switch {
		case slices.Contains(without, s.row):
		case s.row == row:
			end = math.Max(end, s.to)
		case s.from-others >= gap && s.from-end < gap && !math.IsInf(others, -1):
			return true
		case s.to > end:
			end, others, row = s.to, end, s.row
		default:
			others = math.Max(others, s.to)
		}
	}
	return false
}

// gap returns the least width of the space between two columns of the rows that count.
func (c *coverage) gap() float64 {
	count, words, numbers := 0, 0, 0
	tall := math.Inf(1)
	for i, r := range c.rows {
		if r.kind == several && !c.skip[i] {
			count++
			tall = math.Min(tall, r.tall)
			if count > 1 || c.digits[i] > 0 { // the first may be names
				words, numbers = words+c.words[i], numbers+c.digits[i]
			}
		}
	}
	wide := looseGap - (looseGap-tightGap)*math.Min(1, math.Max(0, float64(count-fewRows)/(manyRows-fewRows)))
	if c.hinted || count > 1 && 2*numbers > words {
		wide = tightGap
	}
	return math.Max(minGapWide, wide*tall)
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
// between columns, as the words of prose do.
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
