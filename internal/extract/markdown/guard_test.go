package markdown_test

import (
	"strings"
	"testing"
	"time"

	"github.com/cairn-rag/cairn/internal/extract/markdown"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/google/go-cmp/cmp"
)

// timeLimit is the time limit for a hostile text: without bounds each of them
// takes minutes, with bounds less than a second.
const timeLimit = 20 * time.Second

func TestHostileTextsEnd(t *testing.T) {
	t.Parallel()
	const size = 1 << 20
	fill := func(s string) string { return strings.Repeat(s, size/len(s)) }
	columns := size / 6
	for behaviour, text := range map[string]string{
		"numbered lists in each other":        fill("1) "),
		"lists of three kinds in each other":  fill("+ - * "),
		"quotes in each other":                fill("> "),
		"quotes in each other, with tabs":     fill(">\t"),
		"quotes and lists in each other":      fill("> - "),
		"emphasis that does not match":        fill("*a_ "),
		"emphasis that closes what none open": fill("_a ") + fill("a* "),
		"emphasis of two lengths":             fill("*a **b "),
		"emphasis in emphasis":                strings.Repeat("**a ", size/8) + strings.Repeat("b** ", size/8),
		"emphasis without an end in lines":    fill("**a\n"),
		"brackets that open":                  fill("["),
		"brackets in brackets":                strings.Repeat("[", size/2) + strings.Repeat("]", size/2),
		"links without an end":                fill("[a]("),
		"links without the end of an address": fill("[a](<b"),
		"pictures in each other":              strings.Repeat("![", size/12) + "a" + strings.Repeat("](b)", size/12),
		"brackets around much":                strings.Repeat("[", 900) + fill("*a* ") + strings.Repeat("]", 900),
		"definitions of links":                fill("[a]: b\n"),
		"definitions without an end":          fill("[a]:\n("),
		"uses of links that are not there":    fill("[abc]\n"),
		"code without an end":                 ticks(size),
		"a table wider than its rows":         strings.Repeat("a|", columns) + "\n" + strings.Repeat("-|", columns) + "\n" + strings.Repeat("x\n", columns),
		"bars in code in a table":             "a|b\n-|-\n" + fill("`a\\|b`|c\n"),
	} {
		t.Run(behaviour, func(t *testing.T) {
			t.Parallel()
			var size int
			within(t, func() {
				_, blocks := markdown.Read(text)
				for _, b := range blocks {
					size += len(b.Text) + len(b.Header)
				}
			})
			if size > 4*len(text) {
				t.Errorf("%d bytes of text became %d", len(text), size)
			}
		})
	}
}

// ticks returns runs of backticks, each longer than the one before, so that
// none closes another.
func ticks(size int) string {
	var b strings.Builder
	for n := 1; b.Len() < size; n++ {
		b.WriteString(strings.Repeat("`", n) + "a")
	}
	return b.String()
}

func within(t *testing.T, do func()) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		do()
	}()
	select {
	case <-done:
	case <-time.After(timeLimit):
		t.Fatalf("no end after %s", timeLimit)
	}
}

func TestMarksBeyondTheLimitsStayText(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		behaviour, in, want string
	}{
		{"a quote too deep keeps its marks", strings.Repeat(">", 70) + " a", strings.Repeat(">", 6) + " a"},
		{"a list too deep keeps its marks", strings.Repeat("- ", 66) + "a", strings.Repeat(" ", 126) + "- - - a"},
		{"a table of more cells than text stays text", strings.Repeat("a|", 100) + "\n" + strings.Repeat("-|", 100) + strings.Repeat("\nx", 50),
			strings.Repeat("a|", 100) + " " + strings.Repeat("-|", 100) + strings.Repeat(" x", 50)},
	} {
		t.Run(tc.behaviour, func(t *testing.T) {
			t.Parallel()
			_, blocks := markdown.Read(tc.in)
			if len(blocks) != 1 {
				t.Fatalf("%d blocks", len(blocks))
			}
			if diff := cmp.Diff(tc.want, blocks[0].Text); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestLongRealTextsAreReadCompletely(t *testing.T) {
	t.Parallel()
	paragraph := strings.Repeat("A **bold** word, _another_, ~~a third~~, `code` and a [link](http://example.com \"t\") or [two][ref]. ", 200)
	text := strings.Repeat(paragraph+"\n\n", 20) + strings.Repeat("[ref]: http://example.com\n", 500)
	_, blocks := markdown.Read(text)
	want := strings.TrimSpace(strings.Repeat("A bold word, another, a third, code and a link or two. ", 200))
	for i, b := range blocks {
		if diff := cmp.Diff(want, b.Text); diff != "" {
			t.Fatalf("block %d: %s", i, diff)
		}
	}
	if len(blocks) != 20 {
		t.Errorf("%d blocks", len(blocks))
	}
}

func TestABarInCodeInATable(t *testing.T) {
	t.Parallel()
	_, blocks := markdown.Read("a | b\n--|--\n`x \\| y` | z \\| w\n")
	want := []knowledge.Block{{
		Kind: knowledge.BlockTable, Header: "| a | b |\n| --- | --- |", Text: "| a | b |\n| --- | --- |\n| x \\| y | z \\| w |",
		Cells: []knowledge.Cell{{Text: "a"}, {Column: 1, Text: "b"}, {Row: 1, Text: "x | y"}, {Row: 1, Column: 1, Text: "z | w"}},
	}}
	if diff := cmp.Diff(want, blocks, withoutOrigin); diff != "" {
		t.Error(diff)
	}
}
