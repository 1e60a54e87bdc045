package main

import (
	"bytes"
	"compress/zlib"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Measures of a page of a report, in points and in characters.
const (
	pageWidth, pageHeight = 595, 842
	pageMargin            = 60
	lineHeight            = 14
	lineLength            = 85
	linesOnPage           = 48
	tableRows             = 8 // on every third page
)

// reports returns PDFs of so many pages, each unlike any other: every page has a
// heading and lines of prose from the abstracts, and every third one a table. Each word
// has a place of its own, as in what word processors and browsers write.
func (b *bench) reports(count, pages int) ([][]byte, error) {
	list, err := b.abstracts()
	if err != nil {
		return nil, err
	}
	files := make([][]byte, count)
	for i := range files {
		w := pdfWriter{}
		at := i * 37
		for page := range pages {
			var words []string
			title := list[at%len(list)].title
			for len(words) < linesOnPage*lineLength/5 {
				words = append(words, strings.Fields(list[at%len(list)].text)...)
				at++
			}
			w.addPage(fmt.Sprintf("%d.%d %s", i+1, page+1, title), words, page)
		}
		if files[i], err = w.file(); err != nil {
			return nil, err
		}
	}
	return files, nil
}

// writeReports writes reports to a folder and returns their paths.
func (b *bench) writeReports(folder string, count, pages int) ([]string, error) {
	files, err := b.reports(count, pages)
	if err != nil {
		return nil, err
	}
	paths := make([]string, count)
	for i, data := range files {
		paths[i] = filepath.Join(folder, fmt.Sprintf("report-%03d.pdf", i+1))
		if err := os.WriteFile(paths[i], data, 0o600); err != nil {
			return nil, err
		}
	}
	return paths, nil
}

// pdfWriter collects the contents of pages in the viewer's own Courier, each of whose
// characters is .6 of its size wide.
type pdfWriter struct {
	pages []bytes.Buffer
	top   int // of the next line of the last page
}

const regular, bold = "F1", "F2"

var escaper = strings.NewReplacer(`\`, `\\`, "(", `\(`, ")", `\)`)

// show writes the words of a text from a distance from the left edge on.
func (w *pdfWriter) show(font string, size, left int, text string) {
	page := &w.pages[len(w.pages)-1]
	at := float64(left)
	for word := range strings.FieldsSeq(text) {
		fmt.Fprintf(page, "BT /%s %d Tf 1 0 0 1 %.1f %d Tm (%s) Tj ET\n", font, size, at, w.top, escaper.Replace(word))
		at += .6 * float64(size*(len(word)+1))
	}
}

// addPage adds a page with a heading and as many of the words as fit.
func (w *pdfWriter) addPage(heading string, words []string, number int) {
	w.pages, w.top = append(w.pages, bytes.Buffer{}), pageHeight-pageMargin
	w.show(bold, 13, pageMargin, heading[:min(len(heading), 60)])
	w.top -= 2 * lineHeight
	lines := linesOnPage
	if number%3 == 2 {
		lines -= tableRows + 2
	}
	for range lines {
		line := ""
		for len(words) > 0 && len(line)+len(words[0]) < lineLength {
			line, words = line+words[0]+" ", words[1:]
		}
		w.show(regular, 9, pageMargin, line)
		w.top -= lineHeight
	}
	if lines == linesOnPage {
		return
	}
	w.top -= lineHeight
	for row := range tableRows {
		for column := range 5 {
			w.show(regular, 9, pageMargin+100*column, fmt.Sprintf("%d.%d", (number+1)*(row+7)*(column+3)%997, row))
		}
		w.top -= lineHeight
	}
}

// file returns the PDF.
func (w *pdfWriter) file() ([]byte, error) {
	const firstPage = 5 // number of the object; each page has two
	kids := ""
	for i := range w.pages {
		kids += fmt.Sprintf("%d 0 R ", firstPage+2*i)
	}
	objects := []string{
		"<< /Type /Catalog /Pages 2 0 R >>",
		fmt.Sprintf("<< /Type /Pages /Kids [%s] /Count %d >>", kids, len(w.pages)),
		"<< /Type /Font /Subtype /Type1 /BaseFont /Courier >>",
		"<< /Type /Font /Subtype /Type1 /BaseFont /Courier-Bold >>",
	}
	for i := range w.pages {
		var packed bytes.Buffer
		z := zlib.NewWriter(&packed)
		if _, err := z.Write(w.pages[i].Bytes()); err != nil {
			return nil, err
		}
		if err := z.Close(); err != nil {
			return nil, err
		}
		objects = append(objects,
			fmt.Sprintf("<< /Type /Page /Parent 2 0 R /MediaBox [0 0 %d %d] /Resources << /Font << /%s 3 0 R /%s 4 0 R >> >> /Contents %d 0 R >>",
				pageWidth, pageHeight, regular, bold, firstPage+2*i+1),
			fmt.Sprintf("<< /Filter /FlateDecode /Length %d >>\nstream\n%s\nendstream", packed.Len(), packed.String()))
	}
	return assemble(objects), nil
}

// assemble numbers the objects of a PDF from 1 and writes the table of their places.
// Object 1 is the catalog.
func assemble(objects []string) []byte {
	var out bytes.Buffer
	out.WriteString("%PDF-1.4\n")
	var table strings.Builder
	for i, object := range objects {
		fmt.Fprintf(&table, "%010d 00000 n \n", out.Len())
		fmt.Fprintf(&out, "%d 0 obj\n%s\nendobj\n", i+1, object)
	}
	start := out.Len()
	fmt.Fprintf(&out, "xref\n0 %d\n0000000000 65535 f \n%s", len(objects)+1, table.String())
	fmt.Fprintf(&out, "trailer << /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n", len(objects)+1, start)
	return out.Bytes()
}
