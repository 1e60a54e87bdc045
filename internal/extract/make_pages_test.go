package extract_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/xuri/excelize/v2"

	"github.com/cairn-rag/cairn/internal/extract"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// workbook returns a workbook with a sheet of 30 columns, of which a print area has one, and
// a hidden sheet.
func workbook(t *testing.T) []byte {
	t.Helper()
	f := excelize.NewFile()
	defer func() { _ = f.Close() }() // it is in memory
	for column := range 30 {
		name, err := excelize.ColumnNumberToName(column + 1)
		if err == nil {
			err = f.SetCellValue("Sheet1", name+"1", fmt.Sprintf("column %d", column))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if _, err := f.NewSheet("Secret"); err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	for _, err := range []error{
		f.SetCellValue("Secret", "A1", "hidden words"), f.SetSheetVisible("Secret", false),
		f.SetDefinedName(&excelize.DefinedName{Name: "_xlnm.Print_Area", RefersTo: "Sheet1!$A$1:$A$1", Scope: "Sheet1"}), f.Write(&b),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	return b.Bytes()
}

func TestPagesAreMade(t *testing.T) {
	t.Parallel()
	pool, _ := newPool(t, extract.PoolConfig{Size: 1, Tools: officeTools(t)})
	for _, tc := range []struct {
		name    string
		content []byte
		pages   int
		words   []string
		code    knowledge.Code
	}{
		{"a.docx", wordDocument(t, "Tea is hot."), 1, []string{"Tea is hot."}, ""},
		{"a.pptx", wordDocument(t, "Tea is hot."), 1, []string{"Tea is hot."}, ""},
		{"a.rtf", []byte(`{\rtf1 Tea is {\b hot}.}`), 1, []string{"Tea is hot."}, ""},
		{"a.xlsx", workbook(t), 2, []string{"column 0", "column 29", "hidden words"}, ""},
		{"encrypted.doc", sample(t, "encrypted.doc"), 0, nil, knowledge.CodeEncrypted},
		{"a.doc", append([]byte("\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"), make([]byte, 600)...), 0, nil, knowledge.CodeCorrupt},
		{"a.txt", []byte("Tea is hot."), 0, nil, knowledge.CodeNotFound},
	} {
		t.Run(tc.name, func(t *testing.T) {
			folder := t.TempDir()
			layout, err := pool.MakePages(t.Context(), extract.Input{Name: tc.name, Path: write(t, "upload", tc.content), Folder: folder})
			if tc.code != "" {
				wantCode(t, err, tc.code)
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if pdf, err := os.ReadFile(filepath.Join(folder, extract.PagesAsset)); err != nil || !bytes.HasPrefix(pdf, []byte("%PDF-")) {
				t.Errorf("the pages are not kept: %v", err)
			}
			var text strings.Builder
			for _, b := range layout.Blocks {
				text.WriteString(b.Text + "\n")
			}
			for _, words := range tc.words {
				if !strings.Contains(text.String(), words) {
					t.Errorf("%q is not on the pages: %q", words, text.String())
				}
			}
			if len(layout.Pages) != tc.pages {
				t.Errorf("there are %d pages, want %d", len(layout.Pages), tc.pages)
			}
		})
	}
}

func TestPagesNeedLibreOffice(t *testing.T) {
	t.Parallel()
	pool, _ := newPool(t, extract.PoolConfig{Size: 1})
	_, err := pool.MakePages(t.Context(), extract.Input{Name: "a.docx", Path: write(t, "upload", wordDocument(t, "Tea is hot.")), Folder: t.TempDir()})
	wantCode(t, err, knowledge.CodeNeedsComponent)
}
