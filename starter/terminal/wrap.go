package terminal

import (
	"io"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

const tabStop = 8

// wrapper breaks text into lines of at most width columns, between words and, where
// Unicode (UAX 14) allows it, between the characters of Chinese and Japanese. A word that is
// longer than a line, such as an address, is not cut. The text comes in
// pieces; the last word is held until its end is known.
type wrapper struct {
	width  int    // 0 = lines have no end
	column int    // in which the next character stands, 0 = first
	space  string // before the next word, if that is on the same line
	held   string
	cut    bool // the line before was ended inside a text, whose next word has no space before it
}

// add takes the next piece of the text, and returns what can be written now.
func (w *wrapper) add(text string) string {
	if w.width == 0 {
		return text
	}
	w.held += text
	return w.take(false)
}

// flush returns the rest of the text, without the space at its end.
func (w *wrapper) flush() string {
	text := w.take(true)
	w.space = ""
	return text
}

func (w *wrapper) take(final bool) string {
	var out strings.Builder
	for w.held != "" {
		segment := segment(w.held)
		if segment == w.held && !final && !strings.HasSuffix(segment, "\n") {
			break // it may go on
		}
		w.held = w.held[len(segment):]
		word := strings.TrimRight(segment, " \t\n")
		if word != "" {
			out.WriteString(w.place(word))
		}
		space, isEnd := strings.CutSuffix(segment[len(word):], "\n")
		w.space += space
		if isEnd {
			out.WriteString("\n")
			w.column, w.space, w.cut = 0, "", false
		}
	}
	return out.String()
}

// segment returns the beginning of text up to the first place where a line may end.
func segment(text string) string {
	end := 0
	for end < len(text) {
		part, rest, _, _ := uniseg.FirstLineSegmentInString(text[end:], -1)
		end += len(part)
		before, _ := utf8.DecodeLastRuneInString(part)
		after, _ := utf8.DecodeRuneInString(rest)
		if unicode.IsSpace(before) || isWide(before) || isWide(after) {
			break // and not inside an address or after a hyphen
		}
	}
	return text[:end]
}

func isWide(r rune) bool { return uniseg.StringWidth(string(r)) > 1 }

// place returns a word with what stands before it: the space, or the end of a line.
func (w *wrapper) place(word string) string {
	size, before := uniseg.StringWidth(word), w.space
	start := w.column + w.spaceWidth()
	if w.column > 0 && start+size > w.width {
		before, start = "\n", 0
	}
	if w.cut {
		before, start = "", 0
	}
	w.space, w.column, w.cut = "", start+size, false
	if w.column > w.width {
		w.column = (w.column-1)%w.width + 1 // the terminal has broken the word
	}
	return before + word
}

func (w *wrapper) spaceWidth() int {
	column := w.column
	for _, r := range w.space {
		if r == '\t' {
			column += tabStop - column%tabStop
		} else {
			column++
		}
	}
	return column - w.column
}

// Wrapped returns text with its lines broken to fit out. Line ends and indentation stay.
func Wrapped(out io.Writer, text string) string {
	w := wrapper{width: Width(out)}
	return w.add(text) + w.flush()
}

// wrapWidth returns how many columns of out are left after an indentation, 0 = no limit.
func wrapWidth(out io.Writer, indent int) int {
	if width := Width(out); width > 0 {
		return max(1, width-indent)
	}
	return 0
}
