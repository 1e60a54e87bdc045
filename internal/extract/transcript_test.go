package extract_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/extract"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

func TestTranscribed(t *testing.T) {
	t.Parallel()
	box := func(y float64) knowledge.Box { return knowledge.Box{X1: 10, Y1: y, X2: 100, Y2: y + 10} }
	layout := knowledge.Layout{
		Pages: []knowledge.PageSize{{Page: 1, Width: 200, Height: 300}, {Page: 2, Width: 200, Height: 300}},
		Blocks: []knowledge.Block{
			{Kind: knowledge.BlockParagraph, Text: "The quick brown fox jumps over dogs", Lines: []knowledge.Line{
				{Start: 0, End: 19, Page: 1, Box: box(200)}, {Start: 20, End: 35, Page: 2, Box: box(20)},
			}},
			{Kind: knowledge.BlockFigure, Figure: "figure-001.png", Lines: []knowledge.Line{{Page: 1, Box: box(100)}}},
		},
	}
	got := extract.Transcribed(layout, map[int][]knowledge.Block{1: {
		{Kind: knowledge.BlockHeading, Level: 1, Text: "The quick brown fox", Origin: knowledge.Origin{First: 1, Last: 1}},
		{Kind: knowledge.BlockParagraph, Text: "in ink"},
	}})
	want := []knowledge.Block{
		{Kind: knowledge.BlockHeading, Level: 1, Text: "The quick brown fox", Lines: []knowledge.Line{{End: 19, Page: 1, Box: box(200)}}},
		{Kind: knowledge.BlockParagraph, Text: "in ink", Lines: []knowledge.Line{{End: 6, Page: 1, Box: knowledge.Box{X2: 200, Y2: 300}}}},
		{Kind: knowledge.BlockFigure, Figure: "figure-001.png", Lines: []knowledge.Line{{Page: 1, Box: box(100)}}},
		{Kind: knowledge.BlockParagraph, Text: "jumps over dogs", Lines: []knowledge.Line{{End: 15, Page: 2, Box: box(20)}}},
	}
	if diff := cmp.Diff(want, got.Blocks); diff != "" {
		t.Error(diff)
	}
}
