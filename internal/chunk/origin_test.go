package chunk_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cairn-rag/cairn/internal/chunk"
	"github.com/cairn-rag/cairn/internal/extract/text"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// TestOriginOfAChunk looks into the file for what a chunk says of its lines.
func TestOriginOfAChunk(t *testing.T) {
	t.Parallel()
	var file strings.Builder
	for i := range 3000 {
		fmt.Fprintf(&file, "line %d of the file.\n", i+1)
		if i%7 == 6 || i > 1000 && i%2 == 0 && i < 1100 {
			file.WriteString("\n")
		}
	}
	lines := strings.Split(file.String(), "\n")
	layout := knowledge.Layout{Blocks: text.Plain(file.String())}
	one := knowledge.Layout{Blocks: text.Plain(strings.ReplaceAll(file.String(), "\n\n", "\n"))} // one paragraph
	oneLines := strings.Split(strings.ReplaceAll(file.String(), "\n\n", "\n"), "\n")
	for _, strategy := range strategies {
		for _, c := range []struct {
			layout knowledge.Layout
			lines  []string
		}{{layout, lines}, {one, oneLines}} {
			chunks, err := chunk.Split(t.Context(), chunk.Input{Layout: c.layout, Splitter: knowledge.Splitter{Strategy: strategy, ChunkSize: 200}, Ref: ref, Embed: embedWords})
			if err != nil {
				t.Fatal(err)
			}
			for _, x := range chunks {
				parts := strings.Split(x.Text, "\n")
				first, last := c.lines[x.Origin.First-1], c.lines[x.Origin.Last-1]
				if !strings.HasSuffix(first, parts[0]) || !strings.HasPrefix(last, parts[len(parts)-1]) {
					t.Fatalf("%s: the chunk %q is said to be from %q to %q", strategy, x.Text, first, last)
				}
			}
		}
	}
}

func TestOriginOfPartOfABlock(t *testing.T) {
	t.Parallel()
	wrapped := paragraph(strings.Repeat("A sentence of a paragraph. ", 20))
	wrapped.Origin = knowledge.Origin{First: 41, Last: 48}
	list := knowledge.Block{Kind: knowledge.BlockList, Text: strings.TrimSpace(strings.Repeat("- an item of the list\n", 10)), Origin: knowledge.Origin{First: 50, Last: 59, LineByLine: true}}
	prices := func(first, last int) knowledge.Block {
		header := "| name | price |\n| --- | --- |"
		text := header + strings.Repeat("\n| black tea | 2 |", 12)
		return knowledge.Block{Kind: knowledge.BlockTable, Text: text, Header: header, Origin: knowledge.Origin{First: first, Last: last, LineByLine: true}}
	}
	for name, c := range map[string]struct {
		blocks []knowledge.Block
		want   []knowledge.Origin
	}{
		"a joined paragraph's are all of its lines":   {[]knowledge.Block{wrapped}, []knowledge.Origin{{First: 41, Last: 48}, {First: 41, Last: 48}, {First: 41, Last: 48}}},
		"a list's are its items'":                     {[]knowledge.Block{list}, []knowledge.Origin{{First: 50, Last: 58}, {First: 59, Last: 59}}},
		"the row of dashes that a file does not have": {[]knowledge.Block{prices(7, 19)}, []knowledge.Origin{{First: 7, Last: 16}, {First: 17, Last: 19}}},
		"the row of dashes that a file has":           {[]knowledge.Block{prices(7, 20)}, []knowledge.Origin{{First: 7, Last: 17}, {First: 18, Last: 20}}},
		"none where the format has none":              {[]knowledge.Block{paragraph("No lines.")}, []knowledge.Origin{{}}},
		"none where one of two blocks has none":       {[]knowledge.Block{paragraph("No lines."), {Kind: knowledge.BlockParagraph, Text: "One.", Origin: knowledge.Origin{First: 1, Last: 1, LineByLine: true}}}, []knowledge.Origin{{}}},
	} {
		chunks, err := chunk.Split(t.Context(), chunk.Input{Layout: knowledge.Layout{Blocks: c.blocks}, Splitter: knowledge.Splitter{ChunkSize: 200, ChunkOverlap: new(int)}, Ref: ref})
		if err != nil {
			t.Fatal(err)
		}
		var got []knowledge.Origin
		for _, x := range chunks {
			got = append(got, x.Origin)
		}
		if fmt.Sprint(got) != fmt.Sprint(c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}
