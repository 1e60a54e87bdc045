package pdf

import (
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// page is the content of one page.
type page struct {
	size  knowledge.PageSize
	lines []line
}

// readPage reads the page with the given index, 0 = first. ok is false if
// pdfium cannot load it.
func readPage(lib *library, doc uint64, index int) (p page, ok bool, err error) {
	handle, f, err := loadPage(lib, doc, index)
	if err != nil || handle == 0 {
		return page{}, false, err
	}
	width, height := f.size()
	p.size = knowledge.PageSize{Page: index + 1, Width: width, Height: height}
	text, err := lib.call("FPDFText_LoadPage", handle)
	if err != nil {
		return page{}, false, err
	}
	if text != 0 {
		t := textPage{lib: lib, handle: text, frame: f}
		if p.lines, err = t.lines(index + 1); err != nil {
			return page{}, false, err
		}
		if _, err := lib.call("FPDFText_ClosePage", text); err != nil {
			return page{}, false, err
		}
	}
	return p, true, lib.closeLater(handle)
}

// loadPage loads a page and measures it; the handle is 0 if pdfium cannot load
// it. The text of form fields and annotations only becomes part of a page when
// the page is flattened. Measuring must come first, because a flattened page
// loses a media box that it inherits from its parent.
func loadPage(lib *library, doc uint64, index int) (handle uint64, f frame, err error) {
	handle, err = lib.call("FPDF_LoadPage", doc, uint64(index))
	if err != nil || handle == 0 {
		return 0, frame{}, err
	}
	if f, err = measure(lib, handle); err != nil {
		return 0, frame{}, err
	}
	notes, err := lib.number("FPDFPage_GetAnnotCount", handle)
	if err != nil || notes <= 0 {
		return handle, f, err
	}
	const normalDisplay, flattened = 0, 1
	result, err := lib.number("FPDFPage_Flatten", handle, normalDisplay)
	if err != nil || result != flattened {
		return handle, f, err
	}
	if _, err := lib.call("FPDF_ClosePage", handle); err != nil {
		return 0, frame{}, err
	}
	handle, err = lib.call("FPDF_LoadPage", doc, uint64(index))
	return handle, f, err
}

func measure(lib *library, handle uint64) (frame, error) {
	if _, err := lib.call("FPDF_GetPageBoundingBox", handle, lib.scratch); err != nil {
		return frame{}, err
	}
	box := lib.floats(4) // left, top, right, bottom
	quarters, err := lib.number("FPDFPage_GetRotation", handle)
	return frame{left: box[0], top: box[1], right: box[2], bottom: box[3], quarters: quarters & 3}, err
}
