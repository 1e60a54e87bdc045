package layout

import (
	"cmp"
	"math"
	"slices"
	"strings"
)

const (
	// wideGap is the least gap between two segments, in font sizes. A space in
	// justified text is smaller as a rule.
	wideGap = .6
	// narrowGap is the least gap before a number in a cell of its own.
	narrowGap = .42
	// rowDistance is the largest gap between rows of a table, in heights of a line.
	rowDistance = 3
	minGapWide  = 3 // width of a gap, in points
)

// visualRow is text at one height of a page whose text is upright.
type visualRow struct {
	y1, y2 float64
	tall   float64 // font size of its lines
	words  []placedWord
	kind   rowKind
	leads  bool      // dots lead from a text to another
	cuts   []float64 // places between words that are in different columns however near they are
}

type rowKind int

const (
	single  rowKind = iota // text without a wide gap
	several                // text with wide gaps
	centred                // a label in the middle of the rows over which it is merged
	noTable                // text that can be in no table, such as a heading that the file states
)

// placedWord is a word on a page whose text is upright.
type placedWord struct {
	x1, x2 float64
	text   string
	bold   bool
	line   int // number of its line, in the order in which the file draws them
}

// visualRows returns the rows of the lines with a direction, from the top of the page
// to its end. It leaves out lines that are in a table.
func visualRows(page []Line, turned int) []visualRow {
	return visualRowsOf(page, turned, func(l Line) bool { return l.Role.Table == 0 })
}

// visualRowsOf returns the rows of the lines with a direction for which a condition holds.
func visualRowsOf(page []Line, turned int, is func(Line) bool) []visualRow {
	var order []int
	for i, l := range page {
		if l.Turned == turned && is(l) {
			order = append(order, i)
		}
	}
	middle := func(i int) float64 { return page[i].upbox.Y1 + page[i].upbox.Y2 }
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(middle(a), middle(b)) })
	var rows []visualRow
	for _, i := range order {
		l := page[i]
		if n := len(rows); n == 0 || Overlap(rows[n-1].y1, rows[n-1].y2, l.upbox.Y1, l.upbox.Y2) <= .5 {
			rows = append(rows, visualRow{y1: l.upbox.Y1, y2: l.upbox.Y2, tall: em(l)})
		}
		r := &rows[len(rows)-1]
		r.y1, r.y2, r.tall = math.Min(r.y1, l.upbox.Y1), math.Max(r.y2, l.upbox.Y2), math.Min(r.tall, em(l))
		r.add(l, i)
		if l.Role.Kind != "" || l.heading.mark > 0 {
			r.kind = noTable
		}
	}
	for i := range rows {
		r := &rows[i]
		slices.SortStableFunc(r.words, func(a, b placedWord) int { return cmp.Compare(a.x1, b.x1) })
		if len(r.words) == 0 {
			continue
		}
		if r.kind != noTable && (r.isCut(wideGap) || r.partsNumber()) {
			r.kind = several
		}
	}
	return slices.DeleteFunc(rows, func(r visualRow) bool { return len(r.words) == 0 })
}

// add adds the words of a line to a row, without the dots of leaders.
func (r *visualRow) add(l Line, number int) {
	words := wordsOf(l, number)
	if leaderDots(l.Text) || strings.Contains(l.Text, ". . . .") {
		words = slices.DeleteFunc(words, func(w placedWord) bool {
			r.leads = r.leads || isLeader(l, w.text) || leaderDots(w.text)
			return isLeader(l, w.text)
		})
	}
	if r.words == nil {
		r.words = words
	} else {
		r.words = append(r.words, words...)
	}
}

// em returns the font size of a line, or its height if that is not known.
func em(l Line) float64 {
	if l.Size > 0 {
		return l.Size
	}
	return height(l.upbox)
}

// wordsOf returns the words of a line, or the line as one word.
func wordsOf(l Line, number int) []placedWord {
	if len(l.Words) == 0 {
		return []placedWord{{l.upbox.X1, l.upbox.X2, l.Text, l.Bold, number}}
	}
	words := make([]placedWord, len(l.Words))
	for i, text := range l.wordTexts() {
		words[i] = placedWord{l.Words[i].X1, l.Words[i].X2, text, l.Bold, number}
	}
	return words
}

// segment is successive words of a visual row without a wide gap.
type segment struct {
	x1, x2 float64
	words  []placedWord
}

// segments returns the words of a row, cut at gaps that are at least so wide, in heights
// of a line.
func (r visualRow) segments(wide float64) []segment {
	out, least := make([]segment, 0, 4), math.Max(minGapWide, wide*r.tall)
	for i, w := range r.words {
		if n := len(out); n > 0 && w.x1-out[n-1].x2 < least && !r.cutBetween(out[n-1].x2, w.x1) {
			s := &out[n-1]
			s.x2, s.words = math.Max(s.x2, w.x2), r.words[i-len(s.words):i+1]
			continue
		}
		out = append(out, segment{w.x1, w.x2, r.words[i : i+1]})
	}
	return out
}

// cutBetween reports whether a row is cut between two of its words.
func (r visualRow) cutBetween(end, begin float64) bool {
	return slices.ContainsFunc(r.cuts, func(at float64) bool { return at >= end-.5 && at <= begin+.5 })
}

// isCut reports whether a row has more than one segment.
func (r visualRow) isCut(wide float64) bool {
	least := math.Max(minGapWide, wide*r.tall)
	end := r.words[0].x2
	for _, w := range r.words[1:] {
		if w.x1-end >= least || r.cutBetween(end, w.x1) {
			return true
		}
		end = math.Max(end, w.x2)
	}
	return false
}

// candidates returns the ranges of rows that can be tables: they begin and end with rows
// of several segments, and the rows between are not far from each other.
func candidates(rows []visualRow) [][2]int {
	var out [][2]int
	for start := 0; start < len(rows); start++ {
		if rows[start].kind != several {
			continue
		}
		end, long := start+1, 0
		for next := end; next < len(rows) && near(rows, next); next++ {
			if rows[next].kind == several {
				end, long = next+1, 0
				continue
			}
			if 2*rows[next].width() > rows[end-1].width() {
				long++
			}
			if rows[next].kind == noTable || long > maxLong || next-end >= maxBetween {
				break
			}
		}
		if end-start > 1 {
			out = append(out, [2]int{start, end})
		}
		start = end - 1
	}
	return out
}

// maxBetween is how many rows of one segment may stand between two of several, as the lines
// of a label do, and maxLong how many of them may be wide.
const (
	maxBetween = 12
	maxLong    = 4
)

// partsNumber reports whether a number is further from the word beside it than a space is
// wide.
func (r visualRow) partsNumber() bool {
	for i := 1; i < len(r.words); i++ {
		a, b := r.words[i-1], r.words[i]
		if b.x1-a.x2 > narrowGap*r.tall && isNumeric(b.text) {
			return true
		}
	}
	return false
}

// width returns the extent of the words of a row.
func (r visualRow) width() float64 {
	right := r.words[0].x2
	for _, w := range r.words {
		right = math.Max(right, w.x2)
	}
	return right - r.words[0].x1
}

// near reports whether a row stands so near to the one above it that both can be rows of
// a table.
func near(rows []visualRow, i int) bool {
	above, r := rows[i-1], rows[i]
	tall := math.Max(above.tall, r.tall)
	return r.y1-above.y2 <= rowDistance*tall && math.Min(above.tall, r.tall) > .7*tall
}
