// Package legible tells words of some language from characters that stand side by side by
// chance, as a font without a table of its characters or a scan that lies on its side
// yields them. It knows no words, so it is never sure of a few letters.
package legible

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// lastLatin is the last character of the Latin blocks that most texts use.
const lastLatin = 0x24f

// Words reports whether words are of some language, and not characters that stand
// side by side by chance. Numbers alone are text.
func Words(words []string) bool {
	letters, digits, others := 0, 0, 0
	scripts := map[string]int{}
	for _, word := range words {
		for _, r := range word {
			switch {
			case unicode.IsLetter(r) || unicode.IsMark(r):
				letters++
				scripts[scriptOf(r)]++
			case unicode.IsDigit(r):
				digits++
			default:
				others++
			}
		}
	}
	if others > letters+digits || letters+digits == 0 {
		return false
	}
	foreign, most := 0, 0
	for script, n := range scripts {
		if script != latin {
			foreign, most = foreign+n, max(most, n)
		}
	}
	return most*20 >= foreign*19 && scripts[otherScript] == 0 && shaped(words) && natural(words)
}

const (
	latin       = "Latin"
	otherScript = ""
)

// scriptOf returns the script of a letter, one name for the scripts of Chinese, Japanese
// and Korean, which one text mixes, and otherScript for a rare one.
func scriptOf(r rune) string {
	switch {
	case unicode.IsMark(r), r <= lastLatin, unicode.Is(unicode.Latin, r):
		return latin
	case r >= 0x3400 && r < 0x4e00: // Han that is rare, but common as the number of a drawing
		return otherScript
	case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Bopomofo), r == 'ー', r == '々':
		return "Han"
	}
	for _, name := range []string{"Cyrillic", "Greek", "Arabic", "Hebrew", "Thai", "Devanagari", "Bengali", "Tamil", "Telugu", "Georgian", "Armenian"} {
		if unicode.Is(unicode.Scripts[name], r) {
			return name
		}
	}
	return otherScript
}

// shaped reports whether most words with letters are written as words are: in small
// letters, with a capital first, or in capitals, and without other characters among
// the letters.
func shaped(words []string) bool {
	good, all := 0, 0
	for _, word := range words {
		word = strings.TrimFunc(word, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
		parts := strings.FieldsFunc(word, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsMark(r) })
		if len(parts) == 0 {
			continue
		}
		all++
		strange := strings.ContainsFunc(word, func(r rune) bool {
			return r <= lastLatin && !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("-'./&@_:,·()+%", r)
		})
		if !strange && !slices.ContainsFunc(parts, func(part string) bool { return !cased(part) }) {
			good++
		}
	}
	return good*5 >= all*4
}

// cased reports whether a word is written in small letters after its first, or in capitals.
func cased(word string) bool {
	_, size := utf8.DecodeRuneInString(word)
	rest := word[size:]
	return rest == strings.ToLower(rest) || word == strings.ToUpper(word)
}

// frequency is how often each letter from a to z stands among ten thousand letters of
// the European languages, about.
var frequency = [26]int{
	850, 150, 320, 380, 1300, 150, 200, 250, 750, 30, 150, 400, 280, 700, 650, 250, 20, 680, 650, 700, 350, 150, 130, 20, 120, 80,
}

const (
	vowelsOf = "aeiouyæøœаеёиоуыэюяіїєαειηουω"
	// fewest is how many letters show whether they are of a language by their frequency.
	fewest = 15
	// longWord is more letters than the words of a text have on average.
	longWord = 18
)

// natural reports whether the letters of Latin words are about as frequent as in a text,
// and whether words in Latin, Cyrillic or Greek letters have vowels.
func natural(words []string) bool {
	vowels, lower, letters, latins, count := 0, 0, 0, 0, 0
	common := 0
	for _, word := range words {
		before := letters
		for _, r := range norm.NFD.String(word) {
			if !unicode.In(r, unicode.Latin, unicode.Cyrillic, unicode.Greek) || !unicode.IsLetter(r) {
				continue
			}
			letters++
			if unicode.IsLower(r) {
				lower++
			}
			r = unicode.ToLower(r)
			if strings.ContainsRune(vowelsOf, r) {
				vowels++
			}
			if r >= 'a' && r <= 'z' {
				latins++
				common += frequency[r-'a']
			}
		}
		count += min(1, letters-before)
	}
	switch {
	case letters == 0:
		return true
	case letters < fewest && lower == 0: // a few signs such as EUR, or by chance
		return slices.ContainsFunc(words, isNumber)
	case letters > longWord*count:
		return false
	case letters >= 6 && (vowels*5 < letters || vowels*10 > letters*7):
		return false
	}
	return latins < fewest || common >= usualMean*latins
}

// usualMean is the least mean of frequency in a text: of letters by chance it is about
// 385, of a text 650.
const usualMean = 480

func isNumber(word string) bool {
	return strings.ContainsFunc(word, unicode.IsDigit) && !strings.ContainsFunc(word, unicode.IsLetter)
}
