package office

import (
	"slices"
	"strings"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// Look is how a paragraph looks.
type Look struct {
	Size float64 // of the font in points, the largest in the paragraph, 0 = not stated
	Bold bool    // all of it
}

// paragraph is a paragraph that no style marks as a heading.
type paragraph struct {
	Look
	block  int  // index of its block
	bytes  int  // of text
	isLine bool // short and without a full stop
}

const (
	longestLine = 120 // bytes of a paragraph that can be a heading by its look
	usualSize   = 10  // points, where a document states no size
)

// Paragraph adds a paragraph, and keeps how it looks in case that no style marks the
// headings.
func (d *Document) Paragraph(text string, look Look) {
	text = Tidy(text)
	if text == "" {
		return
	}
	if look.Size == 0 {
		look.Size = usualSize
	}
	isLine := len(text) <= longestLine && !strings.ContainsAny(text, "\n") && !strings.ContainsAny(text[len(text)-1:], ".,;:!?")
	d.paragraphs = append(d.paragraphs, paragraph{look, len(d.Result.Layout.Blocks), len(text), isLine})
	d.Add(knowledge.BlockParagraph, text)
}

// MarkHeadings makes headings of the paragraphs that look like headings, if no style
// marks one: they are short, and bold before other text, or in a larger font than
// most of the text. It must be called before blocks are inserted.
func (d *Document) MarkHeadings() {
	blocks := d.Result.Layout.Blocks
	if slices.ContainsFunc(blocks, func(b knowledge.Block) bool { return b.Kind == knowledge.BlockHeading }) {
		return
	}
	var found []paragraph
	body := bodySize(d.paragraphs)
	for i, p := range d.paragraphs {
		isLast := i+1 == len(d.paragraphs)
		if p.isLine && !isLast && (p.Size > body || p.Bold && p.Size == body && !d.paragraphs[i+1].Bold) {
			found = append(found, p)
		}
	}
	if len(found)*3 > len(d.paragraphs) {
		return // a form, or a text of short lines
	}
	var sizes []float64 // the largest first
	for _, p := range found {
		sizes = append(sizes, -p.Size)
	}
	slices.Sort(sizes)
	sizes = slices.Compact(sizes)
	for _, p := range found {
		b := &blocks[p.block]
		b.Kind, b.Level = knowledge.BlockHeading, min(slices.Index(sizes, -p.Size)+1, 6)
	}
}

// bodySize returns the size of the font in which most of the text is.
func bodySize(paragraphs []paragraph) float64 {
	bytes := map[float64]int{}
	best := 0.0
	for _, p := range paragraphs {
		bytes[p.Size] += p.bytes
		if bytes[p.Size] > bytes[best] {
			best = p.Size
		}
	}
	return best
}
