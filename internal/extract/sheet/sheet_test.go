package sheet_test

import (
	"archive/zip"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cairn-rag/cairn/internal/extract/container/containertest"
	"github.com/cairn-rag/cairn/internal/extract/format"
	"github.com/cairn-rag/cairn/internal/extract/sheet"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/google/go-cmp/cmp"
	"github.com/xuri/excelize/v2"
)

// workbook saves a workbook that fill fills, and returns its path.
func workbook(t testing.TB, fill func(f *excelize.File) error) string {
	t.Helper()
	f := excelize.NewFile()
	path := filepath.Join(t.TempDir(), "book.xlsx")
	if err := errors.Join(fill(f), f.SaveAs(path), f.Close()); err != nil {
		t.Fatal(err)
	}
	return path
}

// set sets the cells of a row.
func set(f *excelize.File, sheet, cell string, values ...any) error {
	return f.SetSheetRow(sheet, cell, &values)
}

func texts(blocks []knowledge.Block) []string {
	var out []string
	for _, b := range blocks {
		out = append(out, string(b.Kind)+" "+b.Text)
	}
	return out
}

func TestWorkbook(t *testing.T) {
	t.Parallel()
	style := func(f *excelize.File, cell string, format string) error {
		id, err := f.NewStyle(&excelize.Style{CustomNumFmt: &format})
		return errors.Join(err, f.SetCellStyle("Sheet1", cell, cell, id))
	}
	for _, tc := range []struct {
		behaviour string
		fill      func(f *excelize.File) error
		want      []string
	}{
		{"values as they are shown", func(f *excelize.File) error {
			day := time.Date(2024, 3, 5, 0, 0, 0, 0, time.UTC)
			return errors.Join(set(f, "Sheet1", "A1", "what", "value"), set(f, "Sheet1", "A2", "price", 1234.5), style(f, "B2", `#,##0.00 "EUR"`),
				set(f, "Sheet1", "A3", "share", .25), style(f, "B3", "0%"), set(f, "Sheet1", "A4", "day", day), style(f, "B4", "dd.mm.yyyy"), set(f, "Sheet1", "A5", "yes", true))
		}, []string{"heading Sheet1", "table | what | value |\n| --- | --- |\n| price | 1,234.50 EUR |\n| share | 25% |\n| day | 05.03.2024 |\n| yes | TRUE |"}},
		{"long numbers keep their digits", func(f *excelize.File) error {
			return errors.Join(set(f, "Sheet1", "A1", "account", "amount"), set(f, "Sheet1", "A2", 123456789012345, 0.1+0.2))
		}, []string{"heading Sheet1", "table | account | amount |\n| --- | --- |\n| 123456789012345 | 0.3 |"}},
		{"a title, a table, and another table below", func(f *excelize.File) error {
			return errors.Join(set(f, "Sheet1", "A1", "Sales of 2024"), set(f, "Sheet1", "A3", "region", "amount"), set(f, "Sheet1", "A4", "north", 5), set(f, "Sheet1", "A6", "south", 6),
				set(f, "Sheet1", "A9", "name", "phone", "office"), set(f, "Sheet1", "A10", "Ann", "1", "A"))
		}, []string{"heading Sheet1", "paragraph Sales of 2024", "table | region | amount |\n| --- | --- |\n| north | 5 |\n| south | 6 |", "table | name | phone | office |\n| --- | --- | --- |\n| Ann | 1 | A |"}},
		{"hidden sheets say so, and empty ones are left out", func(f *excelize.File) error {
			_, a := f.NewSheet("Empty")
			_, b := f.NewSheet("Lookup")
			return errors.Join(a, b, set(f, "Sheet1", "A1", "x"), set(f, "Lookup", "A1", "y"), f.SetSheetVisible("Lookup", false))
		}, []string{"heading Sheet1", "paragraph x", "heading Lookup (hidden sheet)", "paragraph y"}},
		{"comments name their cell", func(f *excelize.File) error {
			return errors.Join(set(f, "Sheet1", "A1", "x"), f.AddComment("Sheet1", excelize.Comment{Cell: "A1", Author: "Ann", Text: "Why?"}))
		}, []string{"heading Sheet1", "paragraph x", "paragraph Comment on Sheet1!A1 by Ann: Why?"}},
		{"text boxes and charts", func(f *excelize.File) error {
			return errors.Join(set(f, "Sheet1", "A1", "drink", "cups"), set(f, "Sheet1", "A2", "tea", 4),
				f.AddShape("Sheet1", &excelize.Shape{Cell: "D1", Type: "rect", Paragraph: []excelize.RichTextRun{{Text: "boxed"}}}),
				f.AddChart("Sheet1", "D9", &excelize.Chart{Type: excelize.Col, Series: []excelize.ChartSeries{{Name: "Sheet1!$B$1", Categories: "Sheet1!$A$2", Values: "Sheet1!$B$2"}}, Title: excelize.ChartTitle{Paragraph: []excelize.RichTextRun{{Text: "Cups"}}}}))
		}, []string{"heading Sheet1", "table | drink | cups |\n| --- | --- |\n| tea | 4 |", "paragraph boxed", "caption Cups"}},
		{"headers and footers are furniture", func(f *excelize.File) error {
			return errors.Join(set(f, "Sheet1", "A1", "x"), f.SetHeaderFooter("Sheet1", &excelize.HeaderFooterOptions{OddHeader: `&L&"Arial,Bold"&12Secret&R&P`, OddFooter: "&CA && B"}))
		}, []string{"heading Sheet1", "paragraph x", "header Secret", "footer A & B"}},
	} {
		t.Run(tc.behaviour, func(t *testing.T) {
			t.Parallel()
			result, err := sheet.Read(format.Source{Path: workbook(t, tc.fill), Folder: t.TempDir()})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, texts(result.Layout.Blocks)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestMergedCells(t *testing.T) {
	t.Parallel()
	path := workbook(t, func(f *excelize.File) error {
		return errors.Join(set(f, "Sheet1", "A1", "drink", "price", ""), set(f, "Sheet1", "A2", "tea", "small", 2), set(f, "Sheet1", "A3", "", "large", 3),
			f.MergeCell("Sheet1", "B1", "C1"), f.MergeCell("Sheet1", "A2", "A3"))
	})
	result, err := sheet.Read(format.Source{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	got := result.Layout.Blocks[1]
	want := []knowledge.Cell{
		{Text: "drink"}, {Column: 1, ColumnSpan: 2, Text: "price"},
		{Row: 1, RowSpan: 2, Text: "tea"}, {Row: 1, Column: 1, Text: "small"}, {Row: 1, Column: 2, Text: "2"},
		{Row: 2, Column: 1, Text: "large"}, {Row: 2, Column: 2, Text: "3"},
	}
	if diff := cmp.Diff(want, got.Cells); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(knowledge.Sheet{Name: "Sheet1", Columns: 3, Rows: []int{1, 1, 2, 3}}, got.Sheet); diff != "" {
		t.Error(diff)
	}
}

// sheetXML returns the path of a workbook whose only sheet has this XML.
func sheetXML(t *testing.T, xml string) string {
	t.Helper()
	path := workbook(t, func(f *excelize.File) error { return set(f, "Sheet1", "A1", "x") })
	return changed(t, path, func(name string, data []byte) []byte {
		if name == "xl/worksheets/sheet1.xml" {
			return []byte(xml)
		}
		return data
	}, nil)
}

// changed returns the path of a copy of a workbook. part returns the new data of a part,
// nil = the copy lacks it; a nil part changes none. names has new names of parts.
func changed(t *testing.T, path string, part func(name string, data []byte) []byte, names map[string]string) string {
	t.Helper()
	z, err := zip.OpenReader(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = z.Close() }() // it was only read
	var files []containertest.File
	for _, f := range z.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		if part != nil {
			data = part(f.Name, data)
		}
		if data != nil {
			name := f.Name
			if other, ok := names[name]; ok {
				name = other
			}
			files = append(files, containertest.File{Name: name, Data: data})
		}
	}
	return containertest.WriteFiles(t, files...)
}

// without is a part of changed that drops the parts whose names begin with a prefix.
func without(prefixes ...string) func(string, []byte) []byte {
	return func(name string, data []byte) []byte {
		for _, prefix := range prefixes {
			if strings.HasPrefix(name, prefix) {
				return nil
			}
		}
		return data
	}
}

// wantTexts checks the texts of a workbook; without any, it must be corrupt.
func wantTexts(t *testing.T, path string, want []string) {
	t.Helper()
	result, err := sheet.Read(format.Source{Path: path, Folder: t.TempDir()})
	if want == nil {
		if !knowledge.IsCode(err, knowledge.CodeCorrupt) {
			t.Errorf("error %v", err)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, texts(result.Layout.Blocks)); diff != "" {
		t.Error(diff)
	}
}

func TestWorkbooksThatLackParts(t *testing.T) {
	t.Parallel()
	path := workbook(t, func(f *excelize.File) error {
		_, err := f.NewSheet("Other")
		return errors.Join(err, set(f, "Sheet1", "A1", 123456789012345, true), set(f, "Other", "A1", 7))
	})
	first, other := "table | 123456789012345 | TRUE |", "paragraph 7"
	both := []string{"heading Sheet1", first, "heading Other", other}
	for _, tc := range []struct {
		behaviour string
		part      func(name string, data []byte) []byte
		want      []string // nil = corrupt
	}{
		{"no styles", without("xl/styles.xml"), both},
		{"styles without formats", func(name string, data []byte) []byte {
			if name == "xl/styles.xml" {
				return []byte(`<styleSheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"/>`)
			}
			return data
		}, both},
		{"no shared strings", without("xl/sharedStrings.xml"), both},
		{"no properties", without("docProps/"), both},
		{"no theme", without("xl/theme/"), both},
		{"the sheets and their relations alone", without("xl/styles.xml", "xl/sharedStrings.xml", "docProps/", "xl/theme/"), both},
		{"a chain of calculation that is named but missing", func(name string, data []byte) []byte {
			return []byte(strings.Replace(string(data), "</Relationships>", `<Relationship Id="rId99" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/calcChain" Target="calcChain.xml"/></Relationships>`, 1))
		}, both},
		{"absolute targets", func(name string, data []byte) []byte {
			if name != "xl/_rels/workbook.xml.rels" {
				return data
			}
			absolute := strings.ReplaceAll(string(data), `Target="/xl/`, `Target="`)
			return []byte(strings.ReplaceAll(absolute, `Target="`, `Target="/xl/`))
		}, both},
		{"one sheet is missing", without("xl/worksheets/sheet1.xml"), []string{"heading Sheet1 (missing sheet)", "heading Other", other}},
		{"all sheets are missing", without("xl/worksheets/"), nil},
	} {
		t.Run(tc.behaviour, func(t *testing.T) {
			t.Parallel()
			wantTexts(t, changed(t, path, tc.part, nil), tc.want)
		})
	}
}

// TestTextsOfCells reads workbooks whose cells name their texts by number.
func TestTextsOfCells(t *testing.T) {
	t.Parallel()
	path := workbook(t, func(f *excelize.File) error { return set(f, "Sheet1", "A1", "what", "crane") })
	moved := func(name string, data []byte) []byte {
		if name == "xl/sharedStrings.xml" {
			return data
		}
		return []byte(strings.ReplaceAll(strings.ReplaceAll(string(data), `"sharedStrings.xml"`, `"texts/all.xml"`), `sharedStrings.xml"`, `texts/all.xml"`))
	}
	for _, tc := range []struct {
		behaviour string
		part      func(name string, data []byte) []byte
		names     map[string]string
		want      []string // nil = corrupt
	}{
		{"the usual part", nil, nil, []string{"heading Sheet1", "table | what | crane |"}},
		{"a part of another name", moved, map[string]string{"xl/sharedStrings.xml": "xl/texts/all.xml"}, []string{"heading Sheet1", "table | what | crane |"}},
		{"a part that is missing", without("xl/sharedStrings.xml"), nil, nil},
	} {
		t.Run(tc.behaviour, func(t *testing.T) {
			t.Parallel()
			wantTexts(t, changed(t, path, tc.part, tc.names), tc.want)
		})
	}
}

func TestHostileWorkbooks(t *testing.T) {
	t.Parallel()
	data := func(rows string) string { return "<worksheet><sheetData>" + rows + "</sheetData></worksheet>" }
	number := `<row r="%d"><c r="A%d"><v>12345678901234</v></c><c r="B%d"><v>98765432109876</v></c></row>`
	million := func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, number, i+1, i+1, i+1)
		}
		return data(b.String())
	}
	for _, tc := range []struct {
		behaviour, xml string
		code           knowledge.Code // "" = text
	}{
		{"a million rows", million(1_000_000), knowledge.CodeTooLarge},
		{"a row beyond the last", data(`<row r="1"><c r="A1"><v>1</v></c></row><row r="99999999"><c r="A99999999"><v>1</v></c></row>`), knowledge.CodeParseLimit},
		{"one cell in the last row and column", data(`<row r="1048576"><c r="XFD1048576"><v>1</v></c></row>`), ""},
		{"a column beyond the last", data(`<row r="1"><c r="ZZZZ1"><v>1</v></c></row>`), knowledge.CodeCorrupt},
		{"every cell of a sheet is merged", strings.Replace(data(strings.Repeat(`<row><c><v>1</v></c></row>`, 10_000)), "</worksheet>", `<mergeCells><mergeCell ref="A1:XFD1048576"/></mergeCells></worksheet>`, 1), ""},
		{"XML that is cut off in a row", `<worksheet><sheetData><row r="1"><c r="A1"><v>1</v></c>`, knowledge.CodeCorrupt},
		{"XML that is broken in the middle", data(`<row r="1"><c r="A1"><v>1</v></c></row><row r="2"><c r="A2"><v>&bomb;</v></c></row><row r="3"><c r="A3"><v>1</v></c></row>`), knowledge.CodeCorrupt},
	} {
		t.Run(tc.behaviour, func(t *testing.T) {
			t.Parallel()
			_, err := sheet.Read(format.Source{Path: sheetXML(t, tc.xml), Folder: t.TempDir()})
			if tc.code == "" && err != nil || tc.code != "" && !knowledge.IsCode(err, tc.code) {
				t.Errorf("error %v, want code %q", err, tc.code)
			}
		})
	}
}

// BenchmarkRows reads a sheet of 100,000 rows of eight columns.
func BenchmarkRows(b *testing.B) {
	path := workbook(b, func(f *excelize.File) error {
		w, err := f.NewStreamWriter("Sheet1")
		if err != nil {
			return err
		}
		for i := range 100_000 {
			cell := fmt.Sprintf("A%d", i+1)
			err = errors.Join(err, w.SetRow(cell, []any{i, "customer", "Springfield", i % 900, float64(i) / 4, "EUR", "delivered", "no comment"}))
		}
		return errors.Join(err, w.Flush())
	})
	for b.Loop() {
		if _, err := sheet.Read(format.Source{Path: path}); err != nil {
			b.Fatal(err)
		}
	}
}
