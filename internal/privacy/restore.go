package privacy

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Restorer writes values in the place of their placeholders while the words of a model
// stream through it. A model may change how it writes a placeholder:
//
//	<EMAIL_ADDRESS_1>  <email_address_1>  < Email Address 1 >  <EMAIL\_ADDRESS\_1>
//	&lt;EMAIL_ADDRESS_1&gt;  %3CEMAIL_ADDRESS_1%3E  \<EMAIL_ADDRESS_1\>  `EMAIL_ADDRESS_1`
//
// Without brackets the underscores must stand. A placeholder that is none of the table stays
// as it is. Text that could become a placeholder is held back; the output does not depend on
// how the input is cut. Not safe for concurrent use.
type Restorer struct {
	values  map[string]string // by name
	names   []string          // sorted
	pending string
	inWord  bool // a letter, a digit or an underscore was the last of what was written
}

// Write adds words and returns those that are certain by now.
func (r *Restorer) Write(text string) string {
	if len(r.names) == 0 {
		return text
	}
	r.pending += text
	return r.advance(false)
}

// Close returns what was held back.
func (r *Restorer) Close() string { return r.advance(true) }

// advance consumes pending as far as it is certain. final means that no more comes.
func (r *Restorer) advance(final bool) string {
	var out strings.Builder
	for r.pending != "" {
		value, n, wait := r.placeholder(r.pending, final)
		switch {
		case wait:
			return out.String()
		case n > 0:
			out.WriteString(value)
			r.inWord = false
		default:
			c, size := utf8.DecodeRuneInString(r.pending)
			n, value = size, r.pending[:size]
			out.WriteString(value)
			r.inWord = unicode.IsLetter(c) || unicode.IsDigit(c) || c == '_'
		}
		r.pending = r.pending[n:]
	}
	return out.String()
}

// placeholder returns the value of the placeholder at the beginning of a text and its length
// there, 0 if there is none. wait means that the text is too short to tell.
func (r *Restorer) placeholder(text string, final bool) (value string, n int, wait bool) {
	open, closers, wait := opened(text, final)
	if wait {
		return "", 0, true
	}
	if open == 0 && r.inWord {
		return "", 0, false
	}
	name, end, wait := r.name(text[open:], open > 0, final)
	if wait || name == "" {
		return "", 0, wait
	}
	end += open
	if open == 0 {
		return r.values[name], end, false
	}
	length, wait := closed(text[end:], closers, final)
	if wait || length == 0 {
		return "", 0, wait // a name without its bracket is found behind the bracket
	}
	return r.values[name], end + length, false
}

// opened returns the length of the bracket with which a text begins, 0 if there is none, and
// how the bracket is closed.
func opened(text string, final bool) (length int, closers []string, wait bool) {
	for _, form := range []struct {
		open    string
		closers []string
	}{{"<", []string{">", `\>`, "/>"}}, {`\<`, []string{`\>`, ">"}}, {"&lt;", []string{"&gt;"}}, {"%3c", []string{"%3e"}}} {
		if hasPrefixFold(text, form.open) {
			return len(form.open), form.closers, false
		}
		if !final && hasPrefixFold(form.open, text) {
			return 0, nil, true
		}
	}
	return 0, nil, false
}

// closed returns the length of what closes a bracket at the beginning of a text, with a space
// before it, 0 if nothing does.
func closed(text string, closers []string, final bool) (length int, wait bool) {
	inner := strings.TrimPrefix(text, " ")
	for _, closer := range closers {
		if hasPrefixFold(inner, closer) {
			return len(text) - len(inner) + len(closer), false
		}
		wait = wait || !final && hasPrefixFold(closer, inner)
	}
	return 0, wait
}

func hasPrefixFold(text, prefix string) bool {
	return len(text) >= len(prefix) && strings.EqualFold(text[:len(prefix)], prefix)
}

// name returns the name of the table with which a text begins, and where it ends there, ""
// if there is none.
func (r *Restorer) name(text string, inBrackets, final bool) (name string, end int, wait bool) {
	at := 0
	if inBrackets {
		at = len(text) - len(strings.TrimPrefix(text, " "))
	}
	for at < len(text) {
		part, size, short := letter(text[at:], inBrackets)
		if short && !final {
			return "", 0, true
		}
		if size == 0 || !r.begins(name+part) {
			break
		}
		name, at = name+part, at+size
	}
	if at == len(text) && !final && r.begins(name) {
		return "", 0, true
	}
	if _, known := r.values[name]; !known {
		return "", 0, false
	}
	if c, _ := utf8.DecodeRuneInString(text[at:]); unicode.IsLetter(c) || unicode.IsDigit(c) || c == '_' {
		return "", 0, false // a longer name, which is none of the table
	}
	return name, at, false
}

// letter returns the first letter of a name as tables have it, and its length in the text, 0
// if no name has it. short means that more of the text decides.
func letter(text string, inBrackets bool) (part string, size int, short bool) {
	switch c := text[0]; {
	case isAlnum(c):
		return strings.ToUpper(text[:1]), 1, false
	case c == '_':
		return "_", 1, false
	case c == '\\' && len(text) == 1:
		return "", 0, true
	case c == '\\' && text[1] == '_':
		return "_", 2, false
	case inBrackets && (c == ' ' || c == '-' || c == '*'):
		return "_", 1, false
	}
	return "", 0, false
}

// begins reports whether a name of the table begins with a prefix.
func (r *Restorer) begins(prefix string) bool {
	i, _ := slices.BinarySearch(r.names, prefix)
	return i < len(r.names) && strings.HasPrefix(r.names[i], prefix)
}
