package knowledge

import (
	"strings"
	"unicode"
)

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

// Unspaced reports whether r belongs to a script that is written without spaces
// between words. Korean has spaces, so Hangul is not among them.
func Unspaced(r rune) bool {
	const first = 0x0e00 // Thai
	return r >= first && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}

// MaxName bounds the name of a document, in code points.
const MaxName = 512

// CleanName returns the name of a file as readers see it: as CleanTitle returns it, and
// without the folders before it. It returns "" if nothing is left that could be a name.
func CleanName(name string) string {
	name = strings.TrimRight(CleanTitle(name), `/\ `)
	if cut := strings.LastIndexAny(name, `/\`); cut >= 0 {
		name = name[cut+1:]
	}
	if name = strings.TrimSpace(name); name == "." || name == ".." {
		return ""
	}
	return name
}

// CleanTitle returns a title as readers see it: without control characters, those that
// turn the direction of text around, and white space around it.
func CleanTitle(title string) string {
	return strings.TrimSpace(strings.Map(func(c rune) rune {
		if unicode.IsControl(c) || unicode.Is(unicode.Bidi_Control, c) || c == '\u2028' || c == '\u2029' {
			return -1
		}
		return c
	}, title))
}
