package layout

import (
	"math"
	"regexp"
	"slices"
)

// amount is a number in a row, with the sign of its currency if one stands before it.
type amount struct {
	row      int
	before   float64 // the end of the word before it
	from, to float64
	end      float64 // of its digits
	signed   bool
}

var (
	// amountText matches a number, or the stroke that stands for none.
	amountText = regexp.MustCompile(`^(?:[(+\-–−]?[$€£¥]?[(+\-–−]?\d[\d.,]*%?\)?%?|[$€£¥]?\(?[—–-]\)?)$`)
	// thousandsText matches the digits behind the space in 1 200.
	thousandsText = regexp.MustCompile(`^\d{3}(?:[.,]\d+)?\)?$`)
)

const (
	// naturalSpace is the largest width of a space between two words, in font sizes.
	naturalSpace = .35
	// minRagged is by how much the spaces before the numbers of a column differ at least,
	// in font sizes. Behind a label such as Level 1 they are equal.
	minRagged = .15
	// maxAmountJump is how many rows without a number may stand among those of a column.
	maxAmountJump = 3
)

// cutAmounts cuts rows before the numbers that end, or whose signs begin, at the same place
// in several rows: the space before the widest of them may be as small as between two
// words. It returns the lines down the page along which it cuts.
func cutAmounts(rows []visualRow) []rule {
	var out []rule
	for start := 0; start < len(rows); {
		end := start + 1
		for end < len(rows) && near(rows, end) {
			end++
		}
		out = append(out, cutRun(rows[start:end])...)
		start = end
	}
	return out
}

// cutRun does so for rows that are near to each other.
func cutRun(rows []visualRow) []rule {
	var all []amount
	for i, r := range rows {
		if r.kind != noTable {
			all = append(all, r.amounts(i)...)
		}
	}
	if len(all) < minOpenRows {
		return nil
	}
	var out []rule
	for _, edge := range []func(a, b amount) bool{endsWith, beginsWith} {
		done := make([]bool, len(all))
		for i, first := range all {
			if done[i] {
				continue
			}
			column := []amount{first}
			for j := i + 1; j < len(all) && all[j].row <= column[len(column)-1].row+maxAmountJump; j++ {
				if !done[j] && all[j].row > column[len(column)-1].row && edge(first, all[j]) {
					column, done[j] = append(column, all[j]), true
				}
			}
			if at, ok := cutBefore(rows, column); ok {
				out = append(out, rule{at: at, from: rows[first.row].y1, to: rows[column[len(column)-1].row].y2})
			}
		}
	}
	return out
}

func endsWith(a, b amount) bool { return math.Abs(a.end-b.end) <= alignedWithin }

func beginsWith(a, b amount) bool {
	return a.signed && b.signed && math.Abs(a.from-b.from) <= alignedWithin
}

// amounts returns the numbers of a row that have a word before them.
func (r visualRow) amounts(row int) []amount {
	var out []amount
	for i := 1; i < len(r.words); i++ {
		w, last := r.words[i], r.words[i-1]
		if !amountText.MatchString(w.text) {
			continue
		}
		a := amount{row: row, before: last.x2, from: w.x1, to: w.x2, end: w.x2, signed: opensAmount(w.text[:1])}
		gap := w.x1 - last.x2
		switch {
		case signOnly(last.text) && i > 1:
			a.before, a.from, a.signed = r.words[i-2].x2, last.x1, true
		case signOnly(last.text), gap < naturalSpace*r.tall && (thousandsText.MatchString(w.text) && isNumeric(last.text) || year.MatchString(w.text) || last.text[len(last.text)-1] == ','):
			continue
		}
		out = append(out, a)
	}
	return out
}

// signOnly reports whether a text is the sign of a currency.
func signOnly(s string) bool { return opensAmount(s) || s == "€" }

// cutBefore cuts the rows of a column of numbers before these, if no word stands in the
// way and the spaces there differ.
func cutBefore(rows []visualRow, column []amount) (at float64, ok bool) {
	if len(column) < minOpenRows || 5*len(column) < 3*(column[len(column)-1].row-column[0].row+1) {
		return 0, false
	}
	left, right := math.Inf(-1), math.Inf(1)
	least, most := math.Inf(1), math.Inf(-1)
	for _, a := range column {
		left, right = math.Max(left, a.before), math.Min(right, a.from)
		least, most = math.Min(least, a.from-a.before), math.Max(most, a.from-a.before)
	}
	tall := rows[column[0].row].tall
	if left > right+.5 || right-left >= wideGap*tall || most-least < minRagged*tall {
		return 0, false
	}
	at = (left + right) / 2
	crossing := 0
	for _, r := range rows[column[0].row : column[len(column)-1].row+1] {
		if slices.ContainsFunc(r.words, func(w placedWord) bool { return w.x1 < at-alignedWithin && w.x2 > at+alignedWithin }) {
			crossing++
		}
	}
	if 5*crossing > len(column) {
		return 0, false
	}
	for _, a := range column {
		r := &rows[a.row]
		r.cuts = append(r.cuts, at)
		r.kind = several
	}
	return at, true
}
