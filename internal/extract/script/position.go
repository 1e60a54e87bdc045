package script

import (
	"strings"
	"unicode/utf8"
)

// Position is where a text stands on its line.
type Position int

// The positions of a text.
const (
	OnLine  Position = iota
	Raised           // as an exponent is
	Lowered          // as an index is
)

// maxScript is the length in code points of a raised or lowered text. A longer one is
// small text.
const maxScript = 40

// Write returns a text at a position. It stays as it is if it is long, or a mark of a note
// in square brackets, which cannot be read as a part of the word before it.
func Write(at Position, text string) string {
	trimmed := strings.TrimSpace(text)
	isMark := strings.HasPrefix(trimmed, "[") && strings.HasSuffix(trimmed, "]")
	if at == OnLine || isMark || strings.HasPrefix(trimmed, "^") || utf8.RuneCountInString(trimmed) > maxScript {
		return text
	}
	if at == Lowered {
		return Sub(text)
	}
	return Super(text)
}
