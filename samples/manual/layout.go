package manual

import (
	"bytes"
	"fmt"
	"strings"
)

// Size of A4 in points, and the layout of the manual.
const (
	pageWidth, pageHeight = 595.0, 842.0
	margin                = 64.0
	bottom                = 84.0
	bodySize, headingSize = 10.5, 14.0
	leading               = 15.0
	rowHeight             = 19.0
)

// Names of the fonts in the page's resources.
const (
	regular = "F1"
	bold    = "F2"
)

// setter places elements on pages from the top down. y is PDF's: 0 is at the
// foot.
type setter struct {
	pages []*bytes.Buffer
	y     float64
}

// set returns the content stream of each page.
func set(elements []element) [][]byte {
	s := &setter{}
	s.newPage()
	s.text(bold, 20, margin, s.y, title)
	s.y -= 20
	s.text(regular, 11, margin, s.y, subtitle)
	s.y -= 34
	for i, e := range elements {
		switch {
		case e.heading != "":
			// A heading stays with the beginning of the next element.
			s.need(headingSize + 24 + s.opening(elements, i+1))
			s.heading(e.heading)
		case e.table != nil:
			s.need(rowHeight*float64(len(e.table.rows)) + leading)
			s.table(*e.table)
		default:
			s.paragraph(e.paragraph)
		}
	}
	streams := make([][]byte, len(s.pages))
	for i, page := range s.pages {
		writeText(page, regular, 8.5, pageWidth-margin-56, 48, fmt.Sprintf("Page %d of %d", i+1, len(s.pages)))
		streams[i] = page.Bytes()
	}
	return streams
}

func (s *setter) opening(elements []element, i int) float64 {
	if i < len(elements) && elements[i].table != nil {
		return rowHeight * float64(len(elements[i].table.rows))
	}
	return 3 * leading
}

func (s *setter) newPage() {
	s.pages = append(s.pages, &bytes.Buffer{})
	s.y = pageHeight - margin - 20
}

// need starts a page if less than height is left on this one.
func (s *setter) need(height float64) {
	if s.y-height < bottom {
		s.newPage()
	}
}

func (s *setter) heading(text string) {
	s.y -= 8
	s.text(bold, headingSize, margin, s.y, text)
	s.y -= 22
}

func (s *setter) paragraph(text string) {
	lines := wrap(text, bodySize, pageWidth-2*margin)
	for i, line := range lines {
		if i == len(lines)-2 {
			s.need(2 * leading) // no page begins with the last line of a paragraph
		}
		s.need(leading)
		s.text(regular, bodySize, margin, s.y, line)
		s.y -= leading
	}
	s.y -= 8
}

func (s *setter) table(t table) {
	right := margin
	for _, w := range t.widths {
		right += w
	}
	top := s.y + leading - 3
	s.line(margin, top, right, top)
	for i, row := range t.rows {
		font := regular
		if i == 0 {
			font = bold
		}
		x := margin
		for column, cell := range row {
			s.text(font, 9.5, x+5, s.y-2, cell)
			x += t.widths[column]
		}
		s.y -= rowHeight
		s.line(margin, s.y+leading-3, right, s.y+leading-3)
	}
	foot := s.y + leading - 3
	for x, i := margin, 0; ; i++ {
		s.line(x, top, x, foot)
		if i == len(t.widths) {
			break
		}
		x += t.widths[i]
	}
	s.y -= 12
}

func (s *setter) text(font string, size, x, y float64, text string) {
	writeText(s.pages[len(s.pages)-1], font, size, x, y, text)
}

func (s *setter) line(x1, y1, x2, y2 float64) {
	fmt.Fprintf(s.pages[len(s.pages)-1], "0.5 w %.2f %.2f m %.2f %.2f l S\n", x1, y1, x2, y2)
}

func writeText(page *bytes.Buffer, font string, size, x, y float64, text string) {
	escaped := strings.NewReplacer(`\`, `\\`, `(`, `\(`, `)`, `\)`).Replace(text)
	fmt.Fprintf(page, "BT /%s %g Tf %.2f %.2f Td (%s) Tj ET\n", font, size, x, y, escaped)
}

// wrap splits text into lines of at most limit points.
func wrap(text string, size, limit float64) []string {
	var lines []string
	line := ""
	for _, word := range strings.Fields(text) {
		longer := strings.TrimPrefix(line+" "+word, " ")
		if line != "" && width(longer, size) > limit {
			lines = append(lines, line)
			longer = word
		}
		line = longer
	}
	return append(lines, line)
}
