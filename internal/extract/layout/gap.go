package layout

import (
	"math"
	"unicode/utf8"
)

const (
	minGapRows = 3  // rows that have the same gaps
	minGaps    = 2  // between the columns of a table
	minGap     = .4 // width of a gap, in heights of a line; a space is about .25
	minGapWide = 3  // width of a gap, in points
)

// gap is an interval of the horizontal axis in which a line has no word.
type gap struct{ left, right float64 }

// gappedRows returns the rows of a table whose cells may stand so near to each other
// that they are one line: successive rows have the same gaps. count is the number of
// lines in them.
func gappedRows(lines []Line) (rows []row, count int) {
	var common []gap
	var found [][]Line
	length := 0
	for count < len(lines) {
		next := rowAt(lines[count:])
		if next[0].Turned != 0 || len(found) > 0 && !below(found[len(found)-1], next) {
			break
		}
		shared := gapsOf(next)
		if len(found) > 0 {
			shared = sharedGaps(common, shared, height(next[0].Box))
		}
		if len(shared) < minGaps {
			break
		}
		common, found, count = shared, append(found, next), count+len(next)
		for _, l := range next {
			length += utf8.RuneCountInString(l.Text)
		}
		if len(found)%judged == 0 && length > maxCell*len(found)*(len(common)+1) {
			return nil, 0
		}
	}
	if len(found) < minGapRows || length > maxCell*len(found)*(len(common)+1) {
		return nil, 0
	}
	for _, line := range found {
		rows = append(rows, cutAt(line, common))
	}
	return rows, count
}

// below reports whether b is the next row below a.
func below(a, b []Line) bool {
	above, next := a[0].Box, b[0].Box
	gap := next.Y1 - above.Y2
	return a[0].Page == b[0].Page && gap > -.5*height(above) && gap < rowDistance*height(above) &&
		Overlap(above.X1, a[len(a)-1].Box.X2, next.X1, b[len(b)-1].Box.X2) > .5
}

// gapsOf returns the gaps between the words of a row, none if its words are not known.
func gapsOf(row []Line) []gap {
	var gaps []gap
	right := math.Inf(1)
	for _, l := range row {
		if len(l.Words) == 0 || !inOrder(l.Words) {
			return nil
		}
		for _, w := range l.Words {
			gaps = appendWide(gaps, gap{right, w.X1}, height(l.Box))
			right = w.X2
		}
	}
	return gaps
}

// inOrder reports whether words stand on the page from left to right.
func inOrder(words []Word) bool {
	for i := 1; i < len(words); i++ {
		if words[i].X1 < words[i-1].X2-1 {
			return false
		}
	}
	return true
}

func appendWide(gaps []gap, g gap, tall float64) []gap {
	if g.right-g.left >= math.Max(minGapWide, minGap*tall) {
		return append(gaps, g)
	}
	return gaps
}

// sharedGaps returns the parts that two lists of gaps have in common.
func sharedGaps(a, b []gap, tall float64) []gap {
	var shared []gap
	for i, j := 0, 0; i < len(a) && j < len(b); {
		shared = appendWide(shared, gap{math.Max(a[i].left, b[j].left), math.Min(a[i].right, b[j].right)}, tall)
		if a[i].right < b[j].right {
			i++
		} else {
			j++
		}
	}
	return shared
}

// cutAt cuts a row into cells at gaps.
func cutAt(lines []Line, gaps []gap) row {
	var r row
	for _, l := range lines {
		for start := 0; start < len(l.Words); {
			column := columnBehind(l.Words[start], gaps)
			end := start + 1
			for end < len(l.Words) && columnBehind(l.Words[end], gaps) == column {
				end++
			}
			part := l.part(start, end)
			if n := len(r.cells); n > 0 && r.columns[n-1] == column {
				r.cells[n-1] = append(r.cells[n-1], part)
			} else {
				r.cells, r.columns = append(r.cells, cell{part}), append(r.columns, column)
			}
			start = end
		}
	}
	return r
}

// columnBehind returns the number of gaps to the left of a word.
func columnBehind(w Word, gaps []gap) int {
	n := 0
	for n < len(gaps) && gaps[n].right <= w.X1 {
		n++
	}
	return n
}
