package chunk_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/cairn-rag/cairn/internal/chunk"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// FuzzSpans checks the promises of Split for any text in any blocks.
func FuzzSpans(f *testing.F) {
	f.Add("# A\n\nSome text. More of it!\n\na | b\nc | d", uint16(100), uint16(10), uint8(3), uint16(0))
	f.Add(strings.Repeat("word ", 300), uint16(120), uint16(50), uint8(1), uint16(30))
	f.Add(strings.Repeat("日本語。", 100)+"\n\n"+strings.Repeat("x", 500), uint16(101), uint16(49), uint8(7), uint16(5))
	f.Add(strings.Repeat("e\u0301\U0001f469\u200d\U0001f467\U0001f1e9\U0001f1ea", 100)+"\n\n"+strings.Repeat("a\nb c\n", 50), uint16(0), uint16(49), uint8(9), uint16(0))
	for strategy := range strategies {
		mixed := "Title\n\n" + strings.Repeat("A sentence. Another one! ", 40) + "\n\n" + strings.Repeat("a | b\n", 60) + "\n\nA caption\n\n" + strings.Repeat("文。", 200)
		f.Add(mixed, uint16(150), uint16(40), uint8(strategy), uint16(0))
		f.Add(mixed, uint16(800), uint16(40), uint8(204+strategy), uint16(60))
	}
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
