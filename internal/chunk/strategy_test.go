package chunk_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/chunk"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// texts returns the texts of chunks.
func texts(chunks []knowledge.Chunk) []string {
	list := make([]string, len(chunks))
	for i, c := range chunks {
		list[i] = c.Text
	}
	return list
}

// table returns a table of rows of 40 characters below a header.
func table(rows int) knowledge.Block {
	const header = "item | price"
	var text strings.Builder
	text.WriteString(header)
	for i := range rows {
		fmt.Fprintf(&text, "\nitem number %06d | %12d francs", i, i*10)
	}
	return knowledge.Block{Kind: knowledge.BlockTable, Header: header, Text: text.String()}
}

// prose returns n sentences of 50 characters about a subject.
func prose(subject string, n int) string {
	sentence := "All of " + subject + " is about " + subject
	return strings.TrimSpace(strings.Repeat(sentence+strings.Repeat("y", 48-len(sentence))+". ", n))
}

func TestFixed(t *testing.T) {
	t.Parallel()
	fixed := func(size, overlap int) knowledge.Splitter {
		return knowledge.Splitter{Strategy: knowledge.SplitFixed, ChunkSize: size, ChunkOverlap: new(overlap)}
	}
	t.Run("pieces end at white space, and overlap", func(t *testing.T) {
		t.Parallel()
		chunks := split(t, knowledge.Layout{Blocks: []knowledge.Block{paragraph(strings.Repeat("word ", 100))}}, fixed(103, 20))
		for i, c := range chunks {
			if strings.Trim(c.Text, "word ") != "" || !strings.HasPrefix(c.Text, "word") || !strings.HasSuffix(c.Text, "word") {
				t.Errorf("chunk %d is %q", i, c.Text)
			}
			if i > 0 && c.Span.Start >= chunks[i-1].Span.End {
				t.Errorf("chunk %d does not overlap", i)
			}
		}
	})
	t.Run("a piece ends before the row that does not fit", func(t *testing.T) {
		t.Parallel()
		for _, c := range split(t, knowledge.Layout{Blocks: []knowledge.Block{table(60)}}, fixed(250, 60)) {
			if !strings.HasPrefix(c.Text, "item") || !strings.HasSuffix(c.Text, "francs") {
				t.Errorf("cut inside a row: %q", c.Text)
			}
		}
	})
	t.Run("a heading begins a piece", func(t *testing.T) {
		t.Parallel()
		chunks := split(t, knowledge.Layout{Blocks: []knowledge.Block{
			heading(1, "One"), paragraph(prose("one", 5)), heading(1, "Two"), paragraph(prose("two", 5)),
		}}, fixed(400, 50))
		if len(chunks) != 2 || !strings.HasPrefix(chunks[1].Text, "Two\n") {
			t.Errorf("chunks %q", texts(chunks))
		}
	})
	t.Run("a separator is preferred to white space", func(t *testing.T) {
		t.Parallel()
		s := fixed(100, 0)
		s.Separators = []string{"##", ";"}
		text := strings.Repeat("some words; and## ", 40)
		chunks := split(t, knowledge.Layout{Blocks: []knowledge.Block{paragraph(text)}}, s)
		for i, c := range chunks[:len(chunks)-1] {
			if !strings.HasSuffix(c.Text, "##") && !strings.HasSuffix(c.Text, ";") {
				t.Errorf("chunk %d ends %q", i, c.Text[len(c.Text)-10:])
			}
		}
	})
}

func TestSliding(t *testing.T) {
	t.Parallel()
	sliding := knowledge.Splitter{Strategy: knowledge.SplitSliding, ChunkSize: 400, ChunkOverlap: new(110)}
	t.Run("windows begin with the last sentences of the one before, over paragraphs too", func(t *testing.T) {
		t.Parallel()
		var blocks []knowledge.Block
		for i := range 30 {
			blocks = append(blocks, paragraph(fmt.Sprintf("This is sentence %02d A of some thirty characters. This is sentence %02d B of some thirty characters.", i, i)))
		}
		chunks := split(t, knowledge.Layout{Blocks: blocks}, sliding)
		if len(chunks) < 9 {
			t.Fatalf("%d chunks", len(chunks))
		}
		for i, c := range chunks[1:] {
			before := chunks[i]
			if overlap := before.Span.End - c.Span.Start; overlap < 40 {
				t.Errorf("chunk %d overlaps by %d", i+1, overlap)
			}
			if !strings.HasPrefix(c.Text, "This is") || !strings.HasSuffix(c.Text, "characters.") {
				t.Errorf("chunk %d is no sentences: %q", i+1, c.Text)
			}
		}
	})
	t.Run("no window goes over a heading", func(t *testing.T) {
		t.Parallel()
		chunks := split(t, knowledge.Layout{Blocks: []knowledge.Block{
			heading(1, "One"), paragraph(prose("one", 20)), heading(1, "Two"), paragraph(prose("two", 20)),
		}}, sliding)
		for _, c := range chunks {
			if strings.Contains(c.Text, "of one") && strings.Contains(c.Text, "of two") {
				t.Errorf("chunk %d: %q", c.Ordinal, c.Text)
			}
		}
	})
}

