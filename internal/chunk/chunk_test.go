package chunk_test

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

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

	t.Run("a heading is not alone before a block that does not fit below it", func(t *testing.T) {
		t.Parallel()
		row := strings.Repeat("a cell | ", 5)
		for name, below := range map[string]knowledge.Block{
			"a long paragraph":                  paragraph(strings.Repeat(sentence, 30)),
			"a paragraph that would fit alone":  paragraph(strings.Repeat(sentence, 8)[:395]),
			"a sentence longer than a chunk":    paragraph(strings.Repeat("and on ", 100)),
			"a long table":                      {Kind: knowledge.BlockTable, Text: strings.TrimSuffix(strings.Repeat(row+"\n", 40), "\n")},
			"a long list":                       {Kind: knowledge.BlockList, Text: strings.TrimSuffix(strings.Repeat("- an item\n", 90), "\n")},
			"a line of code longer than a half": {Kind: knowledge.BlockCode, Text: strings.Repeat("x", 250) + "\n" + strings.Repeat("y", 250)},
		} {
			for _, separators := range [][]string{nil, {"\n", ". "}} {
				layout := knowledge.Layout{Blocks: []knowledge.Block{
					paragraph(strings.Repeat(sentence, 3)), heading(1, "Leave"), heading(2, "Remote work"), below,
				}}
				chunks := split(t, layout, knowledge.Splitter{ChunkSize: 400, ChunkOverlap: new(40), Separators: separators})
				if i := slices.IndexFunc(chunks, func(c knowledge.Chunk) bool { return strings.Contains(c.Text, "Remote work") }); strings.HasSuffix(chunks[i].Text, "Remote work") {
					t.Errorf("%s: %q", name, texts(chunks))
				}
			}
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

func TestCutTables(t *testing.T) {
	t.Parallel()

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

	t.Run("each part of a wide table names all columns", func(t *testing.T) {
		t.Parallel()
		var names, values []string
		for i := range 40 {
			names, values = append(names, fmt.Sprint("Value ", i)), append(values, fmt.Sprint(i*1000))
		}
		header := knowledge.TableHeader(names, len(names))
		table := knowledge.Block{Kind: knowledge.BlockTable, Header: header, Text: header + strings.Repeat("\n"+knowledge.TableRow(values), 20)}
		for i, c := range split(t, knowledge.Layout{Blocks: []knowledge.Block{table}}, knowledge.Splitter{}) {
			if i > 0 && c.Header != header {
				t.Errorf("chunk %d has header %q", i, c.Header)
			}
		}
	})

	t.Run("a header longer than a chunk is cut at a cell", func(t *testing.T) {
		t.Parallel()
		columns := func(name string) string { return strings.TrimSuffix(strings.Repeat(name+" | ", 200), " | ") }
		header := columns("column")
		table := knowledge.Block{Kind: knowledge.BlockTable, Header: header, Text: header + strings.Repeat("\n"+columns("value"), 50)}
		total := 0
		chunks := split(t, knowledge.Layout{Blocks: []knowledge.Block{table}}, knowledge.Splitter{ChunkSize: 400, ChunkOverlap: new(50)})
		for i, c := range chunks {
			if strings.HasPrefix(c.Text, "value") && (c.Header == "" || len(c.Header) > 400 || !strings.HasSuffix(c.Header, "column")) {
				t.Errorf("chunk %d has header %q", i, c.Header)
			}
			total += len(chunk.EmbeddingText(c)) - len(c.Title)
		}
		if total > 3*len(table.Text) {
			t.Errorf("%d bytes are embedded of a table of %d", total, len(table.Text))
		}
		table.Header = strings.Repeat("x", 5000)
		if chunks := split(t, knowledge.Layout{Blocks: []knowledge.Block{table}}, knowledge.Splitter{}); chunks[1].Header != "" {
			t.Errorf("a header of one long cell is kept: %q", chunks[1].Header)
		}
	})
}

func TestLinesOfChunks(t *testing.T) {
	t.Parallel()

	t.Run("lines are counted from the chunk and cut to it", func(t *testing.T) {
		t.Parallel()
		block := paragraph(strings.Repeat("0123456789", 30))
		block.Lines = []knowledge.Line{
			{Start: 0, End: 150, Page: 1, Box: knowledge.Box{X1: 0, Y1: 0, X2: 150, Y2: 10}},
			{Start: 150, End: 300, Page: 2, Box: knowledge.Box{X1: 0, Y1: 0, X2: 150, Y2: 10}},
		}
		layout := knowledge.Layout{Blocks: []knowledge.Block{block}, Pages: []knowledge.PageSize{{Page: 1, Width: 9, Height: 9}, {Page: 2, Width: 8, Height: 8}}}
		chunks := split(t, layout, knowledge.Splitter{Strategy: "fixed", ChunkSize: 200, ChunkOverlap: new(0)})
		want := knowledge.Lines{
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
}
