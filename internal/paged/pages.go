package paged

import (
	"slices"
	"time"
	"unicode"

	"github.com/cairn-rag/cairn/internal/blob"
	"github.com/cairn-rag/cairn/internal/chunk"
	"github.com/cairn-rag/cairn/internal/extract"
	"github.com/cairn-rag/cairn/internal/extract/align"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// Pages are the pages that were made of a version, and where its text is on them.
type Pages struct {
	Sizes knowledge.Pages `json:"sizes"`
	// Lines are those lines of the document's text (chunk.Text) whose words were found.
	Lines knowledge.Lines `json:"lines"`
	// Failure is why there are no pages. nil = there are.
	Failure *Failure `json:"failure,omitempty"`
}

// Failure is why no pages can be made of a version.
type Failure struct {
	Code    knowledge.Code `json:"code"`
	Message string         `json:"message"`
	At      time.Time      `json:"at"`
}

// Err returns the failure as an error, nil for none.
func (f *Failure) Err() error {
	if f == nil {
		return nil
	}
	return knowledge.Errorf(f.Code, "%s", f.Message)
}

// PDFKey returns the key of the PDF whose pages are shown.
func PDFKey(v knowledge.VersionRef) string { return blob.AssetKey(v, extract.PagesAsset) }

// placesKey returns the key of the Pages of a version.
func placesKey(v knowledge.VersionRef) string { return blob.StepKey(v, "pages/made.json") }

// locate finds the text of a layout on the pages of a PDF.
func locate(layout, pdf knowledge.Layout, isWorkbook bool) Pages {
	for i := range layout.Blocks {
		layout.Blocks[i].Lines = nil
	}
	if isWorkbook {
		align.Rows(&layout, pdf)
	} else {
		align.Lines(&layout, pdf)
	}
	return Pages{Sizes: pdf.Pages, Lines: chunk.Lines(layout)}
}

// minShare is the share of the letters and digits of a passage that must be on lines. A
// passage with fewer has no lines: a box around them would not be around the passage.
const minShare = .5

// Place sets the lines and pages of a passage that has none, if its words were found.
func (p Pages) Place(c *knowledge.Chunk) {
	if len(c.Lines) > 0 || len(p.Lines) == 0 {
		return
	}
	lines := chunk.LinesIn(p.Lines, c.Span)
	if covered(c.Text, lines) < minShare {
		return
	}
	c.Lines, c.Pages = lines, nil
	for _, size := range p.Sizes {
		if slices.ContainsFunc(lines, func(l knowledge.Line) bool { return l.Page == size.Page }) {
			c.Pages = append(c.Pages, size)
		}
	}
}

// covered returns the share of the letters and digits of a text that are on lines.
func covered(text string, lines []knowledge.Line) float64 {
	all, on, next, at := 0, 0, 0, 0
	for _, r := range text {
		for next < len(lines) && lines[next].End <= at {
			next++
		}
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			all++
			if next < len(lines) && lines[next].Start <= at {
				on++
			}
		}
		at++
	}
	if all == 0 {
		return 0
	}
	return float64(on) / float64(all)
}
