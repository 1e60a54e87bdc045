package e2e_test

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/cairn-rag/cairn/internal/client"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// bankStatement is the table of a bank's statement, with twelve values of personal data and as many
// numbers that are none.
func bankStatement() [][]string {
	return [][]string{
		{"Date", "Reference", "Payee", "IBAN", "Phone", "Mail", "Amount"},
		{"02.01.2024", "100234", "Landlord", "DE89370400440532013000", "+49 30 901821", "ann@example.org", "-850.00"},
		{"05.01.2024", "100371", "Energy", "AT611904300234573201", "+44 20 7946 0958", "bob@example.org", "-72.40"},
		{"09.01.2024", "100466", "Employer", "GB29NWBK60161331926819", "+33 1 42 68 53 00", "eva@example.org", "2310.00"},
		{"15.01.2024", "100502", "Sports", "FR1420041010050500013M02606", "+1 212 736 5000", "joe@example.org", "-19.90"},
	}
}

// TestPersonalDataInTables finds each value of the table of a bank's statement, in each format, and
// leaves what is none.
func TestPersonalDataInTables(t *testing.T) {
	t.Parallel()
	s := start(t)
	project := map[string]any{"slug": "statements", "privacy": map[string]any{"pii": "redact"}}
	if status := s.call(t, "POST", webhooks+"/projects", project, nil); status >= 300 {
		t.Fatalf("project: status %d", status)
	}
	for name, data := range map[string][]byte{
		"statement.html": htmlTable(bankStatement()), "statement.docx": wordTable(t, bankStatement()),
		"statement.xlsx": sheetTable(t, bankStatement()), "statement.pdf": pdfTable(bankStatement()),
	} {
		t.Run(name, func(t *testing.T) {
			d, err := s.UploadFile(t.Context(), client.Upload{Project: "statements", Name: name, Open: func() (io.ReadCloser, error) {
				return io.NopCloser(bytes.NewReader(data)), nil
			}})
			if err != nil {
				t.Fatal(err)
			}
			if d = s.ended(t, d); d.Status != knowledge.StatusPublished {
				t.Fatalf("%s: %+v", d.Status, d.Error)
			}
			var found struct{ Data []struct{ Entity string } }
			s.call(t, "GET", "/workspaces/default/documents/"+d.ID+"/pii?limit=500", nil, &found)
			kinds := map[string]int{}
			for _, f := range found.Data {
				kinds[f.Entity]++
			}
			shown := s.bodyOf(t, "/workspaces/default/documents/"+d.ID+"/parsed?format=markdown")
			if len(kinds) != 3 || kinds["IBAN_CODE"] != 4 || kinds["PHONE_NUMBER"] != 4 || kinds["EMAIL_ADDRESS"] != 4 {
				t.Errorf("found %v, want four of each: %s", kinds, shown)
			}
			for i, row := range bankStatement()[1:] {
				for column, value := range row {
					private := column >= 3 && column <= 5
					if strings.Contains(shown, value) == private {
						t.Errorf("%q of row %d: shown %t: %s", value, i+1, !private, shown)
					}
				}
			}
		})
	}
}

func htmlTable(rows [][]string) []byte {
	var b strings.Builder
	b.WriteString("<html><body><h1>Statement</h1><table>")
	for _, row := range rows {
		b.WriteString("<tr><td>" + strings.Join(row, "</td><td>") + "</td></tr>")
	}
	return []byte(b.String() + "</table></body></html>")
}

func wordTable(t *testing.T, rows [][]string) []byte {
	t.Helper()
	var b strings.Builder
	for _, row := range rows {
		b.WriteString("<w:tr>")
		for _, cell := range row {
			b.WriteString("<w:tc><w:p><w:r><w:t>" + cell + "</w:t></w:r></w:p></w:tc>")
		}
		b.WriteString("</w:tr>")
	}
	return zipped(t, `-- [Content_Types].xml --
<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Override PartName="/word/document.xml" ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>
-- _rels/.rels --
<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="r1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="word/document.xml"/></Relationships>
-- word/document.xml --
<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body><w:p><w:r><w:t>Statement</w:t></w:r></w:p><w:tbl>`+b.String()+`</w:tbl></w:body></w:document>
`)
}

