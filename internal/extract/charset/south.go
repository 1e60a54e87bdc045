package charset

import (
	"strings"
	"unicode"
)

// The letters of Arabic, the frequent ones first.
const arabic = "اليمنرتوعدبسفهقحكجةأىطصشزخإضغءثذئظؤآ"

// arabicWeight returns how usual a character is in Arabic, two letters of which only end a word.
func arabicWeight(before, r, behind rune) float64 {
	at := strings.IndexRune(arabic, r)
	switch {
	case unicode.Is(unicode.Latin, before), unicode.Is(unicode.Latin, behind):
		return 0
	case strings.ContainsRune("،؛؟–“”", r):
		return 0.8
	case at < 0, strings.ContainsRune("ةى", before) && unicode.IsLetter(before):
		return 0
	case strings.ContainsRune("ةى", r):
		if unicode.IsLetter(behind) || !unicode.IsLetter(before) {
			return 0
		}
		return 1
	case r == 'ل' && before == 'ا', r == 'ا' && behind == 'ل' && !unicode.IsLetter(before): // the article
		return 1
	case !unicode.IsLetter(before) && !unicode.IsLetter(behind):
		return 0.3
	}
	return 0.95 - 0.5*float64(at)/float64(len(arabic))
}

// The signs of Thai by where they stand, and its rare consonants.
const (
	thaiBefore = "เแโใไ"             // vowels before their consonant
	thaiBehind = "ะาำ"               // vowels behind it
	thaiMarks  = "ัิีึืุู็่้๊๋์"     // vowels and tones above and below it
	thaiRare   = "ฃฅฆฌฎฏฐฑฒฬฮฤฦฯๆ฿๏" // and signs
	// fewSigns is the share of vowels and tones that nearly every Thai text has.
	fewSigns = 0.25
)

// thaiPlausibility returns how plausible a text is in Thai: its vowels and tones belong to
// consonants, and there are many of them.
func thaiPlausibility(text string) float64 {
	sum, count, placed := 0.0, 0, 0
	runes := append([]rune(text), ' ')
	before := ' '
	for i, r := range runes {
		behind := runes[min(i+1, len(runes)-1)]
		if r >= 0x80 {
			count++
			weight, isSign := thaiWeight(before, r, behind)
			if sum += weight; isSign && weight > 0 {
				placed++
			}
		}
		before = r
	}
	share := float64(placed) / float64(max(count, 1))
	return sum / float64(max(count, 1)) * min(1, share/fewSigns)
}

// thaiWeight returns how usual a character is in Thai, and whether it is a vowel or a tone.
func thaiWeight(before, r, behind rune) (weight float64, isSign bool) {
	isConsonant := func(r rune) bool { return r >= 'ก' && r <= 'ฮ' }
	carries := isConsonant(before) || strings.ContainsRune(thaiMarks, before)
	switch {
	case unicode.Is(unicode.Latin, before), unicode.Is(unicode.Latin, behind):
		return 0, false
	case strings.ContainsRune(thaiBefore, r):
		isSign, carries = true, isConsonant(behind)
	case strings.ContainsRune(thaiBehind, r), strings.ContainsRune(thaiMarks, r):
		isSign = true
	case strings.ContainsRune(thaiRare, r):
		return 0.3, false
	case isConsonant(r):
		return 0.75, false
	default:
		return 0, false
	}
	if !carries {
		return 0, isSign
	}
	return 1, isSign
}
