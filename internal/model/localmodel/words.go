package localmodel

import (
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// maxWord is the length in bytes to which a word is cut. Longer ones (a key, a
// piece of base64) stay unique.
const maxWord = 64

// words splits a text into words, folded to lower case without diacritics. In
// scripts without spaces between words, each pair of characters is a word. No
// word is empty, and each is valid until the next call of next.
type words struct {
	text string
	at   int
	buf  [maxWord + 2*utf8.UTFMax]byte
	last rune // the previous character, if its script has no spaces between words
	// start and end are the byte offsets of the word in the text.
	start, end int
}

// next returns the next word, and false at the end.
func (w *words) next() ([]byte, bool) {
	for w.at < len(w.text) {
		r, size := utf8.DecodeRuneInString(w.text[w.at:])
		switch {
		case knowledge.Unspaced(r):
			before := w.last
			w.last = r
			w.start, w.end = w.at, w.at+size
			w.at += size
			following, _ := utf8.DecodeRuneInString(w.text[w.at:])
			if before == 0 && knowledge.Unspaced(following) {
				continue // the pair that begins with it includes it
			}
			word := w.buf[:0]
			if before != 0 {
				word = utf8.AppendRune(word, before)
				w.start -= utf8.RuneLen(before)
			}
			return utf8.AppendRune(word, r), true
		case wordRune(r):
			w.last = 0
			if word := w.readWord(); len(word) > 0 { // a half-width sound mark is a letter, but folds to ""
				return word, true
			}
		default:
			w.last = 0
			w.at += size
		}
	}
	return nil, false
}

// readWord reads the word that begins at w.at.
func (w *words) readWord() []byte {
	w.start = w.at
	word := w.buf[:0]
	for w.at < len(w.text) {
		c := w.text[w.at]
		switch {
		case c >= utf8.RuneSelf:
			r, size := utf8.DecodeRuneInString(w.text[w.at:])
			if r == '’' && w.letterAt(w.at+size) {
				w.at += size
				continue
			}
			if !wordRune(r) && !unicode.Is(unicode.Mn, r) || knowledge.Unspaced(r) {
				return w.finish(word)
			}
			word = appendFolded(word, r)
			w.at += size
		case c >= 'A' && c <= 'Z':
			word = append(word, c+'a'-'A')
			w.at++
		case c >= 'a' && c <= 'z' || c >= '0' && c <= '9':
			word = append(word, c)
			w.at++
		case c == '\'' && w.letterAt(w.at+1):
			w.at++
		case (c == '.' || c == ',') && w.digitAt(w.at-1) && w.digitAt(w.at+1):
			if c == '.' {
				word = append(word, c)
			}
			w.at++
		default:
			return w.finish(word)
		}
		if len(word) > maxWord {
			word = word[:maxWord]
		}
	}
	return w.finish(word)
}

func (w *words) finish(word []byte) []byte {
	w.end = w.at
	return word
}

func (w *words) letterAt(i int) bool {
	if i >= len(w.text) {
		return false
	}
	r, _ := utf8.DecodeRuneInString(w.text[i:])
	return unicode.IsLetter(r)
}

func (w *words) digitAt(i int) bool {
	return i >= 0 && i < len(w.text) && w.text[i] >= '0' && w.text[i] <= '9'
}

func wordRune(r rune) bool {
	if r < utf8.RuneSelf {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
	}
	return unicode.IsLetter(r) || unicode.IsDigit(r)
}

// appendFolded appends r in lower case without its diacritics.
func appendFolded(word []byte, r rune) []byte {
	switch r = unicode.ToLower(r); r {
	case 'ß':
		return append(word, "ss"...)
	case 'æ':
		return append(word, "ae"...)
	case 'ø':
		return append(word, 'o')
	case 'ł':
		return append(word, 'l')
	}
	var in, out [4 * utf8.UTFMax]byte
	n := utf8.EncodeRune(in[:], r)
	for _, d := range string(norm.NFKD.Append(out[:0], in[:n]...)) {
		if !unicode.Is(unicode.Mn, d) {
			word = utf8.AppendRune(word, unicode.ToLower(d))
		}
	}
	return word
}
