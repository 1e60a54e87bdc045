package pdf_test

import (
	"bytes"
	"errors"
	"testing"
	"unicode/utf8"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// FuzzRead reads damaged PDFs. A file is read, or the error says what is wrong with it;
// the lines of a text are within it and on a page of the document.
func FuzzRead(f *testing.F) {
	tagged := onePage("/MarkInfo << /Marked true >> /StructTreeRoot 6 0 R", "/StructParents 0", "/P << /MCID 0 >> BDC\n"+body(72, 700, "A tagged text.")+"EMC\n")
	for _, seed := range [][]byte{
		makePDF(a4, body(72, 700, "A page of text with a broken exam-", "ple of it.")),
		makePDF(a4+" /Rotate 90", raisedText(60, 400, "The filter holds 10^6^ particles of CO_2_.")),
		makePDF(a4, body(72, 700, "Name")+body(200, 700, "Price")+body(72, 685, "Tea")+body(200, 685, "1.50"), body(290, 40, "2")),
		type3("/WinAnsiEncoding", "Invoice 4711 of 03/05/2024"),
		byCode(identityTable, same, "Счёт № 17"), byCode("", glyphs29, "The quick inspection"),
		arabic(false, []string{"ا", "ل", "م", "ش", "ك", "لا", "ت"}), arabic(true, []string{"ש", "ל", "ו", "ם"}),
		pictures("text", show(0, 0, 595, 842)),
		build("", append(tagged, "<< /Type /StructTreeRoot /K [7 0 R] >>", "<< /S /P /P 6 0 R /Pg 3 0 R /K 0 >>")...),
		build("", append(onePage("/Outlines 6 0 R", "", body(72, 700, "1. The Parts")),
			"<< /First 7 0 R /Last 7 0 R /Count 1 >>", "<< /Title (The Parts) /Parent 6 0 R /Dest [3 0 R /XYZ 0 720 0] >>")...),
	} {
		f.Add(seed)
	}
	reader := newReader(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 1<<20 || !bytes.Contains(data, []byte("obj")) {
			return
		}
		result, err := reader.Read(t.Context(), source(t, data))
		if err != nil {
			if e, ok := errors.AsType[*knowledge.Error](err); !ok || e.Code == knowledge.CodeInternal {
				t.Errorf("not an error of the file: %v", err)
			}
			return
		}
		pages := map[int]knowledge.PageSize{}
		for _, p := range result.Layout.Pages {
			pages[p.Page] = p
		}
		for _, b := range result.Layout.Blocks {
			if !utf8.ValidString(b.Text) {
				t.Errorf("%q is not UTF-8", b.Text)
			}
			end := utf8.RuneCountInString(b.Text)
			for _, l := range b.Lines {
				if _, ok := pages[l.Page]; !ok || l.Start < 0 || l.Start > l.End || l.End > end {
					t.Errorf("line [%d,%d) on page %d of a text of %d code points", l.Start, l.End, l.Page, end)
				}
			}
		}
	})
}
