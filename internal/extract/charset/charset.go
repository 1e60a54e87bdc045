// Package charset decodes the bytes of a text file to clean UTF-8. It handles
// byte order marks and declared character sets, detects the character set of other
// text, normalises line ends, and removes control characters.
package charset

import (
	"bytes"
	"mime"
	"strings"
	"unicode/utf8"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/unicode"
)

// notUTF8 is the message of the error for text that cannot be decoded.
const notUTF8 = "the file is not text in UTF-8 or in another character set that is recognised; save it as UTF-8 (or UTF-16 with a byte order mark) and send it again"

// MaxText is the most text, in bytes of UTF-8, that one document may hold.
const MaxText = 20 << 20

// TooLong returns the error for a document with more than MaxText bytes of text.
func TooLong() error {
	return knowledge.Errorf(knowledge.CodeTooLarge,
		"the document holds more than %d MB of text; split it into smaller documents", MaxText>>20)
}

// Declared returns the name of the character set that a media type declares. It
// returns "" if the media type declares none, UTF-8, or an unknown one.
func Declared(mediaType string) string {
	_, params, err := mime.ParseMediaType(mediaType)
	if err != nil {
		return ""
	}
	name, err := htmlindex.Name(encodingByName(params["charset"]))
	if err != nil {
		return ""
	}
	return name
}

// Decode returns the text of data as UTF-8, cleaned by Clean. A byte order mark
// decides the encoding; without one, valid UTF-8 is kept as it is, unless it is text of
// another set that happens to be valid; otherwise the declared character set is used or,
// without a declaration, the one that Assumed returns. Errors are *knowledge.Error with
// code malformed or too_large.
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
	if enc := encodingByMark(data); enc != nil {
		return decodeWith(data, enc)
	}
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	if disguised := disguised(data); disguised == sevenBit {
		text, _ := fromUTF7(data)
		return text, nil
	} else if disguised != "" {
		declared = disguised
	} else if utf8.Valid(data) {
		return string(data), nil
	}
	if declared == "" {
		declared = detect(data)
	}
	if enc := encodingByName(declared); enc != nil {
		return decodeWith(data, enc)
	}
	return "", knowledge.Errorf(knowledge.CodeMalformed, notUTF8)
}

func encodingByMark(data []byte) encoding.Encoding {
	switch {
	case bytes.HasPrefix(data, []byte("\xff\xfe")), bytes.HasPrefix(data, []byte("\xfe\xff")):
		return unicode.UTF16(unicode.LittleEndian, unicode.ExpectBOM)
	default:
		return nil
	}
}

// encodingByName returns the encoding of a declared character set, or nil if
// the name is unknown or means UTF-8: the caller has already seen that the
// bytes are not UTF-8.
func encodingByName(name string) encoding.Encoding {
	switch name {
	case "":
		return nil
	case dos:
		return charmap.CodePage850
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

// Clean normalises text. Every kind of line end becomes \n and a form feed ends
// a paragraph. Control characters, noncharacters and the characters that
// knowledge.Invisible reports are removed.
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
		case r == '\f' && aloneOnLine(s, i-n):
			// Nothing is left of the line, which ends a paragraph already.
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

// aloneOnLine reports whether the byte at i has line ends, or nothing, before and
// behind it.
func aloneOnLine(s string, i int) bool {
	isEnd := func(c byte) bool { return c == '\n' || c == '\r' }
	return (i == 0 || isEnd(s[i-1])) && (i+1 == len(s) || isEnd(s[i+1]))
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
// invisible character, or a noncharacter.
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

// Blank reports whether data consists only of a byte order mark, white space,
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
