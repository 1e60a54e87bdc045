package pdf

import (
	"bytes"
	"compress/zlib"
	"io"
	"regexp"
	"strconv"
)

// A program that shapes text maps all letters of a cluster to its first drawing and the
// others to an empty text. pdfium takes an empty text for none and returns the code of the
// drawing. It does not show the table, so it is read from the file here, without the
// structure of the file: the fonts and their tables are found by how they are written.

// silentCodes are the codes that the table of a font maps to an empty text, by the name of
// the font.
type silentCodes map[string]map[rune]bool

const (
	maxTable   = 1 << 20  // bytes of a table or of a stream of objects
	maxTables  = 16 << 20 // bytes of all of them
	maxNumbers = 200_000  // of objects
)

var (
	objectStart  = regexp.MustCompile(`\b(\d{1,7}) +\d{1,5} +obj\b`)
	streamStart  = regexp.MustCompile(`\bstream\r?\n`)
	fontName     = regexp.MustCompile(`/BaseFont\s*/([^\s/<>\[\]()]+)`)
	fontTable    = regexp.MustCompile(`/ToUnicode\s+(\d{1,7})\s+\d+\s+R`)
	objectsFirst = regexp.MustCompile(`/First\s+(\d{1,7})`)
	bfChars      = regexp.MustCompile(`(?s)beginbfchar(.*?)endbfchar`)
	silentEntry  = regexp.MustCompile(`<([0-9A-Fa-f]{1,4})>\s*<\s*>`)
)

// readSilent returns the silent codes of a file. It returns none if the file is encrypted.
func readSilent(data []byte) silentCodes {
	f := rawFile{data: data, streams: map[string][]byte{}, left: maxTables}
	starts := objectStart.FindAllSubmatchIndex(data, maxNumbers)
	for i, at := range starts {
		end := len(data)
		if i+1 < len(starts) {
			end = starts[i+1][0]
		}
		f.addObject(string(data[at[2]:at[3]]), data[at[1]:end])
	}
	found := silentCodes{}
	for name, object := range f.fonts {
		codes := map[rune]bool{}
		for _, block := range bfChars.FindAllSubmatch(f.inflate(f.streams[object]), -1) {
			for _, m := range silentEntry.FindAllSubmatch(block[1], -1) {
				code, err := strconv.ParseInt(string(m[1]), 16, 32)
				if err == nil { // else the expression is wrong
					codes[rune(code)] = true
				}
			}
		}
		if len(codes) > 0 {
			found[name] = codes
		}
	}
	return found
}

// rawFile is the fonts of a file and its streams.
type rawFile struct {
	data    []byte
	fonts   map[string]string // the number of the table of a font, by its name
	streams map[string][]byte // by the number of the object, with the dictionary
	left    int               // bytes that may still be decompressed
}

// addObject adds an object with a number, or the objects in it.
func (f *rawFile) addObject(number string, body []byte) {
	head := body
	if at := streamStart.FindIndex(body); at != nil {
		head = body[:at[0]]
		f.streams[number] = body
	}
	f.addFont(head)
	if !bytes.Contains(head, []byte("/ObjStm")) {
		return
	}
	inside := f.inflate(body)
	if m := objectsFirst.FindSubmatch(head); m != nil {
		if first, err := strconv.Atoi(string(m[1])); err == nil && first <= len(inside) {
			for _, part := range bytes.SplitAfter(inside[first:], []byte(">>")) {
				f.addFont(part)
			}
		}
	}
}

// addFont adds the font that a dictionary describes, if it has a table.
func (f *rawFile) addFont(dictionary []byte) {
	name, table := fontName.FindSubmatch(dictionary), fontTable.FindSubmatch(dictionary)
	if name == nil || table == nil {
		return
	}
	if f.fonts == nil {
		f.fonts = map[string]string{}
	}
	f.fonts[string(name[1])] = string(table[1])
}

// inflate returns the bytes of a stream, none if it is compressed in another way.
func (f *rawFile) inflate(object []byte) []byte {
	at := streamStart.FindIndex(object)
	if at == nil || f.left <= 0 {
		return nil
	}
	head, content := object[:at[0]], object[at[1]:]
	if !bytes.Contains(head, []byte("/Filter")) {
		return content[:min(len(content), maxTable)]
	}
	if !bytes.Contains(head, []byte("/FlateDecode")) {
		return nil
	}
	r, err := zlib.NewReader(bytes.NewReader(content))
	if err != nil {
		return nil
	}
	out, _ := io.ReadAll(io.LimitReader(r, maxTable)) // a damaged stream keeps its beginning
	f.left -= len(out)
	return out
}

// withoutSilent returns the glyphs without the drawings whose text stands at another
// drawing of their cluster.
func (t textPage) withoutSilent(glyphs []glyph) ([]glyph, error) {
	silent, err := t.silent()
	if err != nil || len(silent) == 0 {
		return glyphs, err
	}
	doubtful := make([]bool, len(glyphs)) // the code of a silent drawing that pdfium takes for a character
	for i := range glyphs {
		if !glyphs[i].visible() {
			continue
		}
		name, _, err := t.fontInfo(glyphs[i].index)
		if err != nil {
			return nil, err
		}
		codes := silent[string(bytes.TrimRight(name, "\x00"))]
		if codes == nil {
			continue
		}
		if glyphs[i], err = t.spoken(glyphs[i], codes); err != nil {
			return nil, err
		}
		doubtful[i] = glyphs[i].word == "" && glyphs[i].char > lastLatin && codes[glyphs[i].char]
	}
	kept := make([]glyph, 0, len(glyphs))
	for i, g := range glyphs {
		// pdfium does not say of a character that it takes apart that it has no meaning.
		if g.char != 0 && (!doubtful[i] || !besideSilent(glyphs, i)) {
			kept = append(kept, g)
		}
	}
	return kept, nil
}

// besideSilent reports whether the glyph before or behind one, apart from spaces, has no
// character.
func besideSilent(glyphs []glyph, i int) bool {
	before, behind := i-1, i+1
	for before > 0 && glyphs[before].char == ' ' {
		before--
	}
	for behind+1 < len(glyphs) && glyphs[behind].char == ' ' {
		behind++
	}
	return before >= 0 && glyphs[before].char == 0 || behind < len(glyphs) && glyphs[behind].char == 0
}

// spoken returns a glyph without its characters that are silent codes, or with no character
// if all are.
func (t textPage) spoken(g glyph, codes map[rune]bool) (glyph, error) {
	chars := []rune(g.word)
	if g.word == "" {
		chars = []rune{g.char}
	}
	var rest []rune
	for i, char := range chars {
		if codes[char] {
			unknown, err := t.lib.call("FPDFText_HasUnicodeMapError", t.handle, uint64(g.index+i))
			if err != nil {
				return g, err
			}
			if unknown != 0 {
				g.unknown = g.unknown && i > 0
				continue
			}
		}
		rest = append(rest, char)
	}
	if len(rest) == 0 {
		return glyph{}, nil
	}
	if g.char = rest[0]; g.word != "" {
		g.word = string(rest)
	}
	return g, nil
}
