package pdf

import (
	"github.com/cairn-rag/cairn/internal/extract/layout"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// page is a page that pdfium has loaded.
type page struct {
	number      int // 1 = first
	handle      uint64
	frame       frame
	annotations annotations
	tags        *tags // nil if the file states no structure
	lines       []layout.Line
	unknown     int // characters without a meaning, which are left out
}

// readPage reads the page with the given index, 0 = first, into the document. It
// leaves out a page that pdfium cannot load.
func (d *document) readPage(index int) error {
	p, err := d.loadPage(index)
	if err != nil || p.handle == 0 {
		return err
	}
	width, height := p.frame.size()
	d.frames[index] = p.frame
	d.layout.Pages = append(d.layout.Pages, knowledge.PageSize{Page: p.number, Width: width, Height: height})
	if err := d.readText(&p); err != nil {
		return err
	}
	p.lines = withFields(p.lines, p.annotations.fields, p.number)
	d.extra = append(d.extra, commentBlocks(p.annotations.comments, p.number)...)
	if err := d.readPictures(&p); err != nil {
		return err
	}
	d.lines = append(d.lines, p.lines)
	return d.lib.closeLater(p.handle)
}

// readText reads the lines of a page.
func (d *document) readText(p *page) error {
	handle, err := d.lib.call("FPDFText_LoadPage", p.handle)
	if err != nil || handle == 0 {
		return err
	}
	if d.tagged {
		if p.tags, err = d.readTags(p.handle, p.frame); err != nil {
			return err
		}
	}
	text := textPage{lib: d.lib, handle: handle, frame: p.frame, tags: p.tags, silent: d.silent}
	if p.lines, p.unknown, err = text.lines(p.number); err != nil {
		return err
	}
	if p.unknown > 0 {
		warnUnknown(&d.layout, p.number)
	}
	_, err = d.lib.call("FPDFText_ClosePage", handle)
	return err
}

// readPictures reads the lines that the page draws, recognises its text if it is a
// scan, and writes its figures.
func (d *document) readPictures(p *page) error {
	found, err := d.readObjects(*p)
	if err != nil {
		return err
	}
	if drawing := found.paths.result(); len(drawing.Rules)+len(drawing.Fills) > 0 {
		d.drawn[p.number] = drawing
	}
	if !d.images && len(p.lines) >= fewLetters && p.unknown < fewLetters { // each has a letter or more
		return nil
	}
	scanned := isScan(*p, found)
	if scanned {
		if p.lines, err = d.recognise(*p); err != nil {
			return err
		}
	}
	return d.readFigures(*p, found, scanned)
}

// loadPage loads a page, measures it and reads its annotations; the handle is 0 if
// pdfium cannot load it. The text of form fields and annotations only becomes part
// of a page when the page is flattened. Measuring must come first, because a
// flattened page loses a media box that it inherits from its parent.
func (d *document) loadPage(index int) (p page, err error) {
	p.number = index + 1
	if p.handle, err = d.lib.call("FPDF_LoadPage", d.handle, uint64(index)); err != nil || p.handle == 0 {
		return p, err
	}
	if p.frame, err = measure(d.lib, p.handle); err != nil {
		return p, err
	}
	count, err := d.lib.number("FPDFPage_GetAnnotCount", p.handle)
	if err != nil || count <= 0 {
		return p, err
	}
	if p.annotations, err = d.readAnnotations(p.handle, count, p.frame); err != nil {
		return p, err
	}
	const normalDisplay, flattened = 0, 1
	result, err := d.lib.number("FPDFPage_Flatten", p.handle, normalDisplay)
	if err != nil || result != flattened {
		return p, err
	}
	if _, err := d.lib.call("FPDF_ClosePage", p.handle); err != nil {
		return p, err
	}
	p.handle, err = d.lib.call("FPDF_LoadPage", d.handle, uint64(index))
	return p, err
}

func measure(lib *library, handle uint64) (frame, error) {
	if _, err := lib.call("FPDF_GetPageBoundingBox", handle, lib.scratch); err != nil {
		return frame{}, err
	}
	box := lib.floats(4) // left, top, right, bottom
	quarters, err := lib.number("FPDFPage_GetRotation", handle)
	return frame{left: box[0], top: box[1], right: box[2], bottom: box[3], quarters: quarters & 3}, err
}
