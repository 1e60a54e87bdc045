// Package enrich derives facts about a document from its text: its languages.
package enrich

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/abadojack/whatlanggo"
)

// Undetermined is the language of a text that is too short or too mixed to
// detect.
const Undetermined = "und"

// A guess from fewer letters than minLetters is mostly wrong. Scripts that few
// languages use need fewer (minForeign), and scripts of a single language need
// hardly any (minScript). Beyond sampleRunes code points a guess does not
// improve.
const (
	minLetters  = 40
	minForeign  = 20
	minScript   = 5
	sampleRunes = 1500
)

// languages are those with a script of their own. In a Japanese text the Han
// characters between the Kana count as Japanese.
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

// Language returns the language of a text as an ISO 639-3 code, or
// Undetermined. It looks at the beginning of the text only.
func Language(text string) string { return detect(beginning(text, sampleRunes), whatlanggo.Options{}) }

// shortWords is from how many words on a question tells English from another language.
const shortWords = 4

// OtherThan reports whether a question is in another language than texts that are in the
// language known. A question that is too short to tell all languages apart is compared with
// English. Names from another language are no proof: "GNU privacy guard" in a question in
// Russian. It reports false if it cannot tell.
func OtherThan(known, question string) bool {
	asked := whatlanggo.Eng.Iso6393()
	if !asksInEnglish(question) {
		asked = Language(question)
	}
	if asked == Undetermined {
		if len(strings.Fields(question)) < shortWords {
			return false
		}
		asked = whatlanggo.Eng.Iso6393()
	}
	return asked != known && rather(asked, known, question)
}

// rather reports whether a text is reliably in one language rather than in another. A text
// with letters of another script than Latin is not in English.
func rather(one, other, text string) bool {
	sample := beginning(text, sampleRunes)
	if one == whatlanggo.Eng.Iso6393() && count(sample, unicode.Latin) < count(sample, unicode.L) {
		return false
	}
	pair := whatlanggo.Options{Whitelist: map[whatlanggo.Lang]bool{whatlanggo.CodeToLang(one): true, whatlanggo.CodeToLang(other): true}}
	info := whatlanggo.DetectWithOptions(string(sample), pair)
	return info.Lang.Iso6393() == one && info.IsReliable()
}

// beginning returns the first code points of a text.
func beginning(text string, most int) []rune {
	sample := make([]rune, 0, min(most, len(text)))
	for _, r := range text {
		if len(sample) == most {
			break
		}
		sample = append(sample, r)
	}
	return sample
}

// detect returns the language of a sample, one of those that options allow.
func detect(sample []rune, options whatlanggo.Options) string {
	letters := 0
	for _, r := range sample {
		if unicode.IsLetter(r) {
			letters++
		}
	}
	if code := byScript(sample, letters); code != "" {
		return code
	}
	least := minLetters
	if 2*count(sample, unicode.Arabic, unicode.Cyrillic, unicode.Han) > letters {
		least = minForeign
	}
	if letters < least {
		return Undetermined
	}
	if english := options.Whitelist == nil || options.Whitelist[whatlanggo.Eng]; english && isEnglish(sample) {
		return whatlanggo.Eng.Iso6393()
	}
	info := whatlanggo.DetectWithOptions(string(sample), options)
	if code := info.Lang.Iso6393(); code != "" && info.IsReliable() {
		return code
	}
	return Undetermined
}

// byScript returns the language to which the script of most letters belongs, ""
// if that script is used by several.
func byScript(sample []rune, letters int) string {
	if letters < minScript {
		return ""
	}
	for _, l := range languages {
		own := count(sample, l.scripts...)
		if l.code == "jpn" && 10*own > letters { // below that share, a Chinese text may quote some Kana
			own += count(sample, unicode.Han)
		}
		if 2*own > letters {
			return l.code
		}
	}
	return ""
}

// count returns the number of letters of scripts that have none in ASCII.
func count(sample []rune, scripts ...*unicode.RangeTable) int {
	n := 0
	for _, r := range sample {
		if r >= utf8.RuneSelf && unicode.IsLetter(r) && unicode.In(r, scripts...) {
			n++
		}
	}
	return n
}
