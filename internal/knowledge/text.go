package knowledge

import "strings"

// Invisible reports whether r only says where a line may or may not be broken:
// the soft hyphen, the space of no width, the word joiner and the byte order
// mark. Nobody types it into a question. The joiners that scripts and emoji need
// (U+200C, U+200D) are not among them.
func Invisible(r rune) bool {
	return r == '\u00ad' || r == '\u200b' || r == '\u2060' || r == '\ufeff'
}

// Visible returns text without its invisible characters.
func Visible(text string) string {
	return strings.Map(func(r rune) rune {
		if Invisible(r) {
			return -1
		}
		return r
	}, text)
}
