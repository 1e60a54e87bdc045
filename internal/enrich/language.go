// Package enrich finds out about a document what its bytes do not say: its
// language.
package enrich

import (
	"unicode"

	"github.com/abadojack/whatlanggo"
)

// Undetermined is the language of a text that is too short or too mixed to tell.
const Undetermined = "und"

// Below minLetters letters a guess is mostly wrong; beyond sampleRunes
// characters it does not get better.
const (
	minLetters  = 40
	sampleRunes = 1500
)

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
	if letters < minLetters {
		return Undetermined
	}
	info := whatlanggo.Detect(string(sample))
	if code := info.Lang.Iso6393(); code != "" && info.IsReliable() {
		return code
	}
	return Undetermined
}
