package knowledge

import (
	"unicode"
	"unicode/utf8"
)

// EstimateTokens estimates how many tokens a model makes of text, without its
// vocabulary, which takes long to load: a quarter for a character of ASCII, a
// half for one of another alphabet, one for one of Korean or a script without spaces. The
// estimate is within a fifth of the real number for prose.
func EstimateTokens(text string) int {
	quarters := 0
	for _, r := range text {
		switch {
		case r < utf8.RuneSelf:
			quarters++
		case Unspaced(r), unicode.Is(unicode.Hangul, r):
			quarters += 4
		default:
			quarters += 2
		}
	}
	return (quarters + 3) / 4
}
