package terminal

import (
	"fmt"
	"strings"
	"unicode"
)

// Clean takes control characters out of text, but for line ends and tabs.
func Clean(text string) string {
	return strings.Map(func(r rune) rune {
		if drives(r) {
			return -1
		}
		return r
	}, text)
}

// escape writes in JSON what Clean would take out.
func escape(text string) string {
	var out strings.Builder
	for _, r := range text {
		if drives(r) {
			fmt.Fprintf(&out, `\u%04x`, r)
		} else {
			out.WriteRune(r)
		}
	}
	return out.String()
}

// drives reports whether a terminal may act on r instead of showing it.
func drives(r rune) bool {
	return r != '\n' && r != '\t' && unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r)
}

// line is Clean for what must stay on one line.
func line(text string) string {
	return strings.Join(strings.Fields(Clean(text)), " ")
}
