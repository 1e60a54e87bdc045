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

// HeadBytes is how much of a file Sniff wants to see. With less it still works
// as long as that is the whole file.
const HeadBytes = 16 << 10

// The media types that Sniff gives, beside text/x-<language> for source code.
const (
	TypeText     = "text/plain"
	TypeMarkdown = "text/markdown"
	TypeHTML     = "text/html"
	TypePDF      = "application/pdf"
	TypeCSV      = "text/csv"
	TypeTSV      = "text/tab-separated-values"
	TypeJSON     = "application/json"
	TypeNDJSON   = "application/x-ndjson"
)

const supported = "supported are TXT, Markdown, HTML, PDF, CSV, TSV, JSON and source code"

// Sniff names the media type of a file by the first bytes of its content
// (HeadBytes of them, or all). The name only tells apart the kinds of text
// that look alike, and what was declared, "" if nothing was, those that the name
// does not. A kind that is not supported, whatever its name, is a
// *knowledge.Error with code unsupported_format that names the kind; nothing
// but white space has code empty. The media type of a text keeps the character
// set that was declared, unless the content is seen to be UTF-8.
//
// Text in a character set that is neither UTF-8 nor marked passes as text
// here; decoding it is a matter of the parser.
func Sniff(name, declared string, head []byte) (mediaType string, err error) {
	head = head[:min(len(head), HeadBytes)]
	kind, err := sniff(name, declared, head)
	if err != nil || kind == TypePDF || isUTF8(head) {
		return kind, err
	}
	return withCharset(kind, declared), nil
}

// Declared gives of the media type that came with a file what Sniff goes by: a
// kind of text and a character set; "" if it says neither.
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

// isUTF8 reports whether head shows itself to be UTF-8, which ASCII does not.
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
		if kind := binaryKind(name, head); kind != "" {
			return "", unsupported(kind)
		}
		if text == "" { // control characters all over: no kind of text
			if expected != "" {
				return expected, nil // its parser says that it is not UTF-8
			}
			return "", unsupported("binary data of an unknown kind")
		}
	}
	if kind := unsupportedTextKind(name, expected, text); kind != "" {
		return "", unsupported(kind)
	}
	return textType(name, expected, text), nil
}

// expectedType is the kind of text that the name tells, or else the one that was
// declared; "" if neither does.
func expectedType(name, declared string) string {
	declared, _, _ = mime.ParseMediaType(declared) // of what is none, nothing
	byName := typeByName(name)
	// The name of a script at an address says how the page was made.
	if byName != "" && (declared != TypeHTML || !strings.HasPrefix(byName, "text/x-")) {
		return byName
	}
	switch declared {
	case TypeMarkdown, TypeHTML, TypeCSV, TypeTSV, TypeJSON, TypeNDJSON:
		return declared
	}
	return ""
}

func unsupported(kind string) error {
	return knowledge.Errorf(knowledge.CodeUnsupportedFormat, "this looks like %s, which is not supported yet; %s", kind, supported)
}

// isPDF reports whether head is that of a PDF. Readers allow junk before the
// mark; a text that only speaks of the mark is not a PDF.
func isPDF(head []byte, isText bool) bool {
	mark := []byte("%PDF-")
	if bytes.HasPrefix(bytes.TrimLeft(head, "\xef\xbb\xbf \t\r\n"), mark) {
		return true
	}
	return !isText && bytes.Contains(head[:min(len(head), 1024)], mark)
}

// asText gives head as UTF-8. sure says that it cannot be anything else: it is
// UTF-8, or UTF-16 with its mark, without control characters. Otherwise text is
// what it may be if no binary kind is found, and "" if it has the control
// characters of binary data.
func asText(head []byte) (text string, sure bool) {
	if bytes.HasPrefix(head, []byte("\xff\xfe")) || bytes.HasPrefix(head, []byte("\xfe\xff")) {
		s, err := charset.Decode(head[:len(head)&^1], "")
		return s, err == nil && !strings.ContainsRune(s, utf8.RuneError)
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

// wholeRunes cuts off a code point whose last bytes are beyond the head.
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

// textType tells the supported kinds of text apart.
func textType(name, expected, text string) string {
	body := strings.TrimLeft(text, "\ufeff \t\r\n")
	switch {
	case strings.HasPrefix(expected, "text/x-"):
		return expected
	case expected == TypeMarkdown && !isPage(body): // which may begin with any tag
		return TypeMarkdown
	case startsHTML(body):
		return TypeHTML
	case expected != "":
		return expected
	case hasExtension(name):
		return TypeText
	default:
		return textTypeByContent(body)
	}
}

func hasExtension(name string) bool { return path.Ext(name) != "" }

// textTypeByContent is for text whose name says nothing.
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
