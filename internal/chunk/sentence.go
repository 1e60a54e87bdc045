package chunk

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/clipperhouse/uax29/v2/sentences"
)

// abbreviations end in a full stop and not in the end of a sentence.
var abbreviations = map[string]bool{
	"dr": true, "mr": true, "mrs": true, "ms": true, "prof": true, "st": true, "no": true, "nr": true, "vs": true,
	"e.g": true, "i.e": true, "etc": true, "fig": true, "eq": true, "sec": true, "vol": true, "ch": true, "al": true,
	"inc": true, "ltd": true, "co": true, "jr": true, "sr": true, "approx": true, "ca": true, "cf": true, "p": true,
	"pp": true, "z.b": true, "d.h": true, "u.a": true, "bzw": true, "usw": true, "abs": true, "art": true, "mme": true, "m": true,
}

// sentenceEnds gives the ends of the sentences of a paragraph, in code points.
// White space belongs to the sentence before it.
func sentenceEnds(runes []rune) []int {
	text := segmentable(runes)
	var ends []int
	at := 0
	tokens := sentences.FromString(text)
	for tokens.Next() {
		sentence := tokens.Value()
		at += utf8.RuneCountInString(sentence)
		if at < len(runes) && (abbreviated(sentence) || !endsLikeOne(sentence)) {
			continue
		}
		ends = append(ends, at)
	}
	if n := len(runes); n > 0 && (len(ends) == 0 || ends[len(ends)-1] < n) {
		ends = append(ends, n)
	}
	return ends
}

// maxRun is how many characters in a row that are no letters or digits the
// segmenter is shown. Behind a full stop it looks, from each of them, for what
// comes after them all, which by the square of their number takes minutes.
const maxRun = 32

// filler has no part in any rule about sentences.
const filler = '\x00'

// segmentable is the text that is shown to the segmenter, a character for each
// of runes. The standard ends a sentence at each line end; in a paragraph that
// is only where its lines are broken.
func segmentable(runes []rune) string {
	var b strings.Builder
	b.Grow(len(runes))
	run := 0
	for _, r := range runes {
		run++
		switch {
		case unicode.IsLetter(r) || unicode.IsDigit(r):
			run = 0
		case run > maxRun:
			r = filler
		case r == '\n':
			r = ' '
		}
		b.WriteRune(r)
	}
	return b.String()
}

// abbreviated reports whether the last word is an abbreviation.
func abbreviated(sentence string) bool {
	words := strings.Fields(sentence)
	if len(words) == 0 {
		return false
	}
	last, dot := strings.CutSuffix(words[len(words)-1], ".")
	if !dot {
		return false
	}
	last = strings.ToLower(strings.TrimLeftFunc(last, func(r rune) bool { return !unicode.IsLetter(r) }))
	return abbreviations[last] || utf8.RuneCountInString(last) == 1
}

// endsLikeOne keeps what has no white space behind it (3.14, example.com) with
// what follows, but for writing that has none between sentences.
func endsLikeOne(sentence string) bool {
	last, _ := utf8.DecodeLastRuneInString(sentence)
	return unicode.IsSpace(last) || last > unicode.MaxLatin1
}
