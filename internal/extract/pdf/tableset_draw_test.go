package pdf_test

import (
	"fmt"
	"strings"
)

// helveticaWidths are the widths of the characters of Helvetica from the space on, in
// thousandths of the font size.
var helveticaWidths = [...]float64{
	278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278, 556, 556, 556, 556, 556, 556, 556, 556, 556, 556, 278, 278, 584, 584, 584, 556,
	1015, 667, 667, 722, 722, 667, 611, 778, 722, 278, 500, 667, 556, 833, 722, 778, 667, 778, 722, 667, 611, 722, 667, 944, 667, 667, 611, 278, 278, 278, 469, 556,
	333, 556, 556, 500, 556, 556, 278, 556, 556, 222, 222, 500, 222, 833, 556, 556, 556, 556, 333, 500, 278, 556, 500, 722, 500, 500, 500, 334, 260, 334, 584,
}

// The measures of drawn tables, in points.
const (
	drawnFont    = 9
	drawnLeading = 11
	drawnPadding = 4
	drawnWidest  = 130 // text of a cell; longer text is wrapped
	drawnTop     = 760
	drawnBottom  = 60
)

func textWidth(s string) float64 {
	sum := 0.0
	for _, r := range s {
		if i := int(r) - ' '; i >= 0 && i < len(helveticaWidths) {
			sum += helveticaWidths[i]
		} else {
			sum += 556
		}
	}
	return sum * drawnFont / 1000
}

// wrap breaks a text into lines.
func wrap(s string) []string {
	var lines []string
	for word := range strings.FieldsSeq(s) {
		if n := len(lines); n > 0 && textWidth(lines[n-1]+" "+word) <= drawnWidest {
			lines[n-1] += " " + word
		} else {
			lines = append(lines, word)
		}
	}
	return lines
}

// drawer draws tables on the pages of a PDF of our own.
type drawer struct {
	pages []strings.Builder
	y     float64
}

func (d *drawer) page() *strings.Builder { return &d.pages[len(d.pages)-1] }

// need begins a page if there is no room left.
func (d *drawer) need(height float64) (begun bool) {
	if len(d.pages) > 0 && d.y-height >= drawnBottom {
		return false
	}
	d.pages, d.y = append(d.pages, strings.Builder{}), drawnTop
	return true
}

func (d *drawer) text(x float64, font, s string) {
	s = strings.NewReplacer("(", `\(`, ")", `\)`, "–", `\226`).Replace(s)
	d.page().WriteString(text(font, drawnFont, x, d.y, s))
}

func (d *drawer) prose(s string) {
	d.need(40)
	d.y -= 24
	d.text(60, "F", s)
	d.y -= 10
}

// columnsOf returns the left edges of the columns of a table, and the right one.
func (t setTable) columnsOf(left float64) []float64 {
	xs := []float64{left}
	for column := range t.body[len(t.body)-1] {
		wide := 0.0
		for _, row := range append(t.head[len(t.head)-1:], t.body...) {
			if column < len(row) && row[column].columns == 1 {
				for _, line := range wrap(row[column].text) {
					wide = max(wide, textWidth(line)*1.08) // a header is bold
				}
			}
		}
		xs = append(xs, xs[column]+wide+2*drawnPadding)
	}
	return xs
}

// table draws a table; its header is repeated on each page.
func (d *drawer) table(t setTable) {
	xs := t.columnsOf(60)
	d.need(80)
	d.y -= 8
	head := func() {
		for i, row := range t.head {
			d.row(t, xs, row, i, true)
		}
	}
	head()
	for i, row := range t.body {
		if d.need(rowHeight(row)) {
			head()
		}
		d.row(t, xs, row, i, false)
	}
}

func rowHeight(row []setCell) float64 {
	lines := 1
	for _, c := range row {
		if c.columns == 1 {
			lines = max(lines, len(wrap(c.text)))
		}
	}
	return float64(lines)*drawnLeading + 2*drawnPadding
}

// row draws a row below d.y.
func (d *drawer) row(t setTable, xs []float64, row []setCell, index int, head bool) {
	tall, right := rowHeight(row), xs[len(xs)-1]
	top, bottom := d.y, d.y-tall
	if t.look == "shaded" && (head || index%2 == 1) {
		d.page().WriteString(bar(.85, xs[0], bottom, right-xs[0], tall))
	}
	if t.look == "rules" && (head || t.style%3 == 1 || index == len(t.body)-1) {
		d.page().WriteString(stroke(xs[0], bottom, right, bottom))
	}
	for i, c := range row {
		if c.columns == 0 {
			continue
		}
		x1, x2 := xs[i], xs[i+c.columns]
		if t.look == "ruled" {
			low := bottom
			if c.rows > 1 {
				low -= drawnLeading + 2*drawnPadding
			}
			d.page().WriteString(stroke(x1, top, x2, top) + stroke(x1, low, x2, low) + stroke(x1, top, x1, low) + stroke(x2, top, x2, low))
		}
		d.cell(c, x1, x2, top, head)
	}
	d.y = bottom
}

func (d *drawer) cell(c setCell, x1, x2, top float64, head bool) {
	font := "F"
	if head {
		font = "B"
	}
	y := d.y
	for i, line := range wrap(c.text) {
		d.y = top - drawnPadding - drawnLeading*float64(i+1) + 3
		x := x1 + drawnPadding
		if c.number && !head {
			x = x2 - drawnPadding - textWidth(line)
		}
		d.text(x, font, line)
	}
	d.y = y
}

// drawSet returns a PDF with tables that the tests draw themselves. It leaves out those
// from right to left, because the font has no such letters.
func drawSet(tables []setTable) []byte {
	var d drawer
	for i, t := range tables {
		if t.kind == "right to left" {
			continue
		}
		d.prose(fmt.Sprintf("Part %d. The figures of this part were taken in the course of the year.", i+1))
		d.table(t)
		d.prose("Nothing else was found, and the books were closed at the end of the month by two people.")
	}
	var streams []string
	for i := range d.pages {
		streams = append(streams, d.pages[i].String())
	}
	return makePDF(a4, streams...)
}
