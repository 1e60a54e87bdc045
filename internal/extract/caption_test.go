package extract_test

import (
	"archive/zip"
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/extract"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// TestCaptionsOfTables reads the same table from several formats: a sentence, the
// unit, the period, and two rows below the names of the columns.
func TestCaptionsOfTables(t *testing.T) {
	t.Parallel()
	const text, unit, period = "The results of the quarter are below.", "(in millions)", "13 Weeks Ended"
	rows := [][]string{{"", "April 1, 2023", "April 2, 2022"}, {"Net sales", "1,927", "2,175"}, {"Net loss", "(12)", "(9)"}}
	pool, _ := newPool(t, extract.PoolConfig{Size: 1})
	for name, data := range map[string][]byte{
		"page.html":     htmlTable(text, unit, period, rows),
		"text.md":       markdownTable(text, unit, period, rows),
		"document.docx": wordTable(t, text, unit, period, rows),
		"print.pdf":     pdfTable(text, unit, period, rows),
	} {
		result, err := pool.Extract(t.Context(), extract.Input{Name: name, Path: write(t, name, data)})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		var got []string
		for _, b := range result.Layout.Blocks {
			if b.Kind == knowledge.BlockCaption && name == "print.pdf" && len(b.Lines) == 0 {
				t.Errorf("the caption in the PDF has no box")
			}
			got = append(got, string(b.Kind)+": "+strings.ReplaceAll(b.Text, "\n", " "))
		}
		table := "table: |  | April 1, 2023 | April 2, 2022 | | --- | --- | --- | | Net sales | 1,927 | 2,175 | | Net loss | (12) | (9) |"
		want := []string{"paragraph: " + text, "caption: " + unit, "caption: " + period, table}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func htmlTable(text, unit, period string, rows [][]string) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "<p>%s</p><div>%s</div><table><tr><td></td><td colspan=2>%s</td></tr>", text, unit, period)
	for _, row := range rows {
		b.WriteString("<tr><td>" + strings.Join(row, "</td><td>") + "</td></tr>")
	}
	return []byte(b.String() + "</table>")
}

func markdownTable(text, unit, period string, rows [][]string) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\n%s\n\n%s\n\n", text, unit, period)
	for i, row := range rows {
		b.WriteString("| " + strings.Join(row, " | ") + " |\n")
		if i == 0 {
			b.WriteString("| --- | --- | --- |\n")
		}
	}
	return []byte(b.String())
}

func wordTable(t *testing.T, text, unit, period string, rows [][]string) []byte {
	t.Helper()
	paragraph := func(text string) string { return "<w:p><w:r><w:t>" + text + "</w:t></w:r></w:p>" }
	var b strings.Builder
	b.WriteString(paragraph(text) + paragraph(unit) + paragraph(period) + "<w:tbl>")
	for _, row := range rows {
		b.WriteString("<w:tr>")
		for _, cell := range row {
			b.WriteString("<w:tc>" + paragraph(cell) + "</w:tc>")
		}
		b.WriteString("</w:tr>")
	}
	b.WriteString("</w:tbl>")
	var file bytes.Buffer
	archive := zip.NewWriter(&file)
	for _, part := range [][2]string{
		{"[Content_Types].xml", `<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Override PartName="/word/document.xml" ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>`},
		{"_rels/.rels", `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="r1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="word/document.xml"/></Relationships>`},
		{"word/document.xml", `<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body>` + b.String() + `</w:body></w:document>`},
	} {
		w, err := archive.Create(part[0])
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(part[1])); err != nil {
			t.Fatal(err)
		}
	}
	if err := archive.Close(); err != nil {
		t.Fatal(err)
	}
	return file.Bytes()
}

func pdfTable(text, unit, period string, rows [][]string) []byte {
	var b strings.Builder
	at := func(x, y int, text string) {
		escaped := strings.NewReplacer("(", `\(`, ")", `\)`).Replace(text)
		fmt.Fprintf(&b, "BT /F 8 Tf %d %d Td (%s) Tj ET\n", x, y, escaped)
	}
	at(20, 180, text)
	at(20, 170, unit)
	at(150, 160, period)
	for i, row := range rows {
		for column, cell := range row {
			if cell != "" {
				at([]int{20, 130, 220}[column], 150-10*i, cell)
			}
		}
	}
	return onePage([]byte(b.String()), "")
}
