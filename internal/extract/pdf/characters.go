package pdf

import (
	"slices"
	"unicode"
	"unicode/utf16"
)

// lineHyphen is the character that pdfium returns for a hyphen at the end of a
// line. textHyphen stands for it in the text of a page.
const (
	lineHyphen = 0x02
	textHyphen = 0xfffe
)

// textPage reads the text of one page.
type textPage struct {
	lib    *library
	handle uint64
	frame  frame
	tags   *tags // nil if the file states no structure
	silent func() (silentCodes, error)
}

// characters returns the characters of the page by pdfium's index. The first
// half of a character of two UTF-16 units is 0.
func (t textPage) characters() ([]rune, error) {
	count, err := t.lib.number("FPDFText_CountChars", t.handle)
	if err != nil || count <= 0 {
		return nil, err
	}
	chars, err := t.lib.pageText(t.handle, count)
	if err != nil {
		return nil, err
	}
	if len(chars) != count || slices.ContainsFunc(chars, utf16.IsSurrogate) {
		// The text lacks some of the characters, so it does not show their index.
		if chars, err = t.oneByOne(count); err != nil {
			return nil, err
		}
	}
	joinSurrogates(chars)
	return chars, nil
}

func (t textPage) oneByOne(count int) ([]rune, error) {
	chars := make([]rune, count)
	for i := range chars {
		code, err := t.lib.run(t.lib.unicode, t.handle, uint64(i))
		if err != nil {
			return nil, err
		}
		chars[i] = rune(uint32(code))
	}
	return chars, nil
}

func joinSurrogates(chars []rune) {
	for i, char := range chars {
		if !utf16.IsSurrogate(char) {
			continue
		}
		chars[i] = 0
		if i+1 < len(chars) {
			if pair := utf16.DecodeRune(char, chars[i+1]); pair != unicode.ReplacementChar {
				chars[i+1] = pair
			}
		}
	}
}

// pageText returns the first count characters of a page of text in one call. It
// returns fewer if some are not part of pdfium's text of the page.
func (l *library) pageText(page uint64, count int) ([]rune, error) {
	if need := 2 * (count + 1); need > l.textBytes {
		if err := l.growText(2 * need); err != nil || l.textBytes == 0 {
			return nil, err
		}
	}
	n, err := l.number("FPDFText_GetText", page, 0, uint64(count), l.text)
	if err != nil {
		return nil, err
	}
	data, _ := l.module.Memory().Read(uint32(l.text), uint32(2*max(0, min(n-1, count)))) // n counts a zero at the end; the range is within the allocated space
	chars := make([]rune, len(data)/2)
	for i := range chars {
		chars[i] = rune(data[2*i]) | rune(data[2*i+1])<<8
		if chars[i] == textHyphen {
			chars[i] = lineHyphen
		}
	}
	return chars, nil
}

// growText allocates new space for the text of a page. textBytes is 0 if pdfium
// has no room for it.
func (l *library) growText(size int) error {
	old := l.text
	l.text, l.textBytes = 0, 0
	if _, err := l.call("free", old); err != nil {
		return err
	}
	pointer, err := l.call("malloc", uint64(size))
	if pointer != 0 {
		l.text, l.textBytes = pointer, size
	}
	return err
}
