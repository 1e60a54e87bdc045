package mail

import (
	"mime"
	"strings"
	"unicode/utf8"

	"github.com/cairn-rag/cairn/internal/extract/charset"
	"github.com/cairn-rag/cairn/internal/extract/html"
	"github.com/cairn-rag/cairn/internal/extract/text"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/jhillyerd/enmime/v2"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/htmlindex"
)

// blocksOf returns the text of a part.
func blocksOf(p *enmime.Part) (blocks []knowledge.Block) {
	if contentType(p) == "text/html" {
		err := readHTML(p, func(data []byte, declared string) (err error) {
			_, blocks, err = html.Read(data, declared)
			return err
		})
		if err == nil {
			return blocks
		}
	}
	s := textOf(p)
	if parameters := parametersOf(p); strings.EqualFold(parameters["format"], "flowed") {
		s = unfold(s, strings.EqualFold(parameters["delsp"], "yes"))
	}
	blocks = text.Plain(charset.Clean(s))
	for i := range blocks {
		blocks[i].Origin = knowledge.Origin{} // the lines of the decoded text are not lines of the file
	}
	return blocks
}

// parametersOf returns the parameters of the media type of a part, nil if it has none
// that can be read.
func parametersOf(p *enmime.Part) map[string]string {
	_, parameters, err := mime.ParseMediaType(p.Header.Get("Content-Type"))
	if err != nil {
		return nil
	}
	return parameters
}

// readHTML calls read for a part, with the character set that the part states. read
// looks for one in the page otherwise, and readHTML falls back to the Windows charset.
func readHTML(p *enmime.Part, read func(data []byte, declared string) error) error {
	s := textOf(p)
	if utf8.Valid(p.Content) {
		return read([]byte(s), "")
	}
	err := read(p.Content, p.Charset)
	if knowledge.IsCode(err, knowledge.CodeMalformed) {
		err = read([]byte(s), "")
	}
	return err
}

// textOf returns the text of a part as UTF-8.
func textOf(p *enmime.Part) string {
	if !strings.EqualFold(p.Charset, "x-user-defined") {
		return relabelled(readable(p.Content), p.Charset)
	}
	// A browser that saves a page in this character set does not know its own one.
	var bytes []byte
	for _, r := range string(p.Content) {
		if r >= 0xf780 && r <= 0xf7ff { // a byte, as the character set has it
			bytes = append(bytes, byte(r))
		} else {
			bytes = utf8.AppendRune(bytes, r)
		}
	}
	return readable(bytes)
}

// relabelled returns text that was decoded as the message states. If its bytes are
// UTF-8, the statement is wrong, as it is when a program writes us-ascii for all mail.
func relabelled(text, stated string) string {
	if isASCII(text) {
		return text
	}
	enc, err := htmlindex.Get(stated)
	if err != nil {
		return text
	}
	if _, isSingleByte := enc.(*charmap.Charmap); !isSingleByte {
		return text
	}
	raw, err := enc.NewEncoder().String(text)
	if err != nil && enc == charmap.Windows1252 { // which stands for Latin-1 too
		raw, err = charmap.ISO8859_1.NewEncoder().String(text)
	}
	switch {
	case err != nil:
		return text
	case utf8.ValidString(raw):
		return raw
	case strings.HasSuffix(strings.ToLower(stated), "ascii"): // it states nothing about these bytes
		return readable([]byte(raw))
	case enc == charmap.Windows1252: // text has no controls: the Windows set has signs there
		return strings.Map(printed, text)
	}
	return text
}

// printed returns the sign that the Windows set has at the place of a control character of Latin-1.
func printed(r rune) rune {
	if r >= 0x80 && r < 0xa0 {
		return charmap.Windows1252.DecodeByte(byte(r))
	}
	return r
}

func isASCII(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r >= utf8.RuneSelf })
}

// readable returns text as UTF-8. Text in a character set that is neither stated nor
// told is most often in the Windows charset.
func readable(data []byte) string {
	if utf8.Valid(data) {
		return string(data)
	}
	if assumed := charset.Assumed(data, ""); assumed != "" {
		if text, err := charset.Decode(data, assumed); err == nil {
			return text
		}
	}
	decoded, err := charmap.Windows1252.NewDecoder().Bytes(data)
	if err != nil {
		return strings.ToValidUTF8(string(data), "\ufffd")
	}
	return string(decoded)
}

// unfold joins the lines of text in the format "flowed" (RFC 3676): a line that ends in
// a space continues in the next line that is quoted as often.
func unfold(s string, deletesSpace bool) string {
	var b strings.Builder
	open, quotes := false, 0 // the line before continues
	for line := range strings.Lines(s) {
		line = strings.TrimRight(line, "\r\n")
		rest := strings.TrimLeft(line, ">")
		depth := len(line) - len(rest)
		rest = strings.TrimPrefix(rest, " ")
		if open && depth == quotes && rest != "-- " {
			line = rest
		} else if b.Len() > 0 {
			b.WriteByte('\n')
			if depth == 0 {
				line = rest
			}
		}
		open, quotes = strings.HasSuffix(line, " ") && rest != "-- ", depth
		if open && deletesSpace {
			line = line[:len(line)-1]
		}
		b.WriteString(line)
	}
	return b.String()
}
