package evaluate

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// digits is a run of groups of digits with the signs between them.
type digits struct {
	groups     []string
	signs      []rune
	end        int
	identifier bool // a version or a list, no number
}

// readDigits reads the number that begins at a digit: 1,234.5 and 1.234,5 and 1 234,5 and 1'234.5.
func readDigits(text string, at int) digits {
	d := digits{}
	for {
		end := at
		for end < len(text) && isDigit(rune(text[end])) {
			end++
		}
		d.groups, d.end = append(d.groups, text[at:end]), end
		sign, size := utf8.DecodeRuneInString(text[end:])
		if !strings.ContainsRune(".,'’ \u00a0\u202f\u2009", sign) || size == 0 {
			break
		}
		next := end + size
		if next >= len(text) || !isDigit(rune(text[next])) || !d.continues(sign, text[next:]) {
			break
		}
		d.signs = append(d.signs, sign)
		at = next
	}
	d.identifier = d.isIdentifier()
	return d
}

// continues reports whether the digits behind a sign belong to the number.
func (d digits) continues(sign rune, rest string) bool {
	if sign == '.' || sign == ',' {
		return true
	}
	three := 0
	for three < len(rest) && isDigit(rune(rest[three])) {
		three++
	}
	return three == 3 && len(d.groups[0]) <= 3 && !strings.ContainsAny(string(d.signs), ".,")
}

// isIdentifier reports whether the groups are no number: a version such as 1.2.3, or a list such as
// 1,2,3.
func (d digits) isIdentifier() bool {
	for i, sign := range d.signs {
		last := i == len(d.signs)-1
		if last && (i == 0 || sign != d.signs[i-1]) {
			break // it may be the decimal sign
		}
		if len(d.groups[i+1]) != 3 || sign != d.signs[0] {
			return true
		}
	}
	return len(d.signs) > 0 && len(d.groups[0]) > 3 && len(d.signs) > 1
}

// values returns what the number may be.
func (d digits) values() []float64 {
	if len(d.signs) == 0 {
		return parsed(d.groups[0])
	}
	last := len(d.signs) - 1
	sign := d.signs[last]
	whole, fraction := strings.Join(d.groups[:last+1], ""), d.groups[last+1]
	grouped, decimal := parsed(whole+fraction), parsed(whole+"."+fraction)
	switch {
	case sign != '.' && sign != ',', last > 0 && d.signs[last-1] == sign:
		return grouped
	case last > 0, len(fraction) != 3, len(d.groups[0]) > 3, strings.HasPrefix(whole, "0"):
		return decimal
	}
	return append(grouped, decimal...) // 1,234 is one or the other by the language
}

func parsed(text string) []float64 {
	value, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return nil // more digits than a number has
	}
	return []float64{value}
}

// numberWords are numbers that are written as words, in English and in German.
var numberWords = map[string]float64{
	"zero": 0, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10,
	"eleven": 11, "twelve": 12, "thirteen": 13, "fourteen": 14, "fifteen": 15, "sixteen": 16, "seventeen": 17,
	"eighteen": 18, "nineteen": 19, "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60,
	"seventy": 70, "eighty": 80, "ninety": 90,
	"null": 0, "zwei": 2, "drei": 3, "vier": 4, "fünf": 5, "sechs": 6, "sieben": 7, "acht": 8, "neun": 9, "zehn": 10,
	"elf": 11, "zwölf": 12, "dreizehn": 13, "vierzehn": 14, "fünfzehn": 15, "sechzehn": 16, "siebzehn": 17,
	"achtzehn": 18, "neunzehn": 19, "zwanzig": 20, "dreißig": 30, "vierzig": 40, "fünfzig": 50, "sechzig": 60,
	"siebzig": 70, "achtzig": 80, "neunzig": 90,
}

// singular are the words for one, which are numbers only before a unit.
var singular = map[string]bool{"one": true, "ein": true, "eine": true, "einen": true, "einem": true, "einer": true, "eines": true}

// scales are words that multiply the number before them.
var scales = map[string]float64{
	"thousand": 1e3, "tausend": 1e3, "tsd": 1e3, "million": 1e6, "millions": 1e6, "millionen": 1e6, "mio": 1e6, "millones": 1e6,
	"milioni": 1e6, "milhões": 1e6, "miljoen": 1e6, "billion": 1e9, "billions": 1e9, "milliarde": 1e9, "milliarden": 1e9, "mrd": 1e9,
}

// scaleAt returns the factor of a word such as million at a place, and its end.
func scaleAt(text string, at int) (factor float64, end int, ok bool) {
	word := wordAt(text, at)
	factor, ok = scales[word]
	if !ok {
		return 0, 0, false
	}
	return factor, at + strings.Index(strings.ToLower(text[at:]), word) + len(word), true
}
