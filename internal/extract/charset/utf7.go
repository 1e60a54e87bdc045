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
		letters, certain, isText := shifted(after[:end])
		if !isText {
			return "", false
		}
		b.WriteString(letters)
		rest, ok = strings.TrimPrefix(after[end:], "-"), ok || certain
	}
}

func isBase64(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '+' || r == '/'
}

// shifted decodes the characters of a part in Base64. ok is false if they are not such as UTF-7
// writes in this way, letters and signs of print, or if the part is written as words are. Three
// capitals may be a name: the dash is IBM, so another part has to be certain. Chinese and Korean are
// not read, because names such as OneDrive and numbers of telephones may look like them.
func shifted(part string) (text string, certain, ok bool) {
	raw, err := base64.RawStdEncoding.Strict().DecodeString(part)
	isWord := strings.ToLower(part[min(1, len(part)):]) == part[min(1, len(part)):]
	if err != nil || len(raw) < 2 || len(raw)%2 != 0 || isWord {
		return "", false, false
	}
	units := make([]uint16, 0, len(raw)/2)
	for i := 0; i < len(raw); i += 2 {
		units = append(units, uint16(raw[i])<<8|uint16(raw[i+1]))
	}
	text = string(utf16.Decode(units))
	beyond := false
	for _, r := range text {
		isSign := r < utf8.RuneSelf && unicode.IsGraphic(r) || strings.ContainsRune(signs, r)
		if !isSign && !unicode.In(r, unicode.Latin, unicode.Greek, unicode.Cyrillic, unicode.Hebrew, unicode.Arabic, unicode.Hiragana, unicode.Katakana) {
			return "", false, false
		}
		beyond = beyond || r >= utf8.RuneSelf
	}
	isName := len(part) == 3 && strings.ToUpper(part) == part && units[0] > unicode.MaxLatin1
	return text, beyond && !isName, true
}
