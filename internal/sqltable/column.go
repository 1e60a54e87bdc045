package sqltable

import (
	"slices"
	"strconv"
	"strings"
)

// numbersShare is the share of the cells of a column with a value that must be numbers, for
// the column to be one of numbers. The others stay text, and the column counts them.
const numbersShare = .9

// exactDigits is how many digits a REAL of SQLite keeps of every decimal number. A sum of such
// numbers is right to the cent as long as their absolute values sum up to less than 10^13:
// SQLite compensates the rounding of sums, so that only that of each number is left, which is
// at most 2^-53 of it.
const exactDigits = 15

// converter turns the texts of a column into the values of the table.
type converter struct {
	Column

	notation notation
	form     dateForm
	exact    map[int]string // by the index of the row: the stored values of numbers that are shown rounded
}

// newConverter finds out the type of a column from its texts. preferred is the notation of
// numbers that may be in either.
func newConverter(c Column, texts []string, preferred notation) converter {
	v := converter{Column: c}
	v.Type = Text
	var filled []string
	errors := 0
	for _, t := range texts {
		switch {
		case isError(t):
			errors++
		case !isMissing(t):
			filled = append(filled, t)
		}
	}
	if !v.isNumeric(filled, preferred) {
		v.form, v.Others, v.Dates = formOf(filled)
	}
	if v.Type != Text || v.Dates {
		v.Errors = errors
	}
	return v
}

// isNumeric reports whether a column is one of numbers, and sets its type then.
func (v *converter) isNumeric(texts []string, preferred notation) bool {
	var amounts []amount
	var units []string
	others := 0
	for _, t := range texts {
		a, ok := readAmount(t)
		if !ok {
			others++
			continue
		}
		if a.isCode() {
			return false
		}
		amounts = append(amounts, a)
		if !slices.Contains(units, a.unit) {
			units = append(units, a.unit)
		}
	}
	enough := len(amounts) > 0 && float64(len(amounts)) >= numbersShare*float64(len(texts))
	unit, same := commonUnit(units)
	n, consistent := notationOf(amounts, preferred)
	if !enough || !same || !consistent || !slices.ContainsFunc(amounts, func(a amount) bool { return !a.isAddress() }) {
		return false
	}
	t, kept := numberType(amounts, n)
	if kept {
		v.notation, v.Unit, v.Type, v.Others = n, unit, t, others
	}
	return kept
}

// numberType returns the type of a column of numbers. kept is false if one of them would lose
// digits, as a long identifier does.
func numberType(amounts []amount, n notation) (t string, kept bool) {
	t, longest := Integer, 0
	for _, a := range amounts {
		digits := strings.TrimPrefix(a.digits(n), "-")
		longest = max(longest, len(strings.Trim(strings.Replace(digits, ".", "", 1), "0")))
		if strings.Contains(digits, ".") {
			t = Decimal
		} else if _, err := strconv.ParseInt(digits, 10, 64); err != nil {
			return Text, false
		}
	}
	return t, t == Integer || longest <= exactDigits
}

// commonUnit returns the unit of all numbers. A currency may stand beside some of them only, as
// in the first and the last row of a balance.
func commonUnit(units []string) (unit string, same bool) {
	units = slices.DeleteFunc(slices.Clone(units), func(u string) bool { return u == "" && !slices.Contains(units, "%") })
	switch len(units) {
	case 0:
		return "", true
	case 1:
		return units[0], true
	}
	return "", false
}

// notationOf returns the notation of all numbers. consistent is false if there is none.
func notationOf(amounts []amount, preferred notation) (n notation, consistent bool) {
	inEnglish := !slices.ContainsFunc(amounts, func(a amount) bool { return !a.isIn(english) })
	inGerman := !slices.ContainsFunc(amounts, func(a amount) bool { return !a.isIn(german) })
	switch {
	case inEnglish && inGerman:
		return preferred, true
	case inGerman:
		return german, true
	}
	return english, inEnglish
}

// preferred returns the notation of a table's numbers: German if a column has numbers that
// are German only, and none has numbers that are English only.
func preferred(columns [][]string) notation {
	found := map[notation]bool{}
	for _, texts := range columns {
		for _, t := range texts {
			if a, ok := readAmount(t); ok && a.isIn(english) != a.isIn(german) && !a.isAddress() {
				if a.isIn(german) {
					found[german] = true
				} else {
					found[english] = true
				}
			}
		}
	}
	if found[german] && !found[english] {
		return german
	}
	return english
}

// value returns a cell as the table has it: nil, an int64, a float64 or a string.
func (v converter) value(row int, text string) any {
	switch {
	case isEmpty(text):
		return nil
	case v.Type == Text && !v.Dates:
		return text
	case isMissing(text):
		return nil
	case v.Dates:
		return v.form.iso(text)
	}
	a, ok := readAmount(text)
	if !ok {
		return text
	}
	digits := a.digits(v.notation)
	if stored, ok := v.exact[row]; ok {
		digits = stored
	}
	if v.Type == Integer {
		if i, err := strconv.ParseInt(digits, 10, 64); err == nil {
			return i
		}
		return text
	}
	f, err := strconv.ParseFloat(digits, 64)
	if err != nil {
		return text
	}
	return f
}

// useExact uses the stored values of numbers that are shown rounded, of rows by column.
func (v *converter) useExact(rows map[int]map[int]string, column int) {
	if v.Type == Text {
		return
	}
	v.exact = map[int]string{}
	for row, values := range rows {
		if value, ok := values[column]; ok {
			v.exact[row] = value
			if strings.Contains(value, ".") {
				v.Type = Decimal
			}
		}
	}
}
