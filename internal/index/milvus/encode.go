package milvus

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"strings"

	"github.com/cairn-rag/cairn/internal/words"
)

// maxWords is the number of bytes that a text field of Milvus can have.
const maxWords = 65535

// hash returns 32 hexadecimal digits that stand for parts. Two lists of parts
// never have the same hash because they are joined differently.
func hash(parts ...string) string {
	h := sha256.New()
	for _, part := range parts {
		var length [8]byte
		binary.BigEndian.PutUint64(length[:], uint64(len(part)))
		h.Write(length[:])
		h.Write([]byte(part))
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// letters writes each byte of text as a small and a capital letter. The result
// has the order of text, contains the letters of a part exactly if text
// contains the part, and has no character that a pattern or an expression
// interprets.
func letters(text string) string {
	b := make([]byte, 0, 2*len(text))
	for i := range len(text) {
		b = append(b, 'a'+text[i]>>4, 'A'+text[i]&15)
	}
	return string(b)
}

// literal returns text as a string of Milvus's expression language.
func literal(text string) string {
	return `"` + escapes.Replace(text) + `"`
}

var escapes = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\r", `\r`)

// literals returns a list of strings of Milvus's expression language.
func literals(texts []string) string {
	list := make([]string, len(texts))
	for i, text := range texts {
		list[i] = literal(text)
	}
	return "[" + strings.Join(list, ", ") + "]"
}

// documentText returns the words of text in the form in which they are sent. A
// character of a script without spaces is also sent as a beginning of words, as
// a question of one character asks for it.
func documentText(text string, known words.Stems) string {
	var b strings.Builder
	b.Grow(len(text))
	for word := range strings.SplitSeq(words.Document(text, known), " ") {
		sent := ascii(word)
		if runes := []rune(word); !isASCII(word) && len(runes) <= 2 {
			sent += " " + beginning(string(runes[:1]))
		}
		if b.Len()+1+len(sent) > maxWords {
			break
		}
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(sent)
	}
	return b.String()
}

// questionText returns the words of a question in the form in which they are
// sent, "" if it has none.
func questionText(text string) string {
	var list []string
	for _, term := range words.Question(text) {
		if term.Prefix {
			list = append(list, beginning(term.Word))
		} else {
			list = append(list, ascii(term.Word))
		}
	}
	return strings.Join(list, " ")
}

// ascii returns a word of ASCII letters and digits unchanged, and any other word
// as its bytes in hexadecimal, which no tokenizer splits or folds.
func ascii(word string) string {
	if isASCII(word) {
		return word
	}
	return "u8" + hex.EncodeToString([]byte(word))
}

func beginning(word string) string { return "p8" + hex.EncodeToString([]byte(word)) }

func isASCII(word string) bool {
	for i := range len(word) {
		if word[i] >= 0x80 {
			return false
		}
	}
	return true
}
