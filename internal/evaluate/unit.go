package evaluate

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// unit is a unit of which the dimension is known: a number times factor is in its base unit.
type unit struct {
	dimension string
	factor    float64
}

// units are units in English and in German, by their words and signs in lower case. Months and days
// are two dimensions, because a month has no fixed number of days.
var units = func() map[string]unit {
	table := map[string]unit{}
	for _, row := range []struct {
		dimension string
		factor    float64
		names     string
	}{
		{"second", 1, "s second seconds sek sekunde sekunden"},
		{"second", 60, "min minute minutes minuten"},
		{"second", 3600, "h hour hours stunde stunden"},
		{"second", 86400, "day days tag tage tagen tages"},
		{"second", 604800, "week weeks woche wochen"},
		{"month", 1, "month months monat monate monaten monats"},
		{"month", 12, "year years jahr jahre jahren jahres"},
		{"metre", .001, "mm millimetre millimetres millimeter millimeters millimetern"},
		{"metre", .01, "cm centimetre centimetres centimeter centimeters zentimeter zentimetern"},
		{"metre", 1, "m metre metres meter meters metern"},
		{"metre", 1000, "km kilometre kilometres kilometer kilometers kilometern"},
		{"gram", 1, "g gram grams gramm"},
		{"gram", 1000, "kg kilogram kilograms kilogramm kilo"},
		{"percent", 1, "% percent prozent"},
		{"euro", 1, "€ eur euro euros"},
		{"dollar", 1, "$ usd dollar dollars"},
	} {
		for name := range strings.FieldsSeq(row.names) {
			table[name] = unit{row.dimension, row.factor}
		}
	}
	return table
}()

// unitAt returns the unit at a place, behind at most one space or hyphen, and its end. A unit of
// which another is a part, such as mm/s or metres per second, is none of the known ones.
func unitAt(text string, at int) (u unit, end int, ok bool) {
	start := at
	if r, size := utf8.DecodeRuneInString(text[at:]); r == ' ' || r == '-' || r == '\u00a0' || r == '\u202f' {
		start += size
	}
	end = start
	for end < len(text) {
		r, size := utf8.DecodeRuneInString(text[end:])
		if end == start && strings.ContainsRune("%€$", r) {
			end += size
			break
		}
		if !unicode.IsLetter(r) {
			break
		}
		end += size
	}
	u, ok = units[strings.ToLower(text[start:end])]
	rest := text[end:]
	if !ok || strings.HasPrefix(rest, "/") || strings.HasPrefix(rest, " per ") || strings.HasPrefix(rest, " pro ") {
		return unit{}, at, false
	}
	return u, end, true
}

// currencyBefore returns the currency before a number: €5, EUR 5.
func currencyBefore(before string) (unit, bool) {
	before = strings.ToLower(strings.TrimRight(before, " \u00a0\u202f"))
	for _, name := range []string{"€", "$", "eur", "usd"} {
		if rest, ok := strings.CutSuffix(before, name); ok {
			last, _ := utf8.DecodeLastRuneInString(rest)
			return units[name], rest == "" || !unicode.IsLetter(last)
		}
	}
	return unit{}, false
}
