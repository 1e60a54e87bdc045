package privacy

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// document is a text, cut into the tokens that may be part of a value.
type document struct {
	text   string
	tokens []token
	labels labels
}

// token is a run of ASCII letters and digits, [start, end) in bytes. Tokens without a
// digit are kept where they stand beside one that has digits.
type token struct {
	start, end int
	digits     int
}

func (t token) length() int  { return t.end - t.start }
func (t token) number() bool { return t.digits == t.length() }

// shortWord is the longest token without a digit that may be part of a value.
const shortWord = 4

func newDocument(text string, l labels) *document {
	d := &document{text: text, labels: l}
	var words []token // short ones, just read
	for i := 0; i < len(text); {
		if !isAlnum(text[i]) {
			i++
			continue
		}
		t := token{start: i}
		for ; i < len(text) && isAlnum(text[i]); i++ {
			if isDigit(text[i]) {
				t.digits++
			}
		}
		t.end = i
		switch {
		case t.digits > 0:
			d.tokens = append(d.tokens, words...)
			d.tokens, words = append(d.tokens, t), words[:0]
		case t.length() > shortWord:
			words = words[:0]
		default:
			if len(words) == 2 {
				words = append(words[:0], words[1])
			}
			if words = append(words, t); d.follows(t) {
				d.tokens, words = append(d.tokens, t), words[:0]
			}
		}
	}
	return d
}

// follows reports whether a token stands right behind the newest one that is kept.
func (d *document) follows(t token) bool {
	return len(d.tokens) > 0 && t.start-d.tokens[len(d.tokens)-1].end <= 1
}

func isDigit(b byte) bool  { return '0' <= b && b <= '9' }
func isLetter(b byte) bool { return 'a' <= b|0x20 && b|0x20 <= 'z' }
func isAlnum(b byte) bool  { return isDigit(b) || isLetter(b) }

// isConnector reports whether a character joins what stands on both sides of it to one
// word: a part of an identifier, of a path or of a decimal number.
func isConnector(r rune) bool { return strings.ContainsRune("-./_\\,@", r) }

// begins reports whether a word may begin at an offset.
func (d *document) begins(start int) bool {
	last, size := utf8.DecodeLastRuneInString(d.text[:start])
	if size == 0 {
		return true
	}
	if unicode.IsLetter(last) || unicode.IsDigit(last) || last == '_' {
		return false
	}
	if !isConnector(last) {
		return true
	}
	before, _ := utf8.DecodeLastRuneInString(d.text[:start-size])
	return !unicode.IsLetter(before) && !unicode.IsDigit(before) && before != '/'
}

// ends reports whether a word may end at an offset.
func (d *document) ends(end int) bool {
	next, size := utf8.DecodeRuneInString(d.text[end:])
	if size == 0 {
		return true
	}
	if unicode.IsLetter(next) || unicode.IsDigit(next) || next == '_' {
		return false
	}
	if !isConnector(next) {
		return true
	}
	behind, _ := utf8.DecodeRuneInString(d.text[end+size:])
	return !unicode.IsLetter(behind) && !unicode.IsDigit(behind)
}

// between returns what stands between two tokens that follow one another.
func (d *document) between(i int) string { return d.text[d.tokens[i].end:d.tokens[i+1].start] }

// gap is the kind of what separates two tokens of one value.
type gap byte

// The gaps. A line break stands for a space.
const (
	noGap   gap = 0
	spaces  gap = ' '
	dash    gap = '-'
	dot     gap = '.'
	slash   gap = '/'
	plus    gap = '+'
	foreign gap = '?' // no gap within a value
)

// gapOf returns the kind of what separates two tokens.
func gapOf(between string) gap {
	if len(between) > len(" \u2011 ") {
		return foreign
	}
	switch between {
	case " ", "\u00a0", "\u202f", "\u2009", "\n", "\r\n", " \n", "\n ", "  ":
		return spaces
	case "-", "\u2010", "\u2011", "\u2013", " - ", "-\n":
		return dash
	case ".":
		return dot
	case "/":
		return slash
	case "+":
		return plus
	}
	return foreign
}
