package charset

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// candidates are the character sets of short texts, those first that win a tie.
var candidates = []string{
	"shift_jis", "euc-jp", "gb18030", "big5", "euc-kr", western, "windows-1250", "iso-8859-2", "windows-1251", "koi8-r", "koi8-u", dos, "windows-1253", "windows-1255", "windows-1254", "windows-1256", "windows-874",
}

const (
	// shortText is the number of bytes beyond ASCII below which statistics of a
	// language say little about a text.
	shortText = 200
	// leastPlausible is the share of the characters beyond ASCII of a text that are
	// where they are expected.
	leastPlausible = 0.62
	// mixed is the share of the plausibility of one language that several have.
	mixed = 0.85
	// decisive is the difference from which one set is more plausible than another.
	decisive = 0.02
)

// plausible returns the character set in which the characters of a text are most
// plausible, and how plausible they are (0..1).
func plausible(sample []byte) (name string, score float64) {
	for _, candidate := range candidates {
		text, err := decodeWith(sample, encodingByName(candidate))
		if err != nil || strings.ContainsRune(strings.TrimSuffix(text, "\ufffd"), utf8.RuneError) {
			continue
		}
		if s := plausibility(candidate, text); s > score+decisive {
			name, score = candidate, s
		}
	}
	return name, score
}

// plausibility returns how plausible a text is that was decoded from a character set.
func plausibility(set, text string) float64 {
	switch set {
	case "shift_jis", "euc-jp":
		return share(text, func(r rune) float64 { return eastAsianWeight(r, japanese, unicode.Hiragana, unicode.Katakana) })
	case "gb18030":
		return share(text, func(r rune) float64 { return eastAsianWeight(r, simplified) })
	case "big5":
		return share(text, func(r rune) float64 { return eastAsianWeight(r, traditional) })
	case "euc-kr":
		return share(text, func(r rune) float64 { return eastAsianWeight(r, korean, unicode.Hangul) })
	case "windows-1251", "koi8-r", "koi8-u":
		return inWordsPlausibility(text, cyrillicWeight)
	case "windows-1253":
		return inWordsPlausibility(text, greekWeight)
	case "windows-1255":
		return inWordsPlausibility(text, hebrewWeight)
	case "windows-1256":
		return inWordsPlausibility(text, arabicWeight)
	case "windows-874":
		return thaiPlausibility(text)
	case "windows-1254":
		if !strings.ContainsAny(text, "ıİşŞğĞ") { // else it is the western set
			return 0
		}
	}
	best := 0.0
	for _, letters := range alphabets[set] {
		best = max(best, latinPlausibility(text, letters))
	}
	if set == western || set == dos { // several languages in one text
		best = max(best, mixed*latinPlausibility(text, westernLetters))
	}
	return best
}

// share returns the mean weight of the characters beyond ASCII.
func share(text string, weight func(rune) float64) float64 {
	sum, count, narrow := 0.0, 0, 0
	before := ' '
	for i, r := range text {
		if r < utf8.RuneSelf {
			narrow = 0
			before = r
			continue
		}
		count++
		if behind := text[i+utf8.RuneLen(r):]; !unicode.IsLower(before) || behind == "" || behind[0] < 'a' || behind[0] > 'z' {
			sum += weight(r) // else it is inside a word of Latin letters
		}
		before = r
		if !isNarrow(r) {
			narrow = 0
		} else if narrow++; narrow == fewNarrow { // a word, as in files of banks
			sum += float64(narrow) * (narrowWord - weight(r))
		} else if narrow > fewNarrow {
			sum += narrowWord - weight(r)
		}
	}
	return sum / float64(max(count, 1))
}

const (
	fewNarrow  = 3
	narrowWord = 0.66
)

// isNarrow reports whether a character is narrow katakana, which has one byte in Shift
// JIS.
func isNarrow(r rune) bool { return r >= 0xff61 && r <= 0xff9f }

// eastAsianWeight returns how usual a character is in a language with these frequent
// characters and letters.
func eastAsianWeight(r rune, frequent string, letters ...*unicode.RangeTable) float64 {
	switch {
	case strings.ContainsRune(frequent, r):
		return 1
	case isNarrow(r):
		return 0.3
	case unicode.Is(unicode.Hangul, r) && slices.Contains(letters, unicode.Hangul):
		return 0.5
	case unicode.In(r, letters...):
		return 0.9
	case unicode.Is(unicode.Han, r):
		return 0.55
	case r >= 0x3000 && r <= 0x3020, r >= 0xff00 && r <= 0xff60, r == 0x30fc, r == 0x30fb:
		return 0.9
	}
	return 0
}

