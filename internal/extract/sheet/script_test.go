package sheet_test

import (
	"errors"
	"testing"

	"github.com/cairn-rag/cairn/internal/extract/format"
	"github.com/cairn-rag/cairn/internal/extract/sheet"
	"github.com/google/go-cmp/cmp"
	"github.com/xuri/excelize/v2"
)

func TestRaisedText(t *testing.T) {
	t.Parallel()
	up, down := &excelize.Font{VertAlign: "superscript"}, &excelize.Font{VertAlign: "subscript"}
	shared := workbook(t, func(f *excelize.File) error {
		return errors.Join(
			f.SetCellRichText("Sheet1", "A1", []excelize.RichTextRun{{Text: "10"}, {Text: "-6", Font: up}, {Text: " bar"}}),
			f.SetCellRichText("Sheet1", "B1", []excelize.RichTextRun{{Text: "H"}, {Text: "2", Font: down}, {Text: "O & x"}, {Text: "a,b", Font: down}}),
		)
	})
	inline := sheetXML(t, `<sheetData><row r="1"><c r="A1" t="inlineStr"><is><r><t>10</t></r><r><rPr><vertAlign val="superscript"/></rPr><t>6</t></r><r><t xml:space="preserve"> Pa</t></r></is></c>`+
		`<c r="B1" t="inlineStr"><is><t>plain 6</t></is></c></row></sheetData>`)
	for path, want := range map[string]string{
		shared: "table | 10⁻⁶ bar | H₂O & x_(a,b) |",
		inline: "table | 10⁶ Pa | plain 6 |",
	} {
		result, err := sheet.Read(format.Source{Path: path})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, texts(result.Layout.Blocks)[1]); diff != "" {
			t.Error(diff)
		}
	}
}
