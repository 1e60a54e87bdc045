package evaluate

import (
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// quantity is a number or a date in a text.
type quantity struct {
	text       string    // as it is written, with its unit
	start, end int       // bytes of the text, with the unit if it is known
	number     int       // end of the number or date, without a unit
	values     []float64 // what the number may be: 1.234 is two numbers; none of a date
	dates      []string  // what the date may be: 2026-03-05, 2026-03 or 03-05
	unit       string    // of the dimension if it is known, else the next word
	known      bool      // the unit is known, and values are in its base unit
	raw        []float64 // the values as they are written
}

// quantities returns the numbers and dates of a text in their order. Digits of identifiers
// (HX-4, E02, 1.2.3) are none.
func quantities(text string) []quantity {
	s := scanner{text: text}
	for s.at < len(text) {
		s.next()
	}
	return s.found
}

// scanner reads the quantities of a text.
type scanner struct {
	text  string
	at    int
	found []quantity
	minus bool // the word before is "minus"
}

func (s *scanner) next() {
	r, size := utf8.DecodeRuneInString(s.text[s.at:])
	minus := s.minus
	switch {
	case isDigit(r):
		s.number(minus)
		s.minus = false
	case unicode.IsLetter(r) && !knowledge.Unspaced(r):
		s.word()
	default:
		s.minus = minus && unicode.IsSpace(r)
		s.at += size
	}
}

// word reads a word or an identifier. A number in words is a quantity.
func (s *scanner) word() {
	if q, end, ok := monthFirst(s.text, s.at); ok {
		s.add(q, end)
		return
	}
	start := s.at
	for s.at < len(s.text) {
		r, size := utf8.DecodeRuneInString(s.text[s.at:])
		inside := (unicode.IsLetter(r) || unicode.IsMark(r)) && !knowledge.Unspaced(r) || isDigit(r) ||
			strings.ContainsRune("-‐‑_'’", r) && alnumAt(s.text, s.at+size)
		if !inside {
			break
		}
		s.at += size
	}
	word := strings.ToLower(s.text[start:s.at])
	s.minus = word == "minus"
	value, ok := numberWords[word]
	if single := singular[word]; !ok && single {
		_, _, ok = unitAt(s.text, s.at)
		value = 1
	}
	if ok {
		end := s.at
		s.add(quantity{start: start, values: []float64{value}}, end)
	}
}

// number reads a number or a date that begins with a digit.
func (s *scanner) number(minus bool) {
	start := s.at
	if q, end, ok := dateAt(s.text, start); ok {
		s.add(q, end)
		return
	}
	digits := readDigits(s.text, start)
	s.at = digits.end
	if digits.identifier {
		return
	}
	values := digits.values()
	if minus || negative(s.text[:start]) {
		for i := range values {
			values[i] = -values[i]
		}
	}
	s.add(quantity{start: start, values: values}, digits.end)
}

// add completes a quantity that ends at end, with the scale and the unit behind it.
func (s *scanner) add(q quantity, end int) {
	if len(q.values) > 0 {
		if factor, next, ok := scaleAt(s.text, end); ok {
			for i := range q.values {
				q.values[i] *= factor
			}
			end = next
		}
		q.raw = slices.Clone(q.values)
	}
	s.at, q.number = end, end
	if q.end = end; len(q.values) > 0 {
		q.end = q.readUnit(s.text, afterOrdinal(s.text, end))
		s.at = q.end
	}
	q.text = s.text[q.start:q.end]
	s.found = append(s.found, q)
}

// readUnit reads the unit at a place, or the currency before the number, and returns its end.
func (q *quantity) readUnit(text string, at int) int {
	u, end, ok := unitAt(text, at)
	if !ok {
		u, ok = currencyBefore(text[:q.start])
		end = at
	}
	if !ok {
		q.unit = wordAt(text, at)
		return at
	}
	q.unit, q.known = u.dimension, true
	for i := range q.values {
		q.values[i] *= u.factor
	}
	return end
}

// afterOrdinal returns the place behind the ending of an ordinal number: 3rd.
func afterOrdinal(text string, at int) int {
	for _, ending := range []string{"st", "nd", "rd", "th"} {
		if strings.HasPrefix(text[at:], ending) && !alnumAt(text, at+len(ending)) {
			return at + len(ending)
		}
	}
	return at
}

// same reports whether two quantities may be equal.
func (q quantity) same(other quantity) bool {
	switch {
	case len(q.dates) > 0 && len(other.dates) > 0:
		return sharesDate(q.dates, other.dates)
	case len(q.dates) > 0:
		return hasYear(q.dates, other.raw)
	case len(other.dates) > 0:
		return hasYear(other.dates, q.raw)
	case q.known && other.known:
		return q.unit == other.unit && sharesValue(q.values, other.values)
	}
	return sharesValue(q.raw, other.raw)
}

// comparable reports whether two quantities measure the same kind of thing, so that different
// values of them contradict each other.
func (q quantity) comparable(other quantity) bool {
	if len(q.dates) > 0 || len(other.dates) > 0 {
		return len(q.dates) > 0 && len(other.dates) > 0
	}
	return q.known == other.known && q.unit == other.unit
}

func sharesValue(a, b []float64) bool {
	return slices.ContainsFunc(a, func(x float64) bool {
		return slices.ContainsFunc(b, func(y float64) bool { return math.Abs(x-y) <= 1e-9*max(1, math.Abs(x)) })
	})
}

// isIn reports whether one of a list may be equal to q.
func (q quantity) isIn(list []quantity) bool { return slices.ContainsFunc(list, q.same) }

func isDigit(r rune) bool { return r >= '0' && r <= '9' }

func alnumAt(text string, at int) bool {
	r, _ := utf8.DecodeRuneInString(text[at:])
	return unicode.IsLetter(r) || isDigit(r)
}

// negative reports whether a minus sign ends text that is no hyphen or dash between two words.
func negative(before string) bool {
	for _, sign := range []string{"-", "−"} {
		if rest, ok := strings.CutSuffix(before, sign); ok {
			last, _ := utf8.DecodeLastRuneInString(rest)
			return rest == "" || unicode.IsSpace(last) || strings.ContainsRune("(|:,;=", last)
		}
	}
	return false
}

// wordAt returns the word at a place in lower case, behind at most one space or hyphen.
func wordAt(text string, at int) string {
	rest := text[at:]
	if r, size := utf8.DecodeRuneInString(rest); r == ' ' || r == '-' || r == '\u00a0' || r == '\u202f' {
		rest = rest[size:]
	}
	end := strings.IndexFunc(rest, func(r rune) bool { return !unicode.IsLetter(r) && r != '/' })
	if end < 0 {
		end = len(rest)
	}
	return strings.ToLower(rest[:end])
}
