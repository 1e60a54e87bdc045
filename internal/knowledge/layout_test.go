package knowledge_test

import (
	"testing"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

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
