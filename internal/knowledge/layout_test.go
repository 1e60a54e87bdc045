package knowledge_test

import (
	"testing"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

func TestHeaderWithinEndsAtACell(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		header string
		most   int
		want   string
	}{
		{"name | price", 12, "name | price"},
		{"name | price", 11, "name"},
		{"name | price", 4, "name"},
		{"name | price", 3, ""},
		{"größe | preis", 5, "größe"},
		{"größe | preis | ort", 13, "größe | preis"},
		{"one cell", 3, ""},
		{"", 0, ""},
	} {
		if got := knowledge.HeaderWithin(tc.header, tc.most); got != tc.want {
			t.Errorf("%q within %d is %q, want %q", tc.header, tc.most, got, tc.want)
		}
	}
}

func TestPartOfALine(t *testing.T) {
	t.Parallel()
	line := knowledge.Line{Start: 10, End: 20, Box: knowledge.Box{X1: 0, Y1: 1, X2: 110, Y2: 2}}
	hyphenated := line
	hyphenated.Hyphen = true
	for _, tc := range []struct {
		behaviour  string
		line       knowledge.Line
		start, end int
		x1, x2     float64
	}{
		{"the whole line has its box", line, 10, 20, 0, 110},
		{"the middle has its share", line, 12, 15, 22, 55},
		{"a hyphen takes the room of a character", hyphenated, 12, 15, 20, 50},
		{"the end holds the hyphen", hyphenated, 19, 20, 90, 110},
	} {
		want := knowledge.Box{X1: tc.x1, Y1: 1, X2: tc.x2, Y2: 2}
		if got := tc.line.Part(tc.start, tc.end); got != want {
			t.Errorf("%s: %v, want %v", tc.behaviour, got, want)
		}
	}
}
