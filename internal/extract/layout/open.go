package layout

import (
	"math"
	"slices"
)

// openGrids returns the grids of the tables of a page that show in the places of their
// words, and in lines and edges of areas that enclose no cells.
func openGrids(page []Line, across, down []rule, turned int) []*grid {
	f := finder{rows: visualRows(page, turned), across: across, budget: maxLooks}
	f.down = append(slices.Clone(down), cutAmounts(f.rows)...)
	for _, c := range candidates(f.rows) {
		for _, part := range f.apart(c[0], c[1]) {
			f.find(part[0], part[1])
		}
	}
	return f.grids
}

// maxLooks is how many rows of one page are looked at, with those that are looked at again.
const maxLooks = 20_000

// finder finds the grids of tables among the rows of a page.
type finder struct {
	rows         []visualRow
	across, down []rule
	grids        []*grid
	used         int // rows before this one are in tables
	budget       int // rows that may still be looked at: a range may be cut many times
}

// apart cuts a range of rows where the gap is much wider than between most of them.
func (f *finder) apart(first, end int) [][2]int {
	usual := math.Max(0, math.Max(f.usualGap(first, end, false), f.usualGap(first, end, true)))
	var out [][2]int
	start := first
	for i := first + 1; i <= end; i++ {
		if i < end && f.rows[i].y1-f.rows[i-1].y2 <= usual+1.2*f.rows[i].tall && !f.beginsTable(start, i) {
			continue
		}
		out = append(out, [2]int{start, i})
		start = i
	}
	return out
}

// trim returns a range of rows without the rows of one segment at its ends.
func (f *finder) trim(first, end int) (int, int) {
	for first < end && f.rows[first].kind != several {
		first++
	}
	for first < end && f.rows[end-1].kind != several {
		end--
	}
	return first, end
}

// beginsTable reports whether a row is the bold header of another table than the one whose
// rows begin at start: those right above it are not bold, and have numbers.
func (f *finder) beginsTable(start, i int) bool {
	if i < start+2 || f.rows[i].kind != several || !f.rows[i].bold() || f.rows[i].hasNumber() {
		return false
	}
	above := i - 1
	for above > start && f.rows[above].kind != several {
		above--
	}
	return i-above <= 3 && !f.rows[above].bold() && f.rows[above].hasNumber()
}

func (r visualRow) bold() bool {
	return !slices.ContainsFunc(r.words, func(w placedWord) bool { return !w.bold })
}

func (r visualRow) hasNumber() bool {
	return slices.ContainsFunc(r.words, func(w placedWord) bool { return isNumeric(w.text) })
}

// usualGap returns the median gap between rows, or between rows of several segments.
func (f *finder) usualGap(first, end int, wide bool) float64 {
	var gaps []float64
	last := first
	for i := first + 1; i < end; i++ {
		if !wide || f.rows[i].kind == several {
			gaps = append(gaps, f.rows[i].y1-f.rows[last].y2)
			last = i
		}
	}
	if len(gaps) == 0 {
		return 0
	}
	slices.Sort(gaps)
	return gaps[len(gaps)/2]
}

// find adds the grid of a range of rows if they are a table, or the grids of two tables that
// stand side by side.
func (f *finder) find(first, end int) {
	if first, end = f.trim(first, end); end-first < 2 || f.budget <= 0 {
		return
	}
	f.budget -= end - first
	rows := f.rows[first:end]
	markCentred(rows, f.usualGap(first, end, true))
	down := append(inside(f.down, rows), touchingEdges(rows)...)
	columns := joinSigns(columnsIn(rows, down, f.hinted(rows)), rows)
	if len(columns) < 2 {
		return
	}
	at := drawnApart(rows, columns)
	if at == 0 {
		at = f.sideBySide(rows, columns)
	}
	if at > 0 {
		for _, half := range split(rows, (columns[at-1].to+columns[at].from)/2) {
			part := finder{rows: half, across: f.across, down: f.down, budget: f.budget}
			part.find(0, len(half))
			f.grids, f.budget = append(f.grids, part.grids...), part.budget
		}
		return
	}
	if i := proseBetween(rows, columns); i > 0 {
		f.find(first, first+i)
		f.find(first+i+1, end)
		return
	}
	rows = f.withEnds(first, end, columns)
	breaks := f.breaks(rows, columns[0].from, columns[len(columns)-1].to)
	rows, labels := centredLabels(rows, columns)
	cells := cellsOf(rows, columns)
	groups := rowGroups(rows, cells, breaks)
	if convincing(rows, columns, cells, groups, len(breaks) > 1) {
		g := lay(rows, columns, cells, groups, labels)
		f.grids, f.used = append(f.grids, g), end
	}
}

// markCentred marks the labels in the middle of two rows that have none, and that are not
// further from each other than other rows.
func markCentred(rows []visualRow, usual float64) {
	for i := 1; i+1 < len(rows); i++ {
		above, r, below := rows[i-1], &rows[i], rows[i+1]
		end := r.words[len(r.words)-1].x2
		if r.kind == single && above.kind == several && below.kind == several && below.y1-above.y2 <= 1.15*usual+1 &&
			end < above.words[0].x1 && end < below.words[0].x1 {
			r.kind = centred
		}
	}
}