func sheetTable(t *testing.T, rows [][]string) []byte {
	t.Helper()
	var b strings.Builder
	for i, row := range rows {
		fmt.Fprintf(&b, `<row r="%d">`, i+1)
		for column, cell := range row {
			fmt.Fprintf(&b, `<c r="%c%d" t="inlineStr"><is><t>%s</t></is></c>`, 'A'+column, i+1, cell)
		}
		b.WriteString("</row>")
	}
	return zipped(t, `-- [Content_Types].xml --
<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Override PartName="/xl/workbook.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/><Override PartName="/xl/worksheets/sheet1.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.worksheet+xml"/></Types>
-- _rels/.rels --
<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="r1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="xl/workbook.xml"/></Relationships>
-- xl/workbook.xml --
<workbook xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"><sheets><sheet name="January" sheetId="1" r:id="r1"/></sheets></workbook>
-- xl/_rels/workbook.xml.rels --
<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="r1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/worksheet" Target="worksheets/sheet1.xml"/></Relationships>
-- xl/worksheets/sheet1.xml --
<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>`+b.String()+`</sheetData></worksheet>
`)
}

// zipped returns a file of the parts of a txtar archive.
func zipped(t *testing.T, parts string) []byte {
	t.Helper()
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	for _, part := range txtar.Parse([]byte(parts)).Files {
		w, err := z.Create(part.Name)
		if err == nil {
			_, err = w.Write(part.Data)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// pdfTable returns a page in landscape with a table whose cells have drawn borders.
func pdfTable(rows [][]string) []byte {
	columns := []int{30, 95, 150, 215, 385, 500, 610, 670} // where they begin, in points
	var page strings.Builder
	page.WriteString("0.5 w\n")
	top, height := 500, 22
	for i := range len(rows) + 1 {
		fmt.Fprintf(&page, "%d %d m %d %d l S\n", columns[0], top-i*height, columns[len(columns)-1], top-i*height)
	}
	for _, x := range columns {
		fmt.Fprintf(&page, "%d %d m %d %d l S\n", x, top, x, top-len(rows)*height)
	}
	for i, row := range rows {
		for column, cell := range row {
			fmt.Fprintf(&page, "BT /F1 9 Tf %d %d Td (%s) Tj ET\n", columns[column]+4, top-i*height-15, cell)
		}
	}
	return pdfOf(700, 540, page.String())
}

// pdfOf returns a PDF with pages of a size in points.
func pdfOf(width, height int, pages ...string) []byte {
	objects := []string{"<< /Type /Catalog /Pages 2 0 R >>", "", "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"}
	var kids strings.Builder
	for _, page := range pages {
		fmt.Fprintf(&kids, "%d 0 R ", len(objects)+1)
		objects = append(objects,
			fmt.Sprintf("<< /Type /Page /Parent 2 0 R /MediaBox [0 0 %d %d] /Contents %d 0 R /Resources << /Font << /F1 3 0 R >> >> >>", width, height, len(objects)+2),
			fmt.Sprintf("<< /Length %d >>\nstream\n%s\nendstream", len(page), page))
	}
	objects[1] = fmt.Sprintf("<< /Type /Pages /Kids [%s] /Count %d >>", kids.String(), len(pages))
	var out bytes.Buffer
	out.WriteString("%PDF-1.4\n")
	var offsets []int
	for i, object := range objects {
		offsets = append(offsets, out.Len())
		fmt.Fprintf(&out, "%d 0 obj\n%s\nendobj\n", i+1, object)
	}
	xref := out.Len()
	fmt.Fprintf(&out, "xref\n0 %d\n0000000000 65535 f \n", len(objects)+1)
	for _, at := range offsets {
		fmt.Fprintf(&out, "%010d 00000 n \n", at)
	}
	fmt.Fprintf(&out, "trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n", len(objects)+1, xref)
	return out.Bytes()
}
