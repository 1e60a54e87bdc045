package table

import "strings"

// besideDelimiters returns delimited text without the spaces between a delimiter and the quote that
// begins a field, as some programs write them, if the rows are more even so.
func besideDelimiters(s string, comma rune) string {
	if !strings.Contains(s, ` "`) {
		return s
	}
	separators := delimiters
	if comma != 0 {
		separators = string(comma)
	}
	var b strings.Builder
	b.Grow(len(s))
	inside := false
	for i := 0; i < len(s); i++ {
		switch {
		case inside && s[i] == '"' && strings.HasPrefix(s[i+1:], `"`):
			b.WriteString(`""`)
			i++
			continue
		case inside && s[i] == '"':
			inside = false
		case !inside && startsField(s, i, separators):
			spaces := len(s[i:]) - len(strings.TrimLeft(s[i:], " "))
			if strings.HasPrefix(s[i+spaces:], `"`) {
				i += spaces
				inside = true
			}
		}
		b.WriteByte(s[i])
	}
	trimmed := b.String()
	before, after := comma, comma
	if comma == 0 {
		before, after = delimiter(s), delimiter(trimmed)
	}
	if inside || evenness(trimmed, after) <= evenness(s, before) {
		return s
	}
	return trimmed
}

// mostStray is the number of quotes without an end that are left out of a text.
const mostStray = 8

// closed returns delimited text without the quotes that begin a field and have no end: they would
// swallow all rows below.
func closed(s string, comma rune) string {
	if comma == 0 {
		comma = delimiter(s)
	}
	for range mostStray {
		at := openQuote(s, string(comma))
		if at < 0 {
			return s
		}
		s = s[:at] + s[at+1:]
	}
	return s
}

// openQuote returns where a quoted field begins that has no end, though lines follow; -1 if there
// is none.
func openQuote(s, delimiter string) int {
	open := -1
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] != '"':
		case open < 0 && startsField(s, i, delimiter):
			open = i
		case open >= 0 && strings.HasPrefix(s[i+1:], `"`):
			i++
		case open >= 0 && endsField(s, i+1, delimiter):
			open = -1
		}
	}
	if open < 0 || !strings.Contains(strings.TrimRight(s[open:], "\r\n"), "\n") {
		return -1
	}
	return open
}