func TestSemantic(t *testing.T) {
	t.Parallel()
	semantic := knowledge.Splitter{Strategy: knowledge.SplitSemantic, ChunkSize: 1000}
	t.Run("a chunk ends where the meaning changes", func(t *testing.T) {
		t.Parallel()
		text := strings.Join([]string{prose("apples", 12), prose("bridges", 10), prose("clouds", 14), prose("drums", 10)}, " ")
		chunks := split(t, knowledge.Layout{Blocks: []knowledge.Block{paragraph(text)}}, semantic)
		want := []string{prose("apples", 12), prose("bridges", 10), prose("clouds", 14), prose("drums", 10)}
		if diff := cmp.Diff(want, texts(chunks)); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("only sections longer than a chunk are embedded, without furniture, at most 512 texts a call", func(t *testing.T) {
		t.Parallel()
		var asked []int
		var all []string
		in := chunk.Input{Splitter: semantic, Ref: ref, Embed: func(ctx context.Context, texts []string) ([][]float32, error) {
			asked, all = append(asked, len(texts)), append(all, texts...)
			return embedWords(ctx, texts)
		}}
		cut := func(blocks ...knowledge.Block) {
			in.Layout.Blocks = blocks
			if _, err := chunk.Split(t.Context(), in); err != nil {
				t.Fatal(err)
			}
		}
		cut(heading(1, "One"), paragraph(prose("one", 15)), heading(1, "Two"), paragraph(prose("two", 15)))
		if asked != nil {
			t.Errorf("short sections: asked for %d", asked)
		}
		cut(paragraph(prose("long", 4000)), knowledge.Block{Kind: knowledge.BlockFooter, Text: "Page 7"}, heading(1, "Next"), paragraph(prose("next", 40)))
		if diff := cmp.Diff([]int{512, 512, 512, 485}, asked); diff != "" { // 2 sentences of 50 characters a group
			t.Error(diff)
		}
		if joined := strings.Join(all, " "); strings.Contains(joined, "Page 7") || !strings.HasPrefix(all[2000], "Next") {
			t.Errorf("asked for %.100q", all[2000])
		}
	})
	t.Run("a failure of the model is returned", func(t *testing.T) {
		t.Parallel()
		broken := errors.New("no model")
		for _, embed := range []func(context.Context, []string) ([][]float32, error){
			func(context.Context, []string) ([][]float32, error) { return nil, broken },
			func(context.Context, []string) ([][]float32, error) { return make([][]float32, 1), nil },
			nil,
		} {
			_, err := chunk.Split(t.Context(), chunk.Input{
				Layout: knowledge.Layout{Blocks: []knowledge.Block{paragraph(prose("long", 40))}}, Splitter: semantic, Ref: ref, Embed: embed,
			})
			if err == nil {
				t.Error("no error")
			}
		}
	})
	t.Run("texts that are all alike, or have no direction, fill the chunks", func(t *testing.T) {
		t.Parallel()
		for _, vector := range [][]float32{{1, 2}, {0, 0}, nil} {
			in := chunk.Input{
				Layout: knowledge.Layout{Blocks: []knowledge.Block{paragraph(prose("long", 100))}}, Splitter: semantic, Ref: ref,
				Embed: func(_ context.Context, texts []string) ([][]float32, error) {
					return slices.Repeat([][]float32{vector}, len(texts)), nil
				},
			}
			chunks, err := chunk.Split(t.Context(), in)
			if err != nil || len(chunks) > 20 {
				t.Errorf("%d chunks, %v", len(chunks), err)
			}
			check(t, in, chunks)
		}
	})
}

func TestHierarchical(t *testing.T) {
	t.Parallel()
	hierarchical := knowledge.Splitter{Strategy: knowledge.SplitHierarchical, ChunkSize: 1000}
	t.Run("parents are what structure cuts without overlap, and children are quarters of them", func(t *testing.T) {
		t.Parallel()
		layout := knowledge.Layout{Blocks: []knowledge.Block{
			heading(1, "One"), paragraph(prose("one", 4)), paragraph(prose("more", 30)), heading(1, "Two"), table(50),
			{Kind: knowledge.BlockCode, Text: strings.Repeat("if true {\n\treturn 1\n}\n", 40)},
		}}
		var parents []knowledge.Span
		for _, c := range split(t, layout, hierarchical) {
			span := c.Parent
			if span == (knowledge.Span{}) {
				span = c.Span
			}
			if len(parents) == 0 || parents[len(parents)-1] != span {
				parents = append(parents, span)
			}
			if c.Span.End-c.Span.Start > 252 { // with the white space before the next one
				t.Errorf("a child of %d characters", c.Span.End-c.Span.Start)
			}
		}
		structure := hierarchical
		structure.Strategy, structure.ChunkOverlap = knowledge.SplitStructure, new(0)
		var want []knowledge.Span
		for _, c := range split(t, layout, structure) {
			want = append(want, c.Span)
		}
		if diff := cmp.Diff(want, parents); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("a short document is one chunk without a parent", func(t *testing.T) {
		t.Parallel()
		chunks := split(t, knowledge.Layout{Blocks: []knowledge.Block{paragraph("It is short.")}}, hierarchical)
		if len(chunks) != 1 || chunks[0].Parent != (knowledge.Span{}) {
			t.Errorf("chunks %+v", chunks)
		}
	})
	t.Run("a sentence or row longer than a child stays whole", func(t *testing.T) {
		t.Parallel()
		long := "This sentence " + strings.Repeat("goes on and on ", 30) + "until it ends."
		row := strings.Repeat("a wide cell | ", 40) + "end"
		chunks := split(t, knowledge.Layout{Blocks: []knowledge.Block{
			paragraph("One. " + long + " Two."), {Kind: knowledge.BlockTable, Text: row + "\n" + row},
		}}, hierarchical)
		for _, want := range []string{long, row} {
			if !slices.ContainsFunc(chunks, func(c knowledge.Chunk) bool { return strings.TrimSpace(c.Text) == strings.TrimSpace(want) }) {
				t.Errorf("%.20q is not a chunk of %q", want, texts(chunks))
			}
		}
	})
}

func TestDynamic(t *testing.T) {
	t.Parallel()
	long := make([]knowledge.Block, 0, 30)
	for range 30 {
		long = append(long, paragraph(prose("novel", 6)))
	}
	for name, c := range map[string]struct {
		blocks []knowledge.Block
		like   string
	}{
		"headings are cut by structure": {[]knowledge.Block{
			heading(1, "One"), paragraph(prose("one", 30)), heading(1, "Two"), paragraph(prose("two", 30)), heading(1, "Three"), paragraph(prose("three", 30)),
		}, knowledge.SplitStructure},
		"a table is cut into rows":               {[]knowledge.Block{table(400)}, knowledge.SplitStructure},
		"code is cut into lines":                 {[]knowledge.Block{{Kind: knowledge.BlockCode, Text: strings.Repeat("return nil\n", 1000)}}, knowledge.SplitStructure},
		"long prose is cut by sliding windows":   {long, knowledge.SplitSliding},
		"a long transcript too, below a heading": {append([]knowledge.Block{heading(1, "Novel")}, long...), knowledge.SplitSliding},
		"a short text is one chunk":              {[]knowledge.Block{paragraph("Short."), paragraph("Very short.")}, knowledge.SplitStructure},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			layout := knowledge.Layout{Blocks: c.blocks}
			want := split(t, layout, knowledge.Splitter{Strategy: c.like})
			if diff := cmp.Diff(want, split(t, layout, knowledge.Splitter{Strategy: knowledge.SplitDynamic})); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestSeparators(t *testing.T) {
	t.Parallel()
	t.Run("a part that is longer than a chunk is cut at the next separator", func(t *testing.T) {
		t.Parallel()
		clause := "some words of a clause"
		article := "§ " + strings.Repeat(clause+"; ", 6)
		long := "§ " + strings.Repeat(clause+"; ", 30)
		s := knowledge.Splitter{ChunkSize: 200, ChunkOverlap: new(0), Separators: []string{"\n", "; "}}
		chunks := split(t, knowledge.Layout{Blocks: []knowledge.Block{paragraph(article + "\n" + article + "\n" + long)}}, s)
		if chunks[0].Text != strings.TrimSpace(article) || chunks[1].Text != strings.TrimSpace(article) || len(chunks) != 6 {
			t.Errorf("chunks %q", texts(chunks))
		}
		for _, c := range chunks {
			if !strings.HasSuffix(c.Text, clause+";") {
				t.Errorf("cut inside a clause: %q", c.Text)
			}
		}
	})
	t.Run("no separator cuts a row", func(t *testing.T) {
		t.Parallel()
		for _, strategy := range strategies {
			split(t, knowledge.Layout{Blocks: []knowledge.Block{table(100)}}, knowledge.Splitter{Strategy: strategy, ChunkSize: 300, Separators: []string{" ", "i"}})
		}
	})
}
