package outlook

import (
	"bytes"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// readRTF returns the text of RTF. isHTML means that the RTF holds a page, which is then
// returned as it was ([MS-OXRTFEX]).
func readRTF(data []byte) (text string, isHTML bool) {
	r := rtfReader{isHTML: bytes.Contains(data[:min(len(data), 1024)], []byte(`\fromhtml`)), fonts: map[int]uint32{}}
	r.codePage = 1252
	r.read(data)
	return strings.ReplaceAll(r.out.String(), "\r\n", "\n"), r.isHTML
}

// maxGroups bounds the groups that are open at once.
const maxGroups = 10_000

// group is what ends with a group of RTF.
type group struct {
	isSkipped bool // a table of fonts, a picture, …
	isHidden  bool // \htmlrtf: what the page does not have
	isTag     bool // \*\htmltag: what only the page has
	isFonts   bool
	font      int
	unicode   int // characters that stand for one of Unicode
}

type rtfReader struct {
	isHTML   bool
	out      strings.Builder
	raw      []byte // characters in the code page of the font
	codePage uint32
	fonts    map[int]uint32 // code pages
	group    group
	open     []group
	skip     int  // characters that stand for one of Unicode, still to come
	half     rune // the first half of a character of UTF-16, 0 if the last one is whole
	usual    int  // the font of text that states none
}

func (r *rtfReader) read(data []byte) {
	r.group.unicode = 1
	for len(data) > 0 {
		switch c := data[0]; c {
		case '{':
			r.flush()
			if len(r.open) >= maxGroups {
				return
			}
			r.open = append(r.open, r.group)
			data = data[1:]
		case '}':
			r.flush()
			if n := len(r.open); n > 0 {
				r.group, r.open = r.open[n-1], r.open[:n-1]
			}
			r.skip = 0
			data = data[1:]
		case '\\':
			data = r.control(data[1:])
		case '\r', '\n':
			data = data[1:]
		default:
			r.char(c)
			data = data[1:]
		}
	}
	r.flush()
	r.endHalf()
}

// isShown reports whether text belongs to the result.
func (r *rtfReader) isShown() bool {
	return !r.group.isSkipped && !r.group.isFonts && (!r.isHTML || !r.group.isHidden || r.group.isTag)
}

// char adds a byte of text.
func (r *rtfReader) char(c byte) {
	switch {
	case r.skip > 0:
		r.skip--
	case r.isShown():
		r.raw = append(r.raw, c)
	}
}

// flush decodes the bytes of text.
func (r *rtfReader) flush() {
	if len(r.raw) == 0 {
		return
	}
	r.endHalf()
	page := r.fonts[r.group.font]
	if page == 0 || r.group.isTag {
		page = r.codePage
	}
	if isASCII(r.raw) {
		r.out.Write(r.raw)
	} else {
		r.out.WriteString(decode(r.raw, page))
	}
	r.raw = r.raw[:0]
}

func isASCII(data []byte) bool {
	return !bytes.ContainsFunc(data, func(c rune) bool { return c >= 0x80 })
}

// add adds text that is in no code page.
func (r *rtfReader) add(s string) {
	r.flush()
	if r.isShown() {
		r.endHalf()
		r.out.WriteString(s)
	}
}

// unit adds a unit of UTF-16. Characters such as emoji have two, in words of their own.
func (r *rtfReader) unit(u rune) {
	r.flush()
	switch whole := utf16.DecodeRune(r.half, u); {
	case !r.isShown():
	case whole != utf8.RuneError:
		r.half = 0
		r.out.WriteRune(whole)
	case utf16.IsSurrogate(u) && u < secondHalves:
		r.endHalf()
		r.half = u
	default:
		r.add(string(u))
	}
}

// secondHalves is the first unit of UTF-16 that is the second half of a character.
const secondHalves = 0xdc00

// endHalf marks half a character whose other half is missing.
func (r *rtfReader) endHalf() {
	if r.half != 0 {
		r.out.WriteRune(utf8.RuneError)
		r.half = 0
	}
}

// control reads what follows a backslash, and returns the rest.
func (r *rtfReader) control(data []byte) []byte {
	if len(data) == 0 {
		return nil
	}
	if c := data[0]; !isLetter(c) {
		return r.symbol(c, data[1:])
	}
	end := 0
	for end < len(data) && isLetter(data[end]) {
		end++
	}
	word, rest := string(data[:end]), data[end:]
	digits := 0
	if len(rest) > 0 && rest[0] == '-' {
		digits++
	}
	for digits < len(rest) && rest[digits] >= '0' && rest[digits] <= '9' {
		digits++
	}
	number, err := strconv.Atoi(string(rest[:digits]))
	rest = rest[digits:]
	if len(rest) > 0 && rest[0] == ' ' {
		rest = rest[1:]
	}
	if word == "bin" { // bytes follow
		return rest[min(max(number, 0), len(rest)):]
	}
	r.word(word, number, err == nil)
	return rest
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// symbol reads a control symbol.
func (r *rtfReader) symbol(c byte, rest []byte) []byte {
	switch c {
	case '\'':
		if len(rest) < 2 {
			return nil
		}
		if value, err := strconv.ParseUint(string(rest[:2]), 16, 8); err == nil {
			r.char(byte(value))
		}
		return rest[2:]
	case '*':
		r.group.isSkipped = !r.isHTML || !bytes.HasPrefix(rest, []byte(`\htmltag`))
	case '~':
		r.add("\u00a0")
	case '_':
		r.add("\u2011")
	case '\\', '{', '}':
		r.char(c)
	case '\r', '\n':
		r.add("\n")
	}
	return rest
}

// characters are the control words that are text.
var characters = map[string]string{
	"par": "\n", "line": "\n", "sect": "\n", "page": "\n", "row": "\n", "tab": "\t", "cell": "\t", "lquote": "‘", "rquote": "’",
	"ldblquote": "“", "rdblquote": "”", "bullet": "•", "endash": "–", "emdash": "—", "emspace": " ", "enspace": " ",
}

// charsets are the code pages of the character sets of fonts.
var charsets = map[int]uint32{
	77: 10000, 128: 932, 129: 949, 134: 936, 136: 950, 161: 1253, 162: 1254, 163: 1258, 177: 1255, 178: 1256, 186: 1257, 204: 1251, 222: 874, 238: 1250,
}

// word reads a control word. Without a number it is 1 for words that switch.
func (r *rtfReader) word(word string, number int, isStated bool) {
	if s, ok := characters[word]; ok {
		r.add(s)
		return
	}
	r.flush()
	switch word {
	case "u":
		r.unit(rune(uint16(number)))
		r.skip = r.group.unicode
	case "uc":
		r.group.unicode = min(max(number, 0), 10)
	case "ansicpg":
		r.codePage = uint32(max(number, 0))
	case "deff":
		r.usual, r.group.font = number, number
	case "f":
		r.group.font = number
	case "fcharset":
		if r.group.isFonts && len(r.fonts) < 1000 {
			r.fonts[r.group.font] = charsets[number]
		}
	case "fonttbl":
		r.group.isFonts = true
	case "colortbl", "stylesheet", "info", "pict", "object", "header", "footer", "fldinst", "listtable", "generator", "xe":
		r.group.isSkipped = true
	case "htmlrtf":
		r.group.isHidden = !isStated || number != 0
	case "htmltag":
		r.group.isTag = true
	case "mhtmltag":
		r.group.isSkipped = true
	case "v":
		r.group.isSkipped = !r.isHTML && (!isStated || number != 0)
	case "plain":
		r.group.font = r.usual
	}
}
