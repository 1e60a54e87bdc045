package pdf

import (
	"context"
	"regexp"
	"strings"

	"github.com/cairn-rag/cairn/internal/extract/charset"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

const (
	maxPages = 10_000
	maxLines = 1_000_000
)

// Results of FPDF_GetLastError.
const (
	errorPassword = 4
	errorSecurity = 5
)

// readDocument extracts a document in a new instance of pdfium.
func readDocument(ctx context.Context, lib *library, data []byte) (knowledge.Layout, error) {
	doc, err := openDocument(lib, data)
	if err != nil {
		return knowledge.Layout{}, err
	}
	count, err := lib.number("FPDF_GetPageCount", doc)
	switch {
	case err != nil:
		return knowledge.Layout{}, err
	case count > maxPages || count <= 0 && claimsPages(data):
		return knowledge.Layout{}, knowledge.Errorf(knowledge.CodeParseLimit, "the PDF has more than %d pages, which is the limit; split it", maxPages)
	case count <= 0:
		return knowledge.Layout{}, knowledge.Errorf(knowledge.CodeCorrupt, corrupt)
	}
	layout, lines, err := readPages(ctx, lib, doc, count)
	if err != nil {
		return knowledge.Layout{}, err
	}
	layout.Blocks = blocks(withoutPageNumbers(lines, layout.Pages))
	switch {
	case len(layout.Pages) == 0:
		return knowledge.Layout{}, knowledge.Errorf(knowledge.CodeCorrupt, corrupt)
	case len(layout.Blocks) == 0:
		return knowledge.Layout{}, knowledge.Errorf(knowledge.CodeEmpty,
			"there is no text in the PDF, and where its pages are pictures, text recognition (OCR) is not available yet; send a PDF with text")
	}
	layout.Title, err = title(lib, doc, layout.Blocks)
	return layout, err
}

var pageCount = regexp.MustCompile(`/Count +(\d+)`)

// claimsPages reports whether the file claims more pages than maxPages. pdfium
// stops counting above a million and then reports none.
func claimsPages(data []byte) bool {
	for _, m := range pageCount.FindAllSubmatch(data, 100) {
		if len(m[1]) > 6 {
			return true
		}
	}
	return false
}

func openDocument(lib *library, data []byte) (doc uint64, err error) {
	pointer, ok, err := lib.load(data)
	if err != nil {
		return 0, err
	}
	if !ok {
		return 0, noMemory()
	}
	doc, err = lib.call("FPDF_LoadMemDocument", pointer, uint64(len(data)), 0)
	if err != nil || doc != 0 {
		return doc, err
	}
	reason, err := lib.number("FPDF_GetLastError")
	switch {
	case err != nil:
		return 0, err
	case reason == errorPassword || reason == errorSecurity:
		return 0, knowledge.Errorf(knowledge.CodeEncrypted, "the PDF asks for a password; remove it and send the file again")
	default:
		return 0, knowledge.Errorf(knowledge.CodeCorrupt, corrupt)
	}
}

// readPages reads all pages. It leaves out pages that pdfium cannot load.
func readPages(ctx context.Context, lib *library, doc uint64, count int) (layout knowledge.Layout, lines []line, err error) {
	size := 0
	for i := range count {
		if err := ctx.Err(); err != nil {
			return layout, nil, err
		}
		p, ok, err := readPage(lib, doc, i)
		if err != nil {
			return layout, nil, err
		}
		if !ok {
			continue
		}
		layout.Pages = append(layout.Pages, p.size)
		for _, l := range p.lines {
			size += len(l.text)
		}
		lines = append(lines, p.lines...)
		if size > charset.MaxText || len(lines) > maxLines {
			return layout, nil, charset.TooLong()
		}
	}
	return layout, lines, nil
}

// title returns the first heading of level 1 on the first page, else the title
// in the document's metadata.
func title(lib *library, doc uint64, blocks []knowledge.Block) (string, error) {
	for _, b := range blocks {
		if len(b.Lines) == 0 || b.Lines[0].Page > 1 {
			break
		}
		if b.Kind == knowledge.BlockHeading && b.Level == 1 {
			return strings.Join(strings.Fields(b.Text), " "), nil
		}
	}
	s, err := lib.metaText(doc, "Title")
	return strings.Join(strings.Fields(charset.Clean(strings.ToValidUTF8(s, ""))), " "), err
}
