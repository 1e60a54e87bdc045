package terminal

import (
	"strings"
	"unicode"
)

// Clean takes control characters out of text, but for line ends and tabs.
func Clean(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r):
			return -1
		}
		return r
	}, text)
}

// line is Clean for what must stay on one line.
func line(text string) string {
	return strings.Join(strings.Fields(Clean(text)), " ")
}
