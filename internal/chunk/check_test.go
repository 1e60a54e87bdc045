package chunk_test

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/clipperhouse/uax29/v2/graphemes"
	"github.com/tiktoken-go/tokenizer"

	"github.com/cairn-rag/cairn/internal/chunk"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// check fails unless the chunks have the properties that Split promises for
// every splitter.
func check(t testing.TB, in chunk.Input, chunks []knowledge.Chunk) {
	t.Helper()
	s := in.Splitter.WithDefaults()
	text := []rune(chunk.Text(in.Layout))
	covered := make([]bool, len(text))
	for i, c := range chunks {
		if c.Span.Start < 0 || c.Span.End > len(text) || c.Text != string(text[c.Span.Start:c.Span.End]) {
			t.Fatalf("chunk %d is not the text at its span %v", i, c.Span)
		}
		if n := utf8.RuneCountInString(c.Text); n > s.ChunkSize || strings.TrimSpace(c.Text) == "" {
			t.Fatalf("chunk %d has %d characters of at most %d", i, n, s.ChunkSize)
		}
		checkEmbedded(t, in, i, c)
		if c.Ordinal != i || c.ID != knowledge.ChunkID("d", 1, i) {
			t.Fatalf("chunk %d has ordinal %d", i, c.Ordinal)
		}
		if i > 0 && c.Span.Start <= chunks[i-1].Span.Start {
			t.Fatalf("chunk %d begins before the one before it", i)
		}
		if i > 0 && chunks[i-1].Span.End-c.Span.Start > *s.ChunkOverlap {
			t.Fatalf("chunks %d and %d overlap by %d", i-1, i, chunks[i-1].Span.End-c.Span.Start)
		}
		if i > 0 && c.Span.End <= chunks[i-1].Span.End {
			t.Fatalf("chunk %d ends before the one before it", i)
		}
		for j := c.Span.Start; j < c.Span.End; j++ {
			covered[j] = true
		}
		for _, l := range c.Lines {
			if l.Start < 0 || l.Start >= l.End || l.End > utf8.RuneCountInString(c.Text) {
				t.Fatalf("chunk %d has a line %d-%d", i, l.Start, l.End)
			}
		}
	}
	for i, r := range text {
		if !covered[i] && !unicode.IsSpace(r) {
			t.Fatalf("character %d (%q) is in no chunk", i, r)
		}
	}
	checkParents(t, in, text, chunks)
	checkBlocks(t, in, text, chunks)
	checkClusters(t, in, text, chunks)
}

// checkEmbedded fails if the embedding text of a chunk is too long.
func checkEmbedded(t testing.TB, in chunk.Input, i int, c knowledge.Chunk) {
	t.Helper()
	embedded := chunk.EmbeddingText(c)
	if more := utf8.RuneCountInString(embedded) - utf8.RuneCountInString(c.Text); more > in.Splitter.WithDefaults().ChunkSize*5/4+400+4 {
		t.Fatalf("chunk %d is embedded with %d characters more than its text", i, more)
	}
	if in.MaxTokens == 0 {
		return
	}
	if n := tokens(t, embedded); n > in.MaxTokens {
		t.Fatalf("chunk %d is embedded with %d tokens of at most %d", i, n, in.MaxTokens)
	}
}

// checkParents fails unless a parent is the text of its children one after another,
// apart from white space, and at most as long as a chunk.
func checkParents(t testing.TB, in chunk.Input, text []rune, chunks []knowledge.Chunk) {
	t.Helper()
	children := map[knowledge.Span][]knowledge.Chunk{}
	for i, c := range chunks {
		if c.Parent == (knowledge.Span{}) {
			continue
		}
		if c.Span.Start < c.Parent.Start || c.Span.End > c.Parent.End || c.Parent.End-c.Parent.Start > in.Splitter.WithDefaults().ChunkSize {
			t.Fatalf("chunk %d at %v has the parent %v", i, c.Span, c.Parent)
		}
		children[c.Parent] = append(children[c.Parent], c)
	}
	for parent, siblings := range children {
		place := parent.Start
		for _, c := range siblings {
			if c.Span.Start < place || strings.TrimSpace(string(text[place:c.Span.Start])) != "" || in.MaxTokens == 0 && c.Span.Start > place {
				t.Fatalf("the parent %v has a child at %v after %d", parent, c.Span, place)
			}
			place = c.Span.End
		}
		if len(siblings) < 2 || place != parent.End {
			t.Fatalf("the parent %v has %d children, up to %d", parent, len(siblings), place)
		}
	}
}

// checkBlocks fails if a chunk begins or ends inside a row or line of code that fits
// into a chunk, or goes over a heading with more than a tiny text before it.
func checkBlocks(t testing.TB, in chunk.Input, text []rune, chunks []knowledge.Chunk) {
	t.Helper()
	size := in.Splitter.WithDefaults().ChunkSize
	cuts := map[int]bool{}
	for _, c := range chunks {
		cuts[c.Span.Start], cuts[c.Span.End] = true, true
	}
	at := 0
	for _, b := range in.Layout.Blocks {
		if b.Text == "" || b.Kind.IsFurniture() {
			continue
		}
		start := at
		at += utf8.RuneCountInString(b.Text) + 2
		if b.Kind == knowledge.BlockHeading {
			for i, c := range chunks {
				if c.Span.Start < start && start < c.Span.End && start-2-c.Span.Start >= size/4 {
					t.Fatalf("chunk %d at %v goes over the heading at %d", i, c.Span, start)
				}
			}
		}
		if b.Kind != knowledge.BlockTable && b.Kind != knowledge.BlockCode || in.MaxTokens > 0 {
			continue
		}
		for line := range strings.Lines(b.Text) {
			end := start + utf8.RuneCountInString(line)
			row := trim(text, knowledge.Span{Start: start, End: end})
			for place := row.Start + 1; end-start <= size && place < row.End; place++ {
				if cuts[place] {
					t.Fatalf("a chunk begins or ends at %d, within the row %q", place, line)
				}
			}
			start = end
		}
	}
}

// checkClusters fails if a chunk begins or ends inside a grapheme cluster of at most
// 32 characters.
func checkClusters(t testing.TB, in chunk.Input, text []rune, chunks []knowledge.Chunk) {
	t.Helper()
	cuts := map[int]bool{}
	for _, c := range chunks {
		cuts[c.Span.Start], cuts[c.Span.End] = true, true
	}
	at := 0
	clusters := graphemes.FromString(chunk.Text(in.Layout))
	for clusters.Next() {
		n := utf8.RuneCountInString(clusters.Value())
		for place := at + 1; n <= 32 && place < at+n; place++ {
			// White space is trimmed, whatever mark is on it.
			if cuts[place] && !unicode.IsSpace(text[place-1]) {
				t.Fatalf("a chunk begins or ends at %d, within %q", place, clusters.Value())
			}
		}
		at += n
	}
}

func trim(text []rune, s knowledge.Span) knowledge.Span {
	for s.Start < s.End && unicode.IsSpace(text[s.Start]) {
		s.Start++
	}
	for s.End > s.Start && unicode.IsSpace(text[s.End-1]) {
		s.End--
	}
	return s
}

func tokens(t testing.TB, text string) int {
	t.Helper()
	codec, err := tokenizer.Get(tokenizer.Cl100kBase)
	if err != nil {
		t.Fatal(err)
	}
	n, err := codec.Count(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}
