package charset

import (
	"encoding/base64"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

const sevenBit = "utf-7"

// fromUTF7 returns text in UTF-7, which writes characters beyond ASCII in Base64 between + and -.
// ok is false if a plus sign of the text begins no such characters, as in a sum or the number of a
// telephone, or if there are none.
func fromUTF7(data []byte) (text string, ok bool) {
	var b strings.Builder
	rest := string(data)
	for {
		before, after, found := strings.Cut(rest, "+")
		b.WriteString(before)
		if strings.ContainsFunc(before, func(r rune) bool { return r >= utf8.RuneSelf }) {
			return "", false
		}
		if !found {
			return b.String(), ok
		}
		if plain, isPlus := strings.CutPrefix(after, "-"); isPlus {
			b.WriteByte('+')
			rest = plain
			continue
		}
		end := strings.IndexFunc(after, func(r rune) bool { return !isBase64(r) })
		if end < 0 {
			end = len(after)
		}
		letters, isText := shifted(after[:end])
		if !isText {
			return "", false
		}
		b.WriteString(letters)
		rest, ok = strings.TrimPrefix(after[end:], "-"), true
	}
}

func isBase64(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '+' || r == '/'
}

// shifted decodes the characters of a part in Base64. ok is false if they are not such as UTF-7
// writes in this way: letters of a living script and signs of print.
func shifted(part string) (text string, ok bool) {
	raw, err := base64.RawStdEncoding.Strict().DecodeString(part)
	if err != nil || len(raw) < 2 || len(raw)%2 != 0 {
		return "", false
	}
	units := make([]uint16, 0, len(raw)/2)
	for i := 0; i < len(raw); i += 2 {
		units = append(units, uint16(raw[i])<<8|uint16(raw[i+1]))
	}
	text = string(utf16.Decode(units))
	beyond := 0
	for _, r := range text {
		isSign := r < utf8.RuneSelf && unicode.IsGraphic(r) || strings.ContainsRune(signs, r)
		if !isSign && !unicode.In(r, unicode.Latin, unicode.Greek, unicode.Cyrillic, unicode.Hebrew, unicode.Arabic, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Han, unicode.Mn) {
			return "", false
		}
		if r >= utf8.RuneSelf {
			beyond++
		}
	}
	return text, beyond > 0
}
