package pdf

import (
	"context"
	"slices"
	"strings"

	"github.com/cairn-rag/cairn/internal/extract/charset"
	"github.com/cairn-rag/cairn/internal/extract/format"
	"github.com/cairn-rag/cairn/internal/extract/layout"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

const (
	maxPages = 10_000
	maxLines = 1_000_000
)

// document is a PDF that an instance of pdfium has open, and what was read of it.
type document struct {
	ctx    context.Context
	lib    *library
	source format.Source
	handle uint64
	pages  int
	tagged bool // the file states the structure of its text
	images bool // the file may have images
	silent func() (silentCodes, error)

	form     uint64 // pdfium's form environment, 0 = not started
	formless bool   // it cannot be started
	elements int    // numbers of structure elements and tables so far

	frames  map[int]frame // by index of the page
	layout  knowledge.Layout
	lines   [][]layout.Line        // of each page
	drawn   map[int]layout.Drawing // by number of the page
	extra   []knowledge.Block      // comments and figures, which stand in no line
	assets  []format.File
	scans   scans
	figures figures
}

// read reads all pages.
func (d *document) read() (format.Result, error) {
	tagged, err := d.lib.number("FPDFCatalog_IsTagged", d.handle)
	if err != nil {
		return format.Result{}, err
	}
	d.tagged, d.frames, d.drawn = tagged != 0, map[int]frame{}, map[int]layout.Drawing{}
	if err := d.readPages(); err != nil {
		return format.Result{}, err
	}
	if len(d.layout.Pages) == 0 {
		return format.Result{}, knowledge.Errorf(knowledge.CodeCorrupt, corrupt)
	}
	outline, err := d.outline()
	if err != nil {
		return format.Result{}, err
	}
	lines := slices.Concat(d.lines...)
	d.lines = nil
	text := layout.Document{Lines: lines, Pages: d.layout.Pages, Outline: outline, Drawings: d.drawn}.Blocks()
	d.layout.Blocks = layout.Insert(text, d.extra)
	if err := d.scans.check(hasText(d.layout.Blocks), d.source.Options); err != nil {
		return format.Result{}, err
	}
	if d.layout.Metadata, err = d.metadata(); err != nil {
		return format.Result{}, err
	}
	d.scans.describe(d.layout.Metadata)
	d.scans.tesseract.Warn(&d.layout)
	d.layout.Reader = readerPDFium
	d.layout.Title, err = d.title()
	return format.Result{Layout: d.layout, Assets: d.assets}, err
}

func hasText(blocks []knowledge.Block) bool {
	return slices.ContainsFunc(blocks, func(b knowledge.Block) bool { return b.Text != "" })
}

// readPages reads all pages. It leaves out pages that pdfium cannot load.
func (d *document) readPages() error {
	size, count := 0, 0
	for i := range d.pages {
		if err := d.ctx.Err(); err != nil {
			return err
		}
		before := len(d.lines)
		if err := d.readPage(i); err != nil {
			return err
		}
		if d.source.Pages != nil {
			d.source.Pages(i+1, d.pages)
		}
		for _, page := range d.lines[before:] {
			count += len(page)
			for _, l := range page {
				size += len(l.Text)
			}
		}
		if size > charset.MaxText || count > maxLines {
			return charset.TooLong()
		}
	}
	return nil
}

// title returns the title on the first page, else the first heading of level 1
// there, else the title in the document's metadata.
func (d *document) title() (string, error) {
	for _, b := range d.layout.Blocks {
		if len(b.Lines) > 0 && b.Lines[0].Page > 1 {
			break
		}
		if b.Kind == knowledge.BlockTitle || b.Kind == knowledge.BlockHeading && b.Level == 1 {
			return strings.Join(strings.Fields(b.Text), " "), nil
		}
	}
	s, err := d.lib.metaText(d.handle, "Title")
	return strings.Join(strings.Fields(s), " "), err
}
