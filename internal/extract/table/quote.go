package table

import (
	"strings"
	"unicode/utf8"
)

// delimiters are the characters that can separate fields.
const delimiters = ",;\t|"

// doubled returns delimited text in which a quote inside a quoted field is written twice,
// as encoding/csv reads it, where the text has a backslash before it, as databases write
// it. Text that uses backslashes otherwise stays as it is.
func doubled(s string) string {
	if !escapesQuotes(s) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	inside := false
	for i := 0; i < len(s); i++ {
		next := byte('\n')
		if i+1 < len(s) {
			next = s[i+1]
		}
		switch {
		case s[i] == '\\' && inside && next == '"':
			b.WriteString(`""`)
			i++
		case s[i] == '\\' && inside && next == '\\':
			b.WriteByte('\\')
			i++
		case s[i] == '"' && (inside || startsField(s, i, delimiters)):
			inside = !inside
			b.WriteByte('"')
		default:
			b.WriteByte(s[i])
		}
	}
	if inside { // the backslashes mean something else
		return s
	}
	return b.String()
}

// escapesQuotes reports whether a text has backslashes before quotes that cannot end a
// field.
func escapesQuotes(s string) bool {
	for rest := s; ; {
		at := strings.Index(rest, `\"`)
		if at < 0 {
			return false
		}
		if rest = rest[at+2:]; rest != "" && !strings.ContainsRune(delimiters+"\r\n\"", rune(rest[0])) {
			return true
		}
	}
}

// startsField reports whether a field begins at a byte of a text.
func startsField(s string, i int, delimiters string) bool {
	return i == 0 || s[i-1] == '\n' || s[i-1] == '\r' || strings.IndexByte(delimiters, s[i-1]) >= 0
}

// endsField reports whether a field ends before a byte of a text.
func endsField(s string, i int, delimiter string) bool {
	return i >= len(s) || s[i] == '\n' || s[i] == '\r' || strings.HasPrefix(s[i:], delimiter)
}

// apostrophes returns text whose fields are quoted by apostrophes with fields quoted by
// quotation marks. ok is false if the text does not quote in this way throughout.
func apostrophes(s string, comma rune) (out string, ok bool) {
	delimiter := string(comma)
	if !strings.HasPrefix(s, "'") && !strings.Contains(s, delimiter+"'") {
		return "", false
	}
	var b strings.Builder
	b.Grow(len(s))
	inside, fields := false, 0
	for i := 0; i < len(s); i++ {
		switch starts := startsField(s, i, delimiter); {
		case inside && s[i] == '\'' && endsField(s, i+1, delimiter):
			inside = false
			b.WriteByte('"')
		case inside && (s[i] == '\'' || s[i] == '\\') && strings.HasPrefix(s[i+1:], "'"):
			i++
			b.WriteByte('\'')
		case inside && s[i] == '\'', !inside && starts && s[i] == '"': // an apostrophe of a word, or the usual quotes
			return "", false
		case inside && s[i] == '"':
			b.WriteString(`""`)
		case !inside && starts && s[i] == '\'':
			inside = true
			fields++
			b.WriteByte('"')
		default:
			b.WriteByte(s[i])
		}
	}
	return b.String(), !inside && fields > 1
}

// quoted returns delimited text whose fields are quoted by quotation marks, and its
// delimiter. comma is the delimiter if it is known, else 0.
func quoted(s string, comma rune) (string, rune) {
	s = closed(besideDelimiters(doubled(s), comma), comma)
	candidates := []rune(delimiters)
	if comma != 0 {
		candidates = []rune{comma}
	} else {
		comma = delimiter(s)
	}
	best := evenness(s, comma)
	found, by := s, comma
	for _, candidate := range candidates {
		if out, ok := apostrophes(s, candidate); ok {
			if score := evenness(out, candidate); score > 0 && score >= best {
				found, by, best = out, candidate, score
			}
		}
	}
	if out, ok := unescaped(found, by); ok {
		return out, by
	}
	return found, by
}

// unescaped returns text in which a backslash before a delimiter, or before a line end, makes
// it a part of the field, as MySQL exports it, with its fields in quotation marks. ok is false
// if no field has such a backslash, or if rows are as even without the rule: then it ends the
// name of a folder.
func unescaped(s string, comma rune) (out string, ok bool) {
	escape := `\` + string(comma)
	at := strings.Index(s, escape)
	if at < 0 || comma >= utf8.RuneSelf || strings.Contains(s, `"`) { // quoted fields need no escapes
		return "", false
	}
	from := strings.LastIndexByte(s[:at], '\n') + 1 // the lines before are even either way
	rest := unescape(s[from:], comma)
	if evenness(rest, comma) <= evenness(s[from:], comma) {
		return "", false
	}
	return unescape(s[:from], comma) + rest, true
}

// unescape writes each field in quotation marks, without the backslashes before a delimiter, a
// line end or a backslash. \N, which is NULL, becomes an empty field.
func unescape(s string, comma rune) string {
	delimiter := byte(comma) // of ASCII
	var b, field strings.Builder
	end := func() {
		text := field.String()
		if text == `\N` {
			text = ""
		}
		b.WriteByte('"')
		b.WriteString(text)
		b.WriteByte('"')
		field.Reset()
	}
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\\' && i+1 < len(s) && (s[i+1] == delimiter || s[i+1] == '\n' || s[i+1] == '\\'):
			i++
			field.WriteByte(s[i])
		case c == delimiter || c == '\n':
			end()
			b.WriteByte(c)
		case c == '\r' && i+1 < len(s) && s[i+1] == '\n':
		default:
			field.WriteByte(c)
		}
	}
	if s != "" && (field.Len() > 0 || !strings.HasSuffix(s, "\n")) {
		end()
	}
	return b.String()
}
