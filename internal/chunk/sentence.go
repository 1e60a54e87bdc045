package chunk

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/clipperhouse/uax29/v2/sentences"
)

// abbreviations end in a full stop that does not end a sentence.
var abbreviations = map[string]bool{
	"dr": true, "mr": true, "mrs": true, "ms": true, "prof": true, "st": true, "no": true, "nr": true, "vs": true,
	"e.g": true, "i.e": true, "etc": true, "fig": true, "eq": true, "sec": true, "vol": true, "ch": true, "al": true,
	"inc": true, "ltd": true, "co": true, "jr": true, "sr": true, "approx": true, "ca": true, "cf": true, "p": true,
	"pp": true, "z.b": true, "d.h": true, "u.a": true, "bzw": true, "usw": true, "abs": true, "art": true, "mme": true, "m": true,
}

// sentenceEnds returns the ends of the sentences of a paragraph, in code
// points. White space belongs to the sentence before it.
func sentenceEnds(runes []rune) []int {
	text := segmentable(runes)
	var ends []int
	begin, at := 0, 0 // of the sentence, and of what is segmented
	tokens := sentences.FromString(text)
	for tokens.Next() {
		sentence := tokens.Value()
		at += utf8.RuneCountInString(sentence)
		if at < len(runes) && (endsInAbbreviation(sentence) || !hasSentenceEnd(sentence)) {
			continue
		}
		if end := beforeOpening(runes, begin, at); end > begin {
			ends, begin = append(ends, end), end
		}
	}
	if n := len(runes); n > 0 && (len(ends) == 0 || ends[len(ends)-1] < n) {
		ends = append(ends, n)
	}
	return ends
}

// beforeOpening returns the end of a sentence that begins at begin, without the
// quotation marks and brackets that open the next one: the segmenter takes them for
// closing ones. In scripts with spaces between sentences they come after the space.
func beforeOpening(runes []rune, begin, end int) int {
	if end == len(runes) {
		return end
	}
	for end > begin && unicode.In(runes[end-1], unicode.Ps, unicode.Pi) {
		end--
	}
	return end
}

// maxRun is the longest run of characters other than letters and digits that is
// passed to the segmenter. After a full stop the segmenter scans from each of
// them to the end of the run, which takes quadratic time: minutes for a long
// run.
const maxRun = 32

// sofPasuq ends a Hebrew verse. The standard does not count it among the ends of
// sentences.
const sofPasuq = '\u05c3'

// filler is a character that appears in no segmentation rule.
const filler = '\x00'

// segmentable returns the text for the segmenter, one character for each of
// runes. Line ends become spaces: the standard ends a sentence at each line
// end, but in a paragraph lines are broken anywhere.
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
		case r == sofPasuq:
			r = '!'
		}
		b.WriteRune(r)
	}
	return b.String()
}

// endsInAbbreviation reports whether the last word of sentence is an
// abbreviation.
func endsInAbbreviation(sentence string) bool {
	words, dot := strings.CutSuffix(strings.TrimRightFunc(sentence, unicode.IsSpace), ".")
	if !dot {
		return false
	}
	last := words[strings.LastIndexFunc(words, unicode.IsSpace)+1:]
	last = strings.ToLower(strings.TrimLeftFunc(last, func(r rune) bool { return !unicode.IsLetter(r) }))
	return abbreviations[last] || utf8.RuneCountInString(last) == 1
}

// hasSentenceEnd reports whether sentence ends in white space, or in a script
// that has no spaces between sentences. Otherwise the full stop is inside a
// word (3.14, example.com).
func hasSentenceEnd(sentence string) bool {
	last, _ := utf8.DecodeLastRuneInString(sentence)
	return unicode.IsSpace(last) || last > unicode.MaxLatin1
}
