package align

import (
	"strings"
	"unicode"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// word is a word of a text: letters and digits in lower case. Start and end are code
// points in the text. In scripts without spaces each character is a word.
type word struct {
	text       string
	start, end int
}

// wordsOf returns the words of a text from a code point on.
func wordsOf(text string, from int) []word {
	var words []word
	var b strings.Builder
	at, start := 0, 0
	flush := func() {
		if b.Len() > 0 {
			words = append(words, word{b.String(), start, at})
			b.Reset()
		}
	}
	for _, r := range text {
		isPart := at >= from && (unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r))
		if !isPart || knowledge.Unspaced(r) {
			flush()
		}
		if isPart {
			if b.Len() == 0 {
				start = at
			}
			b.WriteRune(unicode.ToLower(r))
		}
		at++
		if isPart && knowledge.Unspaced(r) {
			flush()
		}
	}
	flush()
	return words
}
