// Package charset decodes the bytes of a text file to clean UTF-8: known byte
// order marks, a declared character set, one kind of line end, no control
// characters. It guesses nothing: text whose character set is neither UTF-8
// nor stated is refused.
package charset

import (
	"bytes"
	"mime"
	"strings"
	"unicode/utf8"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/unicode"
)

// notUTF8 is the message for text that cannot be decoded.
const notUTF8 = "the file is not UTF-8 text; save it as UTF-8 (or UTF-16 with a byte order mark) and send it again"

// MaxText is the most text, in bytes of UTF-8, that one document may hold.
const MaxText = 20 << 20

// TooLong is the error for a document with more than MaxText bytes of text.
func TooLong() error {
	return knowledge.Errorf(knowledge.CodeTooLarge,
		"the document holds more than %d MB of text; split it into smaller documents", MaxText>>20)
}

// Declared names the character set that a media type states, "" if that is none,
// UTF-8 or not known.
func Declared(mediaType string) string {
	_, params, err := mime.ParseMediaType(mediaType)
	if err != nil {
		return ""
	}
	name, err := htmlindex.Name(byName(params["charset"]))
	if err != nil {
		return ""
	}
	return name
}

// Decode gives the text of data as UTF-8, cleaned as by Clean. A byte order
// mark decides; else data is UTF-8; else the declared character set is used.
// The error is a *knowledge.Error: malformed or too_large.
func Decode(data []byte, declared string) (string, error) {
	text, err := decode(data, declared)
	if err != nil {
		return "", err
	}
	if len(text) > MaxText {
		return "", TooLong()
	}
	return Clean(text), nil
}

func decode(data []byte, declared string) (string, error) {
	if enc := byMark(data); enc != nil {
		return decodeWith(data, enc)
	}
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	if utf8.Valid(data) {
		return string(data), nil
	}
	if enc := byName(declared); enc != nil {
		return decodeWith(data, enc)
	}
	return "", knowledge.Errorf(knowledge.CodeMalformed, notUTF8)
}

func byMark(data []byte) encoding.Encoding {
	switch {
	case bytes.HasPrefix(data, []byte("\xff\xfe")), bytes.HasPrefix(data, []byte("\xfe\xff")):
		return unicode.UTF16(unicode.LittleEndian, unicode.ExpectBOM)
	default:
		return nil
	}
}

// byName gives a declared encoding, nil if it is UTF-8 (whose bytes were seen
// not to be) or not known.
func byName(name string) encoding.Encoding {
	if name == "" {
		return nil
	}
	enc, err := htmlindex.Get(name)
	if err != nil || enc == unicode.UTF8 || enc == encoding.Replacement {
		return nil
	}
	return enc
}

func decodeWith(data []byte, enc encoding.Encoding) (string, error) {
	out, err := enc.NewDecoder().Bytes(data)
	if err != nil {
		return "", knowledge.Errorf(knowledge.CodeMalformed, notUTF8).WithCause(err)
	}
	return string(out), nil
}

// Clean normalises text: every kind of line end becomes \n, a form feed ends a
// paragraph, and control characters, noncharacters and what knowledge.Invisible
// names go.
func Clean(s string) string {
	if isClean(s) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		i += n
		switch {
		case r == '\r':
			if i >= len(s) || s[i] != '\n' {
				b.WriteByte('\n')
			}
		case r == '\f':
			b.WriteString("\n\n")
		case r == '\v' || r == 0x85 || r == 0x2028:
			b.WriteByte('\n')
		case r == 0x2029:
			b.WriteString("\n\n")
		case !unwanted(r):
			b.WriteRune(r)
		}
	}
	return b.String()
}

func isClean(s string) bool {
	for _, r := range s {
		if unwanted(r) || r == 0x2028 || r == 0x2029 || r == utf8.RuneError {
			return false
		}
	}
	return true
}

// unwanted reports whether r is a control character other than \n and \t, an
// invisible one, or a code point that is no character.
func unwanted(r rune) bool {
	switch {
	case r == '\n' || r == '\t':
		return false
	case r < 0x20, r >= 0x7f && r < 0xa0, knowledge.Invisible(r):
		return true
	default:
		return r >= 0xfdd0 && r <= 0xfdef || r&0xfffe == 0xfffe
	}
}

// Blank reports whether data holds nothing but a byte order mark, white space,
// invisible characters and NUL.
func Blank(data []byte) bool {
	for _, mark := range []string{"\xef\xbb\xbf", "\xff\xfe", "\xfe\xff"} {
		if rest, ok := bytes.CutPrefix(data, []byte(mark)); ok {
			data = rest
			break
		}
	}
	return len(bytes.TrimLeftFunc(data, func(r rune) bool {
		return strings.ContainsRune(" \t\n\r\f\v\x00", r) || knowledge.Invisible(r)
	})) == 0
}