// proseBetween returns the index of a row of one segment whose words stand over the columns
// as the words of prose do, 0 if there is none. It is between two tables.
func proseBetween(rows []visualRow, columns []span) int {
	for i, r := range rows[:len(rows)-1] {
		if i == 0 || r.kind != single {
			continue
		}
		n := wordsOver(r, columns)
		wide := r.words[len(r.words)-1].x2-r.words[0].x1 > .6*(columns[len(columns)-1].to-columns[0].from)
		if n > 1 && 2*n > len(columns)-1 || wide && len(r.words) > 3 && namesOnly(rows[i+1], columns) && !namesOnly(rows[i-1], columns) {
			return i
		}
	}
	return 0
}

// namesOnly reports whether a row has several texts and no number.
func namesOnly(r visualRow, columns []span) bool {
	t := textsIn(r, columns)
	for _, s := range t {
		if isNumeric(s) {
			return false
		}
	}
	return len(t) > 1
}

// wrappedGap is the widest gap between the lines of a cell at the end of a table, in font
// sizes.
const wrappedGap = .2

// withEnds returns a range of rows with the rows of one segment right above and below it
// that are the first or the last lines of cells.
func (f *finder) withEnds(first, end int, columns []span) []visualRow {
	lines := 0 // of one cell only
	for _, r := range f.rows[first:end] {
		if r.kind == single {
			lines++
		}
	}
	belongs := func(i, to int) bool {
		if i < 0 || i >= len(f.rows) || f.rows[i].kind != single && f.rows[i].kind != centred {
			return false
		}
		r, other := f.rows[i], f.rows[to]
		a, b := reach(columns, r.words[0].x1, r.words[len(r.words)-1].x2)
		next := r.words[0].text // of the two lines of the cell
		if i < to {
			next = textsIn(other, columns)[a]
		}
		gap, tightest := math.Max(r.y1-other.y2, other.y1-r.y2), -.1*r.tall
		if gap > tightest && (gap > wrappedGap*r.tall || lines < 2 && !beginsLower(next)) {
			return false
		}
		return a == b && r.words[len(r.words)-1].x2 < columns[a].to+r.tall && r.words[0].x1 > columns[a].from-r.tall
	}
	if f.namesColumns(first-1, columns) {
		first--
		copy(columns, widened(columns, f.rows[first:first+1]))
	}
	for belongs(first-1, first) {
		first--
	}
	for belongs(end, end-1) {
		end++
	}
	return f.rows[first:end]
}

// namingDistance returns how far a header may be above the rows, which is more if it is
// bold.
func (r visualRow) namingDistance() float64 {
	if !r.bold() {
		return rowDistance * r.tall
	}
	return 2 * rowDistance * r.tall
}

// eachInOne reports whether a row has wide gaps, or a word for each of several columns.
func (r visualRow) eachInOne(columns []span) bool {
	return r.kind == several || len(r.words) == len(textsIn(r, columns))
}

// namesColumns reports whether a row that stands further above a table than its rows from
// each other has a text for most of its columns.
func (f *finder) namesColumns(i int, columns []span) bool {
	if i < f.used || f.rows[i].kind == noTable || !f.rows[i].eachInOne(columns) || f.rows[i+1].y1-f.rows[i].y2 > f.rows[i].namingDistance() || isProseOver(f.rows[i:i+1], columns) {
		return false
	}
	return namesOnly(f.rows[i], columns) && 2*len(textsIn(f.rows[i], columns)) > len(columns)
}

// hinted reports whether lines or areas part rows.
func (f *finder) hinted(rows []visualRow) bool {
	left, right := rows[0].words[0].x1, 0.0
	for _, r := range rows {
		left, right = math.Min(left, r.words[0].x1), math.Max(right, r.words[0].x1+r.width())
	}
	return len(f.breaks(rows, left, right)) > 1
}

// breaks returns the places of the lines and edges that part rows.
func (f *finder) breaks(rows []visualRow, left, right float64) []float64 {
	top, bottom := rows[0].y1-rows[0].tall, rows[len(rows)-1].y2+rows[0].tall
	var breaks []float64
	for _, r := range f.across {
		if r.at > top && r.at < bottom && !slices.Contains(breaks, r.at) && drawn(f.across, r.at, left, right) {
			breaks = append(breaks, r.at)
		}
	}
	return breaks
}

// inside returns the lines down the page that are at the height of rows and not at their
// sides.
func inside(down []rule, rows []visualRow) []rule {
	top, bottom := rows[0].y1, rows[len(rows)-1].y2
	return slices.DeleteFunc(slices.Clone(down), func(r rule) bool {
		return math.Min(r.to, bottom)-math.Max(r.from, top) < .2*(bottom-top)
	})
}
