// Package enrich finds out about a document what its bytes do not say: its
// language.
package enrich

import (
	"unicode"

	"github.com/abadojack/whatlanggo"
)

// Undetermined is the language of a text that is too short or too mixed to tell.
const Undetermined = "und"

// Below minLetters letters a guess is mostly wrong, which where a script is that
// of few languages is less (minForeign) or nothing (minScript) to guess; beyond
// sampleRunes characters it does not get better.
const (
	minLetters  = 40
	minForeign  = 20
	minScript   = 5
	sampleRunes = 1500
)

// languages are those that have a script for themselves. Kana stand for the Han
// characters between them.
var languages = []struct {
	code    string
	scripts []*unicode.RangeTable
}{
	{"jpn", []*unicode.RangeTable{unicode.Hiragana, unicode.Katakana}},
	{"kor", []*unicode.RangeTable{unicode.Hangul}},
	{"ell", []*unicode.RangeTable{unicode.Greek}},
	{"heb", []*unicode.RangeTable{unicode.Hebrew}},
	{"tha", []*unicode.RangeTable{unicode.Thai}},
}

// Language gives the language of a text as ISO 639-3, or Undetermined.
func Language(text string) string {
	sample := make([]rune, 0, sampleRunes)
	letters := 0
	for _, r := range text {
		if len(sample) == sampleRunes {
			break
		}
		if unicode.IsLetter(r) {
			letters++
		}
		sample = append(sample, r)
	}
	if code := byScript(sample, letters); code != "" {
		return code
	}
	least := minLetters
	if 2*count(sample, unicode.Arabic, unicode.Cyrillic) > letters {
		least = minForeign
	}
	if letters < least {
		return Undetermined
	}
	info := whatlanggo.Detect(string(sample))
	if code := info.Lang.Iso6393(); code != "" && info.IsReliable() {
		return code
	}
	return Undetermined
}

// byScript gives the language that has the script of most letters for itself,
// "" if none has.
func byScript(sample []rune, letters int) string {
	if letters < minScript {
		return ""
	}
	for _, l := range languages {
		own := count(sample, l.scripts...)
		if l.code == "jpn" && 10*own > letters { // a Chinese text may quote some
			own += count(sample, unicode.Han)
		}
		if 2*own > letters {
			return l.code
		}
	}
	return ""
}

func count(sample []rune, scripts ...*unicode.RangeTable) int {
	n := 0
	for _, r := range sample {
		if unicode.IsLetter(r) && unicode.In(r, scripts...) {
			n++
		}
	}
	return n
}
