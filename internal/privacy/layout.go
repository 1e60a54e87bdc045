package privacy

import (
	"slices"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// Report is the personal data of a document, without its values.
type Report struct {
	Findings []Located `json:"findings"`
	// Pages are the numbers of the pages that show personal data, sorted; 0 stands for a
	// text of which no page is known.
	Pages []int `json:"pages,omitempty"`
}

// Located is a finding in a document. Start and End count the code points of the text of
// the document as readers see it: of the blocks without furniture, joined by
// knowledge.BlockSeparator. In a document that was redacted they are those of the
// placeholder.
type Located struct {
	Entity     string  `json:"entity"`
	Page       int     `json:"page_number,omitempty"` // 0 = the format has no pages
	Start      int     `json:"start"`
	End        int     `json:"end"`
	Score      float64 `json:"score"`
	Recogniser string  `json:"recogniser"`
}

// reporter collects the findings of a layout.
type reporter struct {
	report Report
	offset int // of the next block in the text of the document
}

// block adds the findings of a block, whose places are those in its present text.
func (r *reporter) block(b knowledge.Block, runes int, found []Finding) {
	inText := b.Text != "" && !b.Kind.IsFurniture()
	for _, f := range found {
		page := pageOf(b, f.Start)
		if !slices.Contains(r.report.Pages, page) {
			r.report.Pages = append(r.report.Pages, page)
		}
		if inText {
			r.report.Findings = append(r.report.Findings, Located{f.Entity, page, r.offset + f.Start, r.offset + f.End, f.Score, f.Recogniser})
		}
	}
	if inText {
		r.offset += runes + len(knowledge.BlockSeparator)
	}
}

func (r *reporter) done() Report {
	slices.Sort(r.report.Pages)
	return r.report
}

// pageOf returns the page of a place in a block, 0 if the block has no lines on pages.
func pageOf(b knowledge.Block, at int) int {
	for _, l := range b.Lines {
		if at < l.End {
			return l.Page
		}
	}
	return b.FirstPage()
}

// Layout returns the personal data in the text of a document.
func (f *Finder) Layout(layout knowledge.Layout) Report {
	var r reporter
	for _, b := range layout.Blocks {
		r.block(b, runeCount(b.Text), f.Find(b.Text))
	}
	return r.done()
}
