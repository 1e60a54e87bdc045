package pdf

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"time"
	"unicode"

	"github.com/cairn-rag/cairn/internal/extract/format"
	"github.com/cairn-rag/cairn/internal/extract/layout"
	"github.com/cairn-rag/cairn/internal/extract/ocr"
	"github.com/cairn-rag/cairn/internal/extract/picture"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

const (
	// A page with fewer letters than fewLetters has no text of its own, and one with
	// fewer than someLetters may be a scan with a stamp or a header.
	fewLetters  = 25
	someLetters = 250
	// smallestScan is the share of a page that the images of a scan cover; of a page
	// without letters it is smallestPicture.
	smallestScan    = .5
	smallestPicture = .02
	// drawnText is how many paths a page has whose letters are drawings.
	drawnText = 50

	scanResolution = 200.0 / 72 // pixels a point

	// maxScans and maxScanTime bound the text recognition of one document. The pages
	// behind them are not read.
	maxScans    = 500
	maxScanTime = 20 * time.Minute
	// scanTime bounds the text recognition of one page.
	scanTime = 40 * time.Second
)

// scans is what was recognised in a document.
type scans struct {
	tesseract *ocr.Tesseract
	missing   error // why there is no tesseract
	pages     int   // recognised
	unread    int   // pages that should be recognised and were not
	took      time.Duration
}

// isScan reports whether a page shows text as a picture, or with characters that have no
// meaning.
func isScan(p page, found objects) bool {
	letters := 0
	for _, l := range p.lines {
		for _, r := range l.Text {
			if unicode.IsLetter(r) || unicode.IsDigit(r) {
				letters++
			}
		}
	}
	covered := coverage(p, found)
	switch {
	case p.unknown >= fewLetters && 4*p.unknown > letters:
		return true
	case letters < fewLetters:
		return covered >= smallestPicture || found.paths.count >= drawnText
	case letters < someLetters:
		return covered >= smallestScan
	default:
		return false
	}
}

// coverage returns the share of a page that its images cover. Images that overlap
// count twice.
func coverage(p page, found objects) float64 {
	width, height := p.frame.size()
	area := 0.0
	for _, img := range found.images {
		area += (img.box.X2 - img.box.X1) * (img.box.Y2 - img.box.Y1)
	}
	return area / max(1, width*height)
}

// recognise returns the lines of a page that is a scan: those that the page has as
// text, and those in its picture that are not among them.
func (d *document) recognise(p page) ([]layout.Line, error) {
	s := &d.scans
	if s.tesseract == nil && s.missing == nil {
		s.tesseract, s.missing = ocr.New(d.ctx, d.source, "a scanned PDF")
	}
	if s.missing != nil || s.pages+s.unread >= maxScans || s.took > maxScanTime {
		s.unread++
		return p.lines, nil
	}
	d.source.MoreTime()
	began := time.Now()
	defer func() { s.took += time.Since(began) }()
	width, height := p.frame.size()
	size := knowledge.PageSize{Page: p.number, Width: width, Height: height}
	drawn, perPoint, err := d.draw(p, knowledge.Box{X2: width, Y2: height}, scanResolution)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(d.ctx, scanTime)
	defer cancel()
	found, err := s.tesseract.Read(ctx, picture.Gray(drawn, 1), perPoint, size)
	if err != nil {
		if d.ctx.Err() != nil {
			return nil, fmt.Errorf("recognise page %d: %w", p.number, context.Cause(d.ctx))
		}
		fmt.Fprintln(os.Stderr, err) // for the log; tesseract failed on this page, or took too long
		s.unread++
		return p.lines, nil
	}
	s.pages++
	return merged(p.lines, found), nil
}

// merged returns the lines of a page's text, and behind them the recognised lines
// that stand elsewhere.
func merged(text, recognised []layout.Line) []layout.Line {
	lines := append([]layout.Line(nil), text...)
	for _, r := range recognised {
		known := false
		for _, l := range text {
			known = known || layout.Overlap(l.Box.X1, l.Box.X2, r.Box.X1, r.Box.X2) > .5 && layout.Overlap(l.Box.Y1, l.Box.Y2, r.Box.Y1, r.Box.Y2) > .5
		}
		if !known {
			lines = append(lines, r)
		}
	}
	return lines
}

// check returns the error of a document without text, if it has none.
func (s *scans) check(hasText bool, options format.Options) error {
	switch {
	case hasText || options.Describe:
		return nil
	case s.missing != nil:
		return s.missing
	case s.unread > 0:
		return knowledge.Errorf(knowledge.CodeParseLimit,
			"the pages of the PDF are pictures, and their text could not be recognised in time; send clearer or smaller ones")
	default:
		return knowledge.Errorf(knowledge.CodeEmpty, "there is no text in the PDF and none was recognised in its pictures; send one with text in it")
	}
}

// describe adds to the metadata on how many pages text was recognised, and how many
// were not read.
func (s *scans) describe(metadata map[string]string) {
	if s.pages > 0 {
		metadata["ocr_pages"], metadata["ocr_languages"] = strconv.Itoa(s.pages), s.tesseract.Languages()
	}
	if s.unread > 0 {
		metadata["pages_not_read"] = strconv.Itoa(s.unread)
	}
}
