package layout

import "github.com/cairn-rag/cairn/internal/knowledge"

// Drawing is what a page shows beside text and images, as far as it can belong to a
// table. The zero Drawing is a page without lines.
type Drawing struct {
	Rules []knowledge.Box // straight lines across or down the page, with their width
	Fills []Fill          // filled rectangles that are no lines
}

// Fill is a filled rectangle.
type Fill struct {
	Box   knowledge.Box
	Color uint32 // 0xRRGGBB
}

// MaxRule is the greatest width of a line, in points. A rectangle that is thicker is
// a filled area.
const MaxRule = 3
