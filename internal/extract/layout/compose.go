package layout

import (
	"cmp"
	"slices"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// Document is what a reader finds on the pages of a document.
type Document struct {
	Lines   []Line // in the order in which the file draws them
	Pages   []knowledge.PageSize
	Outline []Bookmark
	// Drawings are the lines and areas that pages draw, by the number of the page.
	Drawings map[int]Drawing
}

// Blocks returns the blocks of a document in reading order. It changes the lines, which
// are too many to copy.
func (d Document) Blocks() []knowledge.Block {
	lines := d.Lines
	for i := range lines {
		lines[i].upbox = Upright(lines[i].Box, lines[i].Turned)
	}
	for _, page := range pagesOf(lines) {
		sortColumns(page)
	}
	markCode(lines)
	lines = d.withTables(lines)
	furnish(lines, d.Pages)
	text, furniture := lines[:0], []Line(nil)
	for _, l := range lines {
		if l.Role.Kind.IsFurniture() {
			furniture = append(furniture, l)
		} else {
			text = append(text, l)
		}
	}
	if len(text) == 0 {
		text, furniture = withoutRoles(furniture), nil
	}
	markContents(text)
	text = withoutSingleRows(joinTables(text))
	markOutline(text, d.Outline)
	readLexicon(text)
	return withFurniture(blocks(text), furniture)
}

func withoutRoles(lines []Line) []Line {
	for i := range lines {
		lines[i].Role = Role{}
	}
	return lines
}

// pagesOf returns the lines of each page.
func pagesOf(lines []Line) [][]Line {
	var pages [][]Line
	for start := 0; start < len(lines); {
		end := start + 1
		for end < len(lines) && lines[end].Page == lines[start].Page {
			end++
		}
		pages = append(pages, lines[start:end])
		start = end
	}
	return pages
}

// withFurniture inserts the headers and footers of pages: a header before the first
// block that begins on its page or later, other furniture before the first block
// that begins on a later page.
func withFurniture(text []knowledge.Block, furniture []Line) []knowledge.Block {
	if len(furniture) == 0 {
		return text
	}
	out := make([]knowledge.Block, 0, len(text)+len(furniture))
	next := 0
	emit := func(before func(Line) bool) {
		for next < len(furniture) && before(furniture[next]) {
			out = append(out, block(furniture[next:next+1], typography{}))
			next++
		}
	}
	slices.SortStableFunc(furniture, func(a, b Line) int {
		return cmp.Or(cmp.Compare(a.Page, b.Page), cmp.Compare(order(a), order(b)))
	})
	for _, b := range text {
		page := b.FirstPage()
		emit(func(l Line) bool { return l.Page < page || l.Page == page && l.Role.Kind == knowledge.BlockHeader })
		out = append(out, b)
	}
	emit(func(Line) bool { return true })
	return out
}

// order returns 0 for a header, which stands before the other furniture of its page.
func order(l Line) int {
	if l.Role.Kind == knowledge.BlockHeader {
		return 0
	}
	return 1
}

// Insert inserts blocks with one line, such as pictures, among the blocks of their
// page: behind the last block that begins above them and is not beside them, else
// before the first that is below, else behind the blocks of the page.
func Insert(blocks, extra []knowledge.Block) []knowledge.Block {
	for _, e := range extra {
		blocks = slices.Insert(blocks, place(blocks, e.Lines[0]), e)
	}
	return blocks
}

// place returns the index at which a block with the given line belongs.
func place(blocks []knowledge.Block, at knowledge.Line) int {
	above, below, end := -1, -1, 0
	for i, b := range blocks {
		box, ok := b.BoxOn(at.Page)
		if !ok {
			if b.FirstPage() != 0 && b.FirstPage() <= at.Page {
				end = i + 1
			}
			continue
		}
		if b.Kind != knowledge.BlockFooter {
			end = i + 1
		}
		switch beside := Overlap(box.X1, box.X2, at.Box.X1, at.Box.X2) == 0; {
		case beside || b.Kind.IsFurniture():
		case box.Y1 <= at.Box.Y1:
			above = i + 1
		case below < 0:
			below = i
		}
	}
	switch {
	case above >= 0:
		return above
	case below >= 0:
		return below
	default:
		return end
	}
}
