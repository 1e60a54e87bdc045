package words

import (
	"strings"
	"unicode"
)

// marksApart puts a space before raised digits behind a number or a word, because an
// exponent is not part of its number, and the mark of a note not of its word: 10⁶ is 10 6
// as 10^6 is, and note¹ is note 1. Units such as m² stay whole.
func marksApart(text string) string {
	if !strings.ContainsFunc(text, isRaisedDigit) {
		return text
	}
	var b strings.Builder
	letters, before := 0, ' '
	for _, r := range text {
		if (isRaisedDigit(r) || r == '⁻') && (letters >= leastMarked || unicode.IsDigit(before)) {
			b.WriteByte(' ')
		}
		b.WriteRune(r)
		if before = r; unicode.IsLetter(r) {
			letters++
		} else {
			letters = 0
		}
	}
	return b.String()
}

// leastMarked is how many letters a word has that may bear the mark of a note.
const leastMarked = 4

func isRaisedDigit(r rune) bool {
	return r == '¹' || r == '²' || r == '³' || r == '⁰' || r >= '⁴' && r <= '⁹'
}
