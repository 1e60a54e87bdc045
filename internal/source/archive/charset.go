package archive

import (
	"archive/zip"
	"encoding/binary"
	"hash/crc32"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/simplifiedchinese"
)

// decoderFor returns the function that decodes the names of an archive. Names
// without the mark for UTF-8 are, by the specification, in code page 437, but
// programs write them in the code page of the machine. All names of an archive
// are from one machine, so they are judged together.
func decoderFor(files []*zip.File) func(*zip.File) string {
	var legacy []string
	for _, f := range files {
		if isLegacy(f) {
			legacy = append(legacy, f.Name)
		}
	}
	charset := guess(legacy)
	return func(f *zip.File) string {
		name := f.Name
		if isLegacy(f) {
			if decoded := unicodePath(f); decoded != "" {
				name = decoded
			} else if decoded, err := charset.NewDecoder().String(name); err == nil {
				name = decoded
			}
		}
		return printable(strings.ToValidUTF8(name, string(unicode.ReplacementChar)))
	}
}

// isLegacy reports whether a name is not in UTF-8, whatever its mark says.
func isLegacy(f *zip.File) bool { return !utf8.ValidString(f.Name) }

// unicodePath returns the name in UTF-8 that some programs add to a legacy name,
// "" if there is none. It is field 0x7075 of the ZIP specification: version 1,
// the checksum of the legacy name, the name.
func unicodePath(f *zip.File) string {
	const id, fixed = 0x7075, 5
	for extra := f.Extra; len(extra) >= 4; {
		tag, size := binary.LittleEndian.Uint16(extra), int(binary.LittleEndian.Uint16(extra[2:]))
		extra = extra[4:]
		if size > len(extra) {
			return ""
		}
		if tag == id && size > fixed && extra[0] == 1 && binary.LittleEndian.Uint32(extra[1:]) == crc32.ChecksumIEEE([]byte(f.Name)) {
			return string(extra[fixed:size])
		}
		extra = extra[size:]
	}
	return ""
}

// guess returns the encoding of names: the first whose letters fit, else code
// page 437.
func guess(names []string) encoding.Encoding {
	for _, candidate := range []struct {
		charset encoding.Encoding
		fits    func(raw, decoded string) bool
	}{
		{simplifiedchinese.GBK, isChinese},
		{japanese.ShiftJIS, isJapanese},
		{charmap.CodePage866, isRussian},
	} {
		if fitsAll(names, candidate.charset, candidate.fits) {
			return candidate.charset
		}
	}
	return charmap.CodePage437
}

func fitsAll(names []string, charset encoding.Encoding, fits func(raw, decoded string) bool) bool {
	for _, raw := range names {
		decoded, err := charset.NewDecoder().String(raw)
		if err != nil || strings.ContainsRune(decoded, unicode.ReplacementChar) || !fits(raw, decoded) {
			return false
		}
	}
	return len(names) > 0
}

// isChinese reports whether all bytes above ASCII are pairs in the rows of GB
// 2312, which hold the common characters, with a character among them.
func isChinese(raw, decoded string) bool {
	for i := 0; i < len(raw); i++ {
		if raw[i] < utf8.RuneSelf {
			continue
		}
		if i+1 == len(raw) || raw[i] < 0xa1 || raw[i] > 0xf7 || raw[i+1] < 0xa1 {
			return false
		}
		i++
	}
	return strings.ContainsFunc(decoded, func(r rune) bool { return unicode.Is(unicode.Han, r) })
}

// isJapanese reports whether a name contains kana or common signs of Japanese
// between its characters, and nothing else above ASCII.
func isJapanese(_, decoded string) bool {
	kana := false
	for _, r := range decoded {
		switch {
		case unicode.In(r, unicode.Hiragana, unicode.Katakana) && r < 0xff00:
			kana = true
		case r < utf8.RuneSelf || unicode.Is(unicode.Han, r) || (r >= 0x3000 && r < 0x3040) || r >= 0xff00 && r < 0xff61 || r == 'ー':
		default:
			return false
		}
	}
	return kana
}

// isRussian reports whether the letters above ASCII are Cyrillic and stand in
// words, not alone between Latin letters.
func isRussian(_, decoded string) bool {
	previous := ' '
	for _, r := range decoded {
		isCyrillic := unicode.Is(unicode.Cyrillic, r)
		if r >= utf8.RuneSelf && !isCyrillic && r != '№' {
			return false
		}
		if isCyrillic && isLatin(previous) || isLatin(r) && unicode.Is(unicode.Cyrillic, previous) {
			return false
		}
		previous = r
	}
	return true
}

func isLatin(r rune) bool { return r < utf8.RuneSelf && unicode.IsLetter(r) }
