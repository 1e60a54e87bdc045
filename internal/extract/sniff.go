package extract

import (
	"bytes"
	"mime"
	"path"
	"strings"
	"unicode/utf8"

	"github.com/cairn-rag/cairn/internal/extract/charset"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// HeadBytes is how many bytes of a file Sniff needs. Fewer are enough if they
// are the whole file.
const HeadBytes = 16 << 10

// Sniff returns the media type of a file from the first bytes of its content
// (HeadBytes of them, or all). The name only distinguishes kinds of text that
// look alike; the declared media type, "" if none, distinguishes those that the
// name does not. Errors are *knowledge.Error: unsupported_format, naming the
// kind, for content of a kind that is not supported, whatever its name; empty
// for content of nothing but white space. The media type of a text keeps the
// declared character set unless the content is seen to be UTF-8.
//
// Sniff accepts text in a character set that is neither UTF-8 nor marked; the
// parser then decodes or refuses it.
func Sniff(name, declared string, head []byte) (mediaType string, err error) {
	head = head[:min(len(head), HeadBytes)]
	kind, err := sniff(name, declared, head)
	if err != nil || !IsText(kind) || isUTF8(head) {
		return kind, err
	}
	return withCharset(kind, declared), nil
}

// Declared returns the part of an uploaded media type that Sniff uses: a kind of
// text and a character set. It returns "" if the media type states neither.
func Declared(mediaType string) string {
	kind := expectedType("", mediaType)
	if kind == "" && strings.HasPrefix(mediaType, "text/") {
		kind = TypeText
	}
	if kind == "" {
		return ""
	}
	return withCharset(kind, mediaType)
}

func withCharset(kind, declared string) string {
	if set := charset.Declared(declared); set != "" {
		return kind + "; charset=" + set
	}
	return kind
}

// isUTF8 reports whether head is valid UTF-8 with at least one character beyond
// ASCII.
func isUTF8(head []byte) bool {
	head = wholeRunes(head)
	return utf8.Valid(head) && bytes.ContainsFunc(head, func(r rune) bool { return r >= utf8.RuneSelf })
}

func sniff(name, declared string, head []byte) (kind string, err error) {
	if charset.Blank(head) && len(head) < HeadBytes {
		return "", knowledge.Errorf(knowledge.CodeEmpty, "the file is empty; send one with text in it")
	}
	text, sure := asText(head)
	expected := expectedType(name, declared)
	if isPDF(head, sure) {
		return TypePDF, nil
	}
	if !sure {
		if kind := binaryType(name, head); kind != "" {
			return ifRead(kind)
		}
		if text == "" { // too many control characters for any kind of text
			if expected != "" {
				return expected, nil // its parser reports that it is not UTF-8
			}
			return "", unsupported("binary data of an unknown kind")
		}
	}
	if kind := markedTextType(name, expected, text); kind != "" {
		return ifRead(kind)
	}
	return textType(name, expected, text), nil
}

// ifRead returns a media type, or an error if its documents cannot be read.
func ifRead(mediaType string) (string, error) {
	if f, ok := FormatOf(mediaType); ok && f.IsRead() {
		return mediaType, nil
	}
	return "", unsupported(nameOf(mediaType))
}

// expectedType returns the kind of text that the name implies, else the declared
// one, else "".
func expectedType(name, declared string) string {
	declared, _, _ = mime.ParseMediaType(declared) // "" if it is not a media type
	byName := typeByName(name)
	// A URL may end in the name of the script that made the page.
	if byName != "" && (declared != TypeHTML || !strings.HasPrefix(byName, "text/x-")) {
		return byName
	}
	switch declared {
	case TypeMarkdown, TypeAsciiDoc, TypeLaTeX, TypeHTML, TypeCSV, TypeTSV, TypeJSON, TypeNDJSON:
		return declared
	}
	return ""
}

func unsupported(kind string) error {
	refused := knowledge.Errorf(knowledge.CodeUnsupportedFormat, "this looks like %s, which is not supported", kind)
	refused.Message += "; " + supported() // which is longer than what Errorf repeats of a value
	return refused
}

// isPDF reports whether head is the beginning of a PDF. PDF readers allow junk before the
// %PDF- mark. A text that only mentions the mark is not a PDF.
func isPDF(head []byte, isText bool) bool {
	mark := []byte("%PDF-")
	if bytes.HasPrefix(bytes.TrimLeft(head, "\xef\xbb\xbf \t\r\n"), mark) {
		return true
	}
	return !isText && bytes.Contains(head[:min(len(head), 1024)], mark)
}

// asText returns head as UTF-8. sure is true if it can only be text: UTF-8, or
// UTF-16 with a byte order mark, without control characters. Otherwise the
// caller must rule out binary kinds first, and text is "" if head has as many
// control characters as binary data.
func asText(head []byte) (text string, sure bool) {
	if bytes.HasPrefix(head, []byte("\xff\xfe")) || bytes.HasPrefix(head, []byte("\xfe\xff")) {
		s, err := charset.Decode(head[:len(head)&^1], "")
		return s, err == nil && !strings.ContainsRune(s, utf8.RuneError)
	}
	if charset.IsUnmarkedUTF16(head) {
		s, err := charset.Decode(head[:len(head)&^1], "")
		if err != nil {
			s = ""
		}
		return s, false
	}
	head = bytes.TrimPrefix(head, []byte("\xef\xbb\xbf"))
	valid := utf8.Valid(wholeRunes(head))
	controls := countControls(head)
	switch {
	case valid && controls == 0:
		return string(wholeRunes(head)), true
	case controls*50 > len(head):
		return "", false
	default:
		return strings.ToValidUTF8(string(head), "\ufffd"), false
	}
}

// wholeRunes cuts off a code point whose last bytes are beyond head.
func wholeRunes(head []byte) []byte {
	for i := 1; i <= 3 && i <= len(head); i++ {
		if b := head[len(head)-i]; utf8.RuneStart(b) {
			if !utf8.FullRune(head[len(head)-i:]) {
				return head[:len(head)-i]
			}
			break
		}
	}
	return head
}

func countControls(head []byte) int {
	n := 0
	for _, b := range head {
		if b < 0x20 && !strings.ContainsRune("\t\n\v\f\r\x1b", rune(b)) || b == 0x7f {
			n++
		}
	}
	return n
}

// textType distinguishes the supported kinds of text.
func textType(name, expected, text string) string {
	body := strings.TrimLeft(text, "\ufeff \t\r\n")
	switch {
	case strings.HasPrefix(expected, "text/x-"):
		return expected
	case expected == TypeMarkdown && !isPage(body): // Markdown may begin with any tag
		return TypeMarkdown
	case startsHTML(body):
		return TypeHTML
	case startsLaTeX(body):
		return TypeLaTeX
	case (expected == "" || expected == TypeText) && startsAsciiDoc(body):
		return TypeAsciiDoc
	case expected != "":
		return expected
	case hasExtension(name):
		return TypeText
	default:
		return textTypeByContent(body)
	}
}

func hasExtension(name string) bool { return path.Ext(name) != "" }

// textTypeByContent returns the kind of a text whose name implies none.
func textTypeByContent(body string) string {
	switch {
	case strings.HasPrefix(body, "#!"):
		return shebangType(body)
	case looksJSON(body):
		return TypeJSON
	case looksNDJSON(body):
		return TypeNDJSON
	default:
		return TypeText
	}
}

func shebangType(body string) string {
	line, _, _ := strings.Cut(body, "\n")
	for _, l := range []struct{ word, lang string }{
		{"python", "python"}, {"node", "javascript"}, {"ruby", "ruby"}, {"perl", "perl"},
		{"php", "php"}, {"lua", "lua"}, {"sh", "shell"},
	} {
		if strings.Contains(line, l.word) {
			return "text/x-" + l.lang
		}
	}
	return TypeText
}
