package align

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// word is a word of a text: letters and digits in lower case, without raised ones. Start and
// end are code points in the text. In scripts without spaces each character is a word.
type word struct {
	text       string
	start, end int
	isMark     bool // of a note, for which the page may have a raised number of another kind
}

// noteMark is the mark of a note in the text of a document.
var noteMark = regexp.MustCompile(`\[\^\w+\]`)

// markNotes finds the marks of notes among the words of a text.
func markNotes(text string, words []word) {
	if !strings.Contains(text, "[^") {
		return
	}
	marks := map[int]bool{} // by the code points where they begin
	for _, at := range noteMark.FindAllStringIndex(text, -1) {
		marks[utf8.RuneCountInString(text[:at[0]])+len("[^")] = true
	}
	for i := range words {
		words[i].isMark = marks[words[i].start]
	}
}

// isRaised reports whether a letter is written above or below the line: it is the mark of a
// note, or belongs to a formula. Digits above the line are none to Unicode.
func isRaised(r rune) bool {
	return 0x2b0 <= r && r <= 0x2b8 || 0x1d2c <= r && r <= 0x1d6a || 0x2070 <= r && r <= 0x209c
}

// wordsOf returns the words of a text from a code point on.
func wordsOf(text string, from int) []word {
	var words []word
	var b strings.Builder
	at, start := 0, 0
	flush := func() {
		if b.Len() > 0 {
			words = append(words, word{text: b.String(), start: start, end: at})
			b.Reset()
		}
	}
	for _, r := range text {
		isPart := at >= from && (unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r)) && !isRaised(r)
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
