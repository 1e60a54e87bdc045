package ooxml

import (
	"strconv"
	"strings"
)

// symbol returns the character of a symbol font, "" for one that is not known. Such
// fonts have their signs at private code points.
func symbol(font, code string) string {
	n, err := strconv.ParseUint(code, 16, 32)
	if err != nil {
		return ""
	}
	r := rune(n)
	if r < 0xf000 || r > 0xf0ff {
		return string(r)
	}
	r -= 0xf000
	switch {
	case strings.EqualFold(font, "Symbol"):
		return greek(r)
	case strings.HasPrefix(font, "Wingdings"), strings.HasPrefix(font, "Webdings"):
		return wingdings[r]
	case r >= ' ':
		return string(r)
	}
	return ""
}

// greek returns a character of the font Symbol.
func greek(r rune) string {
	const (
		capitals = "ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ" // from A to Z
		small    = "αβχδεφγηιϕκλμνοπθρστυϖωξψζ" // from a to z
	)
	switch {
	case r >= 'A' && r <= 'Z':
		return string([]rune(capitals)[r-'A'])
	case r >= 'a' && r <= 'z':
		return string([]rune(small)[r-'a'])
	case symbols[r] != "":
		return symbols[r]
	case r >= ' ' && r < 0x7f:
		return string(r)
	}
	return ""
}

// symbols are the signs of the font Symbol that are neither letters nor in ASCII.
var symbols = map[rune]string{
	'"': "∀", '$': "∃", '\'': "∋", '*': "∗", '-': "−", '@': "≅", '\\': "∴", '^': "⊥", '~': "∼",
	0xa2: "′", 0xa3: "≤", 0xa4: "⁄", 0xa5: "∞", 0xab: "↔", 0xac: "←", 0xad: "↑", 0xae: "→", 0xaf: "↓",
	0xb0: "°", 0xb1: "±", 0xb2: "″", 0xb3: "≥", 0xb4: "×", 0xb5: "∝", 0xb6: "∂", 0xb7: "•", 0xb8: "÷", 0xb9: "≠",
	0xba: "≡", 0xbb: "≈", 0xbc: "…", 0xc5: "⊕", 0xc6: "∅", 0xc7: "∩", 0xc8: "∪", 0xcc: "⊂", 0xce: "∈", 0xcf: "∉",
	0xd1: "∇", 0xd2: "®", 0xd3: "©", 0xd4: "™", 0xd5: "∏", 0xd6: "√", 0xd8: "¬", 0xd9: "∧", 0xda: "∨", 0xde: "⇒",
	0xe5: "∑", 0xf2: "∫",
}

// wingdings are the signs of the font Wingdings that mean something in a text.
var wingdings = map[rune]string{
	0x6c: "●", 0x6e: "■", 0x6f: "☐", 0x71: "☐", 0x72: "☐", 0xa8: "☐", 0xa7: "▪", 0x76: "❖", 0xfb: "✗", 0xfc: "✓", 0xfd: "☒", 0xfe: "☑",
	0x28: "☎", 0x2a: "✉", 0x4a: "☺", 0x4c: "☹", 0xdf: "←", 0xe0: "→", 0xe1: "↑", 0xe2: "↓", 0xe8: "➔", 0xf0: "⇨", 0xd8: "➢",
}
