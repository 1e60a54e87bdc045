package charset

import (
	"bytes"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/gogs/chardet"
	"golang.org/x/text/encoding/htmlindex"
)

const (
	// sampleBytes is how much text the detection looks at. It begins at the line with the
	// first byte that is not ASCII, at most contextBytes before that byte.
	sampleBytes  = 64 << 10
	contextBytes = 1 << 10

	western = "windows-1252"
	dos     = "ibm850"
	// signs are the characters of Latin sets that texts have outside words.
	signs = "\u00a0€£¥§©®°±²³·«»¿¡–—…‘’‚“”„•™‰½¼¾×÷µàéèóÀÉÈ"
)

// The confidence of the detector (0..100) from which its guess is taken, by what it
// guesses. Damaged UTF-8 is refused, because no other set decodes it well.
const (
	sureOfUTF8      = 20
	sureOfEastAsian = 50
	sureOfLatin     = 30
	sureOfOthers    = 15
)

var (
	eastAsian  = []string{"shift_jis", "euc-jp", "iso-2022-jp", "gb18030", "gbk", "big5", "euc-kr"}
	otherLatin = []string{"windows-1250", "windows-1254", "iso-8859-2"}
)

// Assumed returns the name of the character set that Decode assumes for text that is not
// UTF-8, has no byte order mark and declares none; "" for other text, and for text that
// Decode refuses. Of text in a set whose bytes are also valid UTF-8, such as UTF-16 in
// Cyrillic letters, it returns that set, whatever is declared.
func Assumed(data []byte, declared string) string {
	if encodingByMark(data) != nil {
		return ""
	}
	if name := disguised(data); name != "" || declared != "" || utf8.Valid(data) {
		return name
	}
	return detect(data)
}

// AssumedKey is the key of the metadata that names the assumed character set.
const AssumedKey = "assumed_charset"

// Note adds an assumed character set to the metadata of a file, unless it is "".
func Note(metadata map[string]string, assumed string) map[string]string {
	if assumed == "" {
		return metadata
	}
	if metadata == nil {
		metadata = map[string]string{}
	}
	metadata[AssumedKey] = assumed
	return metadata
}

// detect returns the most likely character set of text that is not UTF-8, "" if it looks
// like damaged UTF-8 or like no text.
func detect(data []byte) string {
	if bytes.IndexByte(data, 0) >= 0 {
		return ""
	}
	first := max(0, bytes.IndexFunc(data, func(r rune) bool { return r >= utf8.RuneSelf }))
	first = max(0, first-contextBytes, bytes.LastIndexByte(data[:first], '\n'))
	sample := data[first:min(len(data), first+sampleBytes)]
	guesses, err := chardet.NewTextDetector().DetectAll(sample)
	if err != nil {
		guesses = nil // the detector has no idea
	}
	if slices.ContainsFunc(guesses, func(g chardet.Result) bool { return g.Charset == "UTF-8" && g.Confidence >= sureOfUTF8 }) {
		return ""
	}
	beyond := 0
	for _, b := range sample {
		if b >= utf8.RuneSelf {
			beyond++
		}
	}
	if beyond < shortText {
		if name, score := plausible(sample); score >= leastPlausible && fits(data, name) {
			return name
		}
	}
	latin := inWords(sample, western) && plausibility(western, decoded(sample, western)) >= leastPlausible
	for _, guess := range guesses {
		name := known(guess.Charset)
		right := false
		switch {
		case name == western:
			right = latin
		case slices.Contains(eastAsian, name):
			right = guess.Confidence >= sureOfEastAsian
		case slices.Contains(otherLatin, name):
			right = guess.Confidence >= sureOfLatin && inWords(sample, name)
		default:
			right = name != "" && guess.Confidence >= sureOfOthers && !latin
		}
		if right && fits(data, name) {
			return name
		}
	}
	if latin {
		return western
	}
	return ""
}

func decoded(sample []byte, name string) string {
	text, err := decodeWith(sample, encodingByName(name))
	if err != nil {
		return ""
	}
	return text
}

// inWords reports whether three quarters of the bytes of a Latin character set that are not
// ASCII stand where such text has them: a letter in a word with other letters, or a sign.
func inWords(sample []byte, name string) bool {
	text, err := decodeWith(sample, encodingByName(name))
	if err != nil {
		return false
	}
	right, all := 0, 0
	for word := range strings.FieldsFuncSeq(text, func(r rune) bool { return r < utf8.RuneSelf && !unicode.IsLetter(r) }) {
		letters := strings.ContainsFunc(word, func(r rune) bool { return r < utf8.RuneSelf })
		for _, r := range word {
			if r < utf8.RuneSelf {
				continue
			}
			all++
			if letters && unicode.IsLetter(r) || strings.ContainsRune(signs, r) {
				right++
			}
		}
	}
	return right*4 >= all*3
}

// known returns the name under which a character set is decoded, "" if it is not decoded
// or is UTF-8. ISO 8859-1 is a part of Windows-1252.
func known(charset string) string {
	name, err := htmlindex.Name(encodingByName(charset))
	if err != nil {
		return ""
	}
	return name
}

// fits reports whether every byte is one of the character set.
func fits(data []byte, name string) bool {
	text, err := decodeWith(data, encodingByName(name))
	return err == nil && !strings.ContainsRune(text, utf8.RuneError)
}