// latinPlausibility returns how plausible a text is in a language with these letters
// beyond ASCII.
func latinPlausibility(text, letters string) float64 {
	sum, count := 0.0, 0
	runes := []rune(text)
	at := func(i int) rune {
		if i < 0 || i >= len(runes) {
			return ' '
		}
		return runes[i]
	}
	run := 0 // characters beyond ASCII without one between them
	for i, r := range runes {
		if r < utf8.RuneSelf {
			run = 0
			continue
		}
		count++
		run++
		before, behind := at(i-1), at(i+1)
		weight := 0.0
		switch {
		case strings.ContainsRune(letters, unicode.ToLower(r)):
			rank := strings.IndexRune(letters, unicode.ToLower(r))
			weight = 1 - 0.2*float64(rank)/float64(len(letters))
			isLone := !unicode.IsLetter(before) && !unicode.IsLetter(behind)
			if unicode.IsUpper(r) && unicode.IsLower(before) || isLone && !strings.ContainsRune("àéíóúá", unicode.ToLower(r)) {
				weight = 0.3
			}
			if r == 'þ' && unicode.IsLetter(before) || r == 'ð' && !unicode.IsLetter(before) { // Icelandic words begin with þ, and none with ð
				weight = 0.3
			}
			if r == 'õ' && !unicode.IsLetter(behind) { // Hungarian words end in ő, and no others in õ
				weight = 0.3
			}
		case strings.ContainsRune(signs, r) && (r == 'µ' || !unicode.IsLetter(r)):
			weight = 0.9
			if unicode.IsLetter(before) && strings.ContainsRune("¼½¾£¥¹±", r) || unicode.IsLetter(behind) && r == '£' {
				weight = 0.2
			}
			if unicode.IsLetter(behind) && strings.ContainsRune("©®±²³»™½¼¾÷", r) || unicode.IsLetter(before) && unicode.IsLetter(behind) && r != '’' && r != '·' && r != '\u00a0' && r != '–' && r != '—' {
				weight = 0.2
			}
		}
		if run > 2 {
			weight /= 2
		}
		sum += weight
	}
	return sum / float64(max(count, 1))
}

// inWordsPlausibility returns the mean weight of the characters beyond ASCII between those before
// and behind them.
func inWordsPlausibility(text string, weight func(before, r, behind rune) float64) float64 {
	sum, count := 0.0, 0
	runes := append([]rune(text), ' ')
	before := ' '
	for i, r := range runes {
		if r >= utf8.RuneSelf {
			count++
			sum += weight(before, r, runes[i+1])
		}
		before = r
	}
	return sum / float64(max(count, 1))
}

// greekWeight returns how usual a character is in Greek: a final sigma ends a word, and nearly
// every word has an accent.
func greekWeight(before, r, behind rune) float64 {
	switch {
	case unicode.Is(unicode.Latin, before), unicode.Is(unicode.Latin, behind), unicode.IsUpper(r) && unicode.IsLower(before):
		return 0
	case r == 'ς':
		if unicode.IsLetter(behind) || !unicode.IsLetter(before) {
			return 0
		}
		return 1
	case strings.ContainsRune("άέήίόύώ", r):
		return 1
	case unicode.Is(unicode.Greek, r) && !unicode.IsLetter(before) && !unicode.IsLetter(behind):
		return 0.3
	case unicode.Is(unicode.Greek, r):
		return 0.75
	case strings.ContainsRune("«»·–—’€°", r):
		return 0.8
	}
	return 0
}

// hebrewWeight returns how usual a character is in Hebrew, five letters of which have another form
// at the end of a word.
func hebrewWeight(before, r, behind rune) float64 {
	ends := !unicode.IsLetter(behind)
	switch {
	case unicode.Is(unicode.Latin, before), unicode.Is(unicode.Latin, behind):
		return 0
	case strings.ContainsRune("ךםןףץ", r):
		if !ends || !unicode.IsLetter(before) {
			return 0
		}
		return 1
	case strings.ContainsRune("כמנפצ", r) && ends:
		return 0.2
	case r >= 'א' && r <= 'ת' && ends && !unicode.IsLetter(before):
		return 0.3
	case r >= 'א' && r <= 'ת':
		return 0.8
	case strings.ContainsRune("₪״׳־–—", r):
		return 0.8
	}
	return 0
}

// cyrillicWeight returns how usual a character is in a language that is written in Cyrillic
// letters, by its letters, their case and its pairs of letters.
func cyrillicWeight(before, r, behind rune) float64 {
	lower := unicode.ToLower(r)
	at := strings.IndexRune(cyrillic, lower)
	switch {
	case at < 0 && strings.ContainsRune("№«»–—…“”„° ", r):
		return 0.8
	case at < 0, unicode.IsUpper(r) && unicode.IsLower(before), unicode.Is(unicode.Latin, before), unicode.Is(unicode.Latin, behind):
		return 0
	case !unicode.IsLetter(before) && !unicode.IsLetter(behind) && !strings.ContainsRune("виксоуая", lower):
		return 0.3
	}
	weight := 0.55 - 0.3*float64(at)/float64(len(cyrillic))
	if unicode.IsUpper(r) && unicode.IsUpper(before) {
		weight -= 0.15
	}
	switch pair := string([]rune{unicode.ToLower(before), lower}); {
	case !unicode.IsLetter(before):
		weight += 0.25
	case strings.Contains(frequentPairs, pair):
		weight += 0.4
	}
	return weight
}
