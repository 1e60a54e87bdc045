package chunk_test

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/clipperhouse/uax29/v2/graphemes"
	"github.com/google/go-cmp/cmp"
	"github.com/tiktoken-go/tokenizer"

	"github.com/cairn-rag/cairn/internal/chunk"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

var ref = knowledge.VersionRef{Workspace: "w", Project: "p", Document: "d", Version: 1}

func split(t testing.TB, layout knowledge.Layout, s knowledge.Splitter) []knowledge.Chunk {
	t.Helper()
	return splitInput(t, chunk.Input{Layout: layout, Splitter: s})
}

// splitInput completes an input, cuts it and checks the chunks.
func splitInput(t testing.TB, in chunk.Input) []knowledge.Chunk {
	t.Helper()
	in.Ref, in.Embed = ref, embedWords
	if in.Name == "" {
		in.Name = longName
	}
	chunks, err := chunk.Split(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	check(t, in, chunks)
	return chunks
}

// embedWords returns vectors that count the words of a text, by their hash.
func embedWords(_ context.Context, texts []string) ([][]float32, error) {
	vectors := make([][]float32, len(texts))
	for i, text := range texts {
		if text == "" {
			return nil, errors.New("a text without characters")
		}
		vectors[i] = make([]float32, 64)
		for _, word := range strings.Fields(text) {
			h := fnv.New32a()
			h.Write([]byte(word))
			vectors[i][h.Sum32()%64]++
		}
	}
	return vectors, nil
}

// strategies are all strategies.
var strategies = []string{"structure", "fixed", "sliding", "semantic", "hierarchical", "dynamic"}

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
	if more := utf8.RuneCountInString(embedded) - utf8.RuneCountInString(c.Text); more > in.Splitter.WithDefaults().ChunkSize/2+400+4 {
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

var longName = strings.Repeat("é", 512)

func paragraph(text string) knowledge.Block {
	return knowledge.Block{Kind: knowledge.BlockParagraph, Text: text}
}

func heading(level int, text string) knowledge.Block {
	return knowledge.Block{Kind: knowledge.BlockHeading, Level: level, Text: text}
}

func TestStructure(t *testing.T) {
	t.Parallel()
	sentence := "This sentence has exactly fifty characters in it. "

	t.Run("small neighbours under one heading share a chunk and headings part them", func(t *testing.T) {
		t.Parallel()
		layout := knowledge.Layout{Blocks: []knowledge.Block{
			heading(1, "Leave"), paragraph(strings.Repeat(sentence, 3)), paragraph(strings.Repeat(sentence, 3)),
			heading(2, "Remote work"), paragraph(strings.Repeat(sentence, 3)),
		}}
		chunks := split(t, layout, knowledge.Splitter{})
		if len(chunks) != 2 {
			t.Fatalf("%d chunks", len(chunks))
		}
		if diff := cmp.Diff([]string{"Leave", "Remote work"}, chunks[1].HeadingPath); diff != "" {
			t.Error(diff)
		}
	})

	t.Run("merged sections have the headings that they share", func(t *testing.T) {
		t.Parallel()
		layout := knowledge.Layout{Blocks: []knowledge.Block{
			heading(1, "Handbook"), heading(2, "Leave"), paragraph("Thirty days."), heading(2, "Tea"), paragraph("At four."),
			paragraph(strings.Repeat(sentence, 20)),
		}}
		var got [][]string
		for _, c := range split(t, layout, knowledge.Splitter{}) {
			got = append(got, c.HeadingPath)
		}
		if diff := cmp.Diff([][]string{{"Handbook"}, {"Handbook", "Tea"}}, got); diff != "" {
			t.Error(diff)
		}
	})

	t.Run("a long paragraph is cut between sentences", func(t *testing.T) {
		t.Parallel()
		text := strings.TrimSpace(strings.Repeat("Dr. Smith paid 3.14 francs, e.g. for tea. It was fine! ", 40))
		for _, c := range split(t, knowledge.Layout{Blocks: []knowledge.Block{paragraph(text)}}, knowledge.Splitter{ChunkSize: 300, ChunkOverlap: new(60)}) {
			if !strings.HasPrefix(c.Text, "Dr.") && !strings.HasPrefix(c.Text, "It was") || !strings.HasSuffix(c.Text, "tea.") && !strings.HasSuffix(c.Text, "fine!") {
				t.Errorf("cut inside a sentence: %q … %q", c.Text[:10], c.Text[len(c.Text)-10:])
			}
		}
	})

	t.Run("rows of a table stay whole and continuing chunks carry its header", func(t *testing.T) {
		t.Parallel()
		var rows strings.Builder
		rows.WriteString("name | price")
		for i := range 60 {
			fmt.Fprintf(&rows, "\nitem number %d | %d francs", i, i*10)
		}
		table := knowledge.Block{Kind: knowledge.BlockTable, Text: rows.String(), Header: "name | price"}
		chunks := splitInput(t, chunk.Input{Name: "Prices", Layout: knowledge.Layout{Blocks: []knowledge.Block{table}}, Splitter: knowledge.Splitter{ChunkSize: 400, ChunkOverlap: new(50)}})
		for i, c := range chunks {
			if i == 0 != (c.Header == "") || !strings.HasSuffix(c.Text, "francs") {
				t.Errorf("chunk %d: header %q, ends %q", i, c.Header, c.Text[len(c.Text)-10:])
			}
		}
		if text := chunk.EmbeddingText(chunks[1]); !strings.HasPrefix(text, "Prices\nname | price\nitem") {
			t.Errorf("embedded as %q", text[:40])
		}
	})

	t.Run("the first chunk of a table whose header begins with an empty cell shows it once", func(t *testing.T) {
		t.Parallel()
		table := knowledge.Block{Kind: knowledge.BlockTable, Text: " | North | South\nTea | 1 | 2", Header: " | North | South"}
		for _, c := range split(t, knowledge.Layout{Blocks: []knowledge.Block{table}}, knowledge.Splitter{}) {
			if c.Header != "" {
				t.Errorf("header %q of a chunk %q", c.Header, c.Text)
			}
		}
	})

	t.Run("a header wider than a quarter of a chunk is cut at a cell", func(t *testing.T) {
		t.Parallel()
		columns := func(name string) string { return strings.TrimSuffix(strings.Repeat(name+" | ", 200), " | ") }
		header := columns("column")
		table := knowledge.Block{Kind: knowledge.BlockTable, Header: header, Text: header + strings.Repeat("\n"+columns("value"), 50)}
		total := 0
		chunks := split(t, knowledge.Layout{Blocks: []knowledge.Block{table}}, knowledge.Splitter{ChunkSize: 400, ChunkOverlap: new(50)})
		for i, c := range chunks {
			if strings.HasPrefix(c.Text, "value") && (c.Header == "" || len(c.Header) > 100 || !strings.HasSuffix(c.Header, "column")) {
				t.Errorf("chunk %d has header %q", i, c.Header)
			}
			total += len(chunk.EmbeddingText(c)) - len(c.Title)
		}
		if total > 2*len(table.Text) {
			t.Errorf("%d bytes are embedded of a table of %d", total, len(table.Text))
		}
		table.Header = strings.Repeat("x", 5000)
		if chunks := split(t, knowledge.Layout{Blocks: []knowledge.Block{table}}, knowledge.Splitter{}); chunks[1].Header != "" {
			t.Errorf("a header of one long cell is kept: %q", chunks[1].Header)
		}
	})

	t.Run("a heading path longer than a quarter of a chunk loses the ends of its longest headings", func(t *testing.T) {
		t.Parallel()
		layout := knowledge.Layout{Blocks: []knowledge.Block{
			heading(1, "Handbook"), heading(2, strings.Repeat("long ", 30)), heading(3, strings.Repeat("wide ", 30)), heading(4, "Tea"), paragraph("Text."),
		}}
		chunks := split(t, layout, knowledge.Splitter{ChunkSize: 400})
		want := []string{"Handbook", "long long long long long long long long", "wide wide wide wide wide wide wide wide", "Tea"}
		if diff := cmp.Diff(want, chunks[len(chunks)-1].HeadingPath); diff != "" {
			t.Error(diff)
		}
	})

	t.Run("lines are counted from the chunk and cut to it", func(t *testing.T) {
		t.Parallel()
		block := paragraph(strings.Repeat("0123456789", 30))
		block.Lines = []knowledge.Line{
			{Start: 0, End: 150, Page: 1, Box: knowledge.Box{X1: 0, Y1: 0, X2: 150, Y2: 10}},
			{Start: 150, End: 300, Page: 2, Box: knowledge.Box{X1: 0, Y1: 0, X2: 150, Y2: 10}},
		}
		layout := knowledge.Layout{Blocks: []knowledge.Block{block}, Pages: []knowledge.PageSize{{Page: 1, Width: 9, Height: 9}, {Page: 2, Width: 8, Height: 8}}}
		chunks := split(t, layout, knowledge.Splitter{Strategy: "fixed", ChunkSize: 200, ChunkOverlap: new(0)})
		want := []knowledge.Line{
			{Start: 0, End: 150, Page: 1, Box: knowledge.Box{X2: 150, Y2: 10}},
			{Start: 150, End: 200, Page: 2, Box: knowledge.Box{X2: 50, Y2: 10}},
		}
		if diff := cmp.Diff(want, chunks[0].Lines); diff != "" || len(chunks[0].Pages) != 2 {
			t.Errorf("%d pages, %s", len(chunks[0].Pages), diff)
		}
	})

	t.Run("white space as long as a chunk does not make duplicate chunks", func(t *testing.T) {
		t.Parallel()
		text := "Begin." + strings.Repeat(" ", 250) + "X" + strings.Repeat("y", 20) + strings.Repeat(" ", 250) + "End"
		for _, strategy := range strategies {
			split(t, knowledge.Layout{Blocks: []knowledge.Block{paragraph(text)}}, knowledge.Splitter{Strategy: strategy, ChunkSize: 230, ChunkOverlap: new(110)})
		}
	})

	t.Run("a hyphen is kept with the end of its line", func(t *testing.T) {
		t.Parallel()
		block := paragraph(strings.Repeat("0123456789", 30))
		block.Lines = []knowledge.Line{{Start: 0, End: 150, Page: 1, Hyphen: true}, {Start: 150, End: 250, Page: 1, Hyphen: true}, {Start: 250, End: 300, Page: 1}}
		var got []bool
		for _, c := range split(t, knowledge.Layout{Blocks: []knowledge.Block{block}}, knowledge.Splitter{Strategy: "fixed", ChunkSize: 200, ChunkOverlap: new(0)}) {
			for _, l := range c.Lines {
				got = append(got, l.Hyphen)
			}
		}
		if diff := cmp.Diff([]bool{true, false, true, false}, got); diff != "" {
			t.Error(diff)
		}
	})

	t.Run("a layout without text has no chunks", func(t *testing.T) {
		t.Parallel()
		if chunks := split(t, knowledge.Layout{Blocks: []knowledge.Block{paragraph(" \n ")}}, knowledge.Splitter{}); len(chunks) != 0 {
			t.Errorf("%d chunks", len(chunks))
		}
	})

	t.Run("a splitter out of range is refused", func(t *testing.T) {
		t.Parallel()
		for _, s := range []knowledge.Splitter{{ChunkSize: 50}, {ChunkSize: 200, ChunkOverlap: new(100)}, {Strategy: "magic"}} {
			if _, err := chunk.Split(t.Context(), chunk.Input{Splitter: s, Ref: ref}); !knowledge.IsCode(err, knowledge.CodeInvalid) {
				t.Errorf("%+v: error %v", s, err)
			}
		}
	})
}

// FuzzSpans checks the promises of Split for any text in any blocks.
func FuzzSpans(f *testing.F) {
	f.Add("# A\n\nSome text. More of it!\n\na | b\nc | d", uint16(100), uint16(10), uint8(3), uint16(0))
	f.Add(strings.Repeat("word ", 300), uint16(120), uint16(50), uint8(1), uint16(30))
	f.Add(strings.Repeat("日本語。", 100)+"\n\n"+strings.Repeat("x", 500), uint16(101), uint16(49), uint8(7), uint16(5))
	f.Add(strings.Repeat("e\u0301\U0001f469\u200d\U0001f467\U0001f1e9\U0001f1ea", 100)+"\n\n"+strings.Repeat("a\nb c\n", 50), uint16(0), uint16(49), uint8(9), uint16(0))
	all := []knowledge.BlockKind{
		knowledge.BlockParagraph, knowledge.BlockHeading, knowledge.BlockTable, knowledge.BlockCode, knowledge.BlockList,
		knowledge.BlockCaption, knowledge.BlockFigure, knowledge.BlockFooter, knowledge.BlockTitle,
	}
	f.Fuzz(func(t *testing.T, text string, size, overlap uint16, kinds uint8, maxTokens uint16) {
		var layout knowledge.Layout
		for i, part := range strings.Split(strings.ToValidUTF8(text, "?"), "\n\n") {
			layout.Blocks = append(layout.Blocks, knowledge.Block{
				Kind: all[(i*int(kinds)+int(kinds))%len(all)], Level: i%6 + 1, Text: part, Header: strings.SplitN(part, "\n", 2)[0],
				Figure: fmt.Sprint(i), Sheet: knowledge.Sheet{Name: "S", Columns: i, Rows: []int{i + 1, i + 2}},
			})
		}
		s := knowledge.Splitter{ChunkSize: 100 + int(size)%2000, Strategy: strategies[int(kinds)%len(strategies)]}
		if kinds > 200 {
			s.Separators = []string{". ", "a", "\u0301"}
		}
		s.ChunkOverlap = new(int(overlap) % (s.ChunkSize / 2))
		if *s.ChunkOverlap*2 >= s.ChunkSize {
			t.Skip("not a splitter")
		}
		in := chunk.Input{Layout: layout, Splitter: s}
		if maxTokens > 0 {
			in.MaxTokens = chunk.MinTokens + int(maxTokens)
		}
		splitInput(t, in)
	})
}

func BenchmarkSplit(b *testing.B) {
	text := strings.Repeat("This sentence has exactly fifty characters in it. ", 400_000)
	for _, strategy := range strategies {
		b.Run(strategy, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				if _, err := chunk.Split(b.Context(), chunk.Input{
					Layout: knowledge.Layout{Blocks: []knowledge.Block{paragraph(text)}}, Splitter: knowledge.Splitter{Strategy: strategy},
					Ref: ref, MaxTokens: 8191, Embed: func(_ context.Context, texts []string) ([][]float32, error) {
						return make([][]float32, len(texts)), nil
					},
				}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
