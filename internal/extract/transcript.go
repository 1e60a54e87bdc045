package extract

import (
	"slices"
	"unicode/utf8"

	"github.com/cairn-rag/cairn/internal/extract/align"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// Transcribed returns a layout with the text of transcripts of its pages, by their
// numbers. The words that the layout has on a page too give the blocks their line boxes;
// other blocks have the box of the page. Figures stay, and so does the text of a page
// without a transcript.
func Transcribed(layout knowledge.Layout, pages map[int][]knowledge.Block) knowledge.Layout {
	own := byPage(layout.Blocks)
	layout.Blocks = nil
	for _, size := range layout.Pages {
		there := own[size.Page]
		blocks, ok := pages[size.Page]
		if !ok {
			layout.Blocks = append(layout.Blocks, there...)
			continue
		}
		page := knowledge.Layout{Blocks: slices.Clone(blocks)}
		align.Lines(&page, knowledge.Layout{Blocks: there})
		for _, b := range page.Blocks {
			if b.Origin = (knowledge.Origin{}); len(b.Lines) == 0 {
				b.Lines = []knowledge.Line{{End: utf8.RuneCountInString(b.Text), Page: size.Page, Box: knowledge.Box{X2: size.Width, Y2: size.Height}}}
			}
			layout.Blocks = append(layout.Blocks, b)
		}
		for _, b := range there {
			if b.Kind == knowledge.BlockFigure && b.Figure != "" {
				layout.Blocks = append(layout.Blocks, b)
			}
		}
	}
	return layout
}

// byPage returns the blocks of each page. A block that continues on another page is
// divided. A block without lines is on the page of the block before it.
func byPage(blocks []knowledge.Block) map[int][]knowledge.Block {
	pages, last := map[int][]knowledge.Block{}, 1
	for _, b := range blocks {
		if len(b.Lines) == 0 {
			pages[last] = append(pages[last], b)
			continue
		}
		for first := 0; first < len(b.Lines); {
			last = b.Lines[first].Page
			n := first + 1
			for n < len(b.Lines) && b.Lines[n].Page == last {
				n++
			}
			pages[last] = append(pages[last], part(b, first, n))
			first = n
		}
	}
	return pages
}

// part returns a block with the lines [first, last) only.
func part(b knowledge.Block, first, last int) knowledge.Block {
	if first == 0 && last == len(b.Lines) {
		return b
	}
	start, end := b.Lines[first].Start, b.Lines[last-1].End
	b.Text, b.Cells, b.Header = string([]rune(b.Text)[start:end]), nil, ""
	b.Lines = slices.Clone(b.Lines[first:last])
	for i := range b.Lines {
		b.Lines[i].Start -= start
		b.Lines[i].End -= start
	}
	return b
}
