package charset

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	littleEndian = "utf-16le"
	bigEndian    = "utf-16be"
	japanese7bit = "iso-2022-jp"
)

// disguised returns the name of a character set whose texts may be valid UTF-8, which
// then reads them wrongly: UTF-16 without a byte order mark, and ISO-2022-JP, which writes
// Japanese with ASCII bytes between escapes, and UTF-7. It returns "" for other data.
func disguised(data []byte) string {
	if bytes.IndexByte(data, 0) >= 0 {
		return unmarkedUTF16(data)
	}
	begins := bytes.Contains(data, []byte("\x1b$B")) || bytes.Contains(data, []byte("\x1b$@"))
	ends := bytes.Contains(data, []byte("\x1b(B")) || bytes.Contains(data, []byte("\x1b(J"))
	if begins && ends && fits(data, japanese7bit) {
		return japanese7bit
	}
	if _, ok := fromUTF7(data); ok {
		return sevenBit
	}
	return ""
}

// IsUnmarkedUTF16 reports whether the beginning of a file is UTF-16 without a byte order
// mark.
func IsUnmarkedUTF16(head []byte) bool { return unmarkedUTF16(head[:len(head)&^1]) != "" }

// unmarkedUTF16 returns the name of the byte order of UTF-16 text without a mark, "" for
// other data. The zero bytes of ASCII characters, of which every text has spaces or line
// ends, tell the order.
func unmarkedUTF16(data []byte) string {
	sample := data[:min(len(data), sampleBytes)]
	if len(data)%2 != 0 || utf8.Valid(sample) && controls(sample)*4 < len(sample) { // text with a stray NUL
		return ""
	}
	zeros := [2]int{} // at even and odd places
	for i, b := range sample {
		if b == 0 {
			zeros[i%2]++
		}
	}
	name := littleEndian
	if zeros[0] > zeros[1] {
		name = bigEndian
	}
	if min(zeros[0], zeros[1])*8 > max(zeros[0], zeros[1]) || !isPlain(sample, name) {
		return ""
	}
	return name
}

func controls(sample []byte) int {
	n := 0
	for _, b := range sample {
		if b < ' ' && b != '\n' && b != '\r' && b != '\t' {
			n++
		}
	}
	return n
}

// isPlain reports whether the sample decodes to characters that text has. The last one may
// be cut off.
func isPlain(sample []byte, name string) bool {
	text, err := decodeWith(sample, encodingByName(name))
	if err != nil {
		return false
	}
	text = strings.TrimSuffix(text, "\ufffd")
	return text != "" && !strings.ContainsFunc(text, func(r rune) bool {
		return r == utf8.RuneError || !unicode.IsGraphic(r) && !unicode.In(r, unicode.Cf) && !strings.ContainsRune("\t\n\r\f", r)
	})
}
