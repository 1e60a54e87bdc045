package extract_test

import (
	"archive/zip"
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cairn-rag/cairn/internal/extract"
	"github.com/cairn-rag/cairn/internal/extract/format"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/xuri/excelize/v2"
)

// officeTools returns the tools, or skips a test without LibreOffice.
func officeTools(t *testing.T) format.Tools {
	t.Helper()
	tools := format.FindTools()
	if tools.LibreOffice == "" {
		skipOrFail(t, "LibreOffice is missing; apt-get install libreoffice-writer libreoffice-calc libreoffice-impress")
	}
	return tools
}

// wordDocument returns a Word document with a paragraph.
func wordDocument(t *testing.T, text string) []byte {
	t.Helper()
	const office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, f := range []struct{ name, content string }{
		{"[Content_Types].xml", `<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>` +
			`<Override PartName="/word/document.xml" ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>`},
		{"_rels/.rels", `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1" Type="` + office + `/officeDocument" Target="word/document.xml"/></Relationships>`},
		{"word/document.xml", `<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body><w:p><w:r><w:t>` + text + `</w:t></w:r></w:p></w:body></w:document>`},
		{"word/unused", strings.Repeat("x", 10_000)},
	} {
		// Stored: the library that encrypts makes a damaged container of a small document.
		w, err := z.CreateHeader(&zip.FileHeader{Name: f.name, Method: zip.Store})
		if err == nil {
			_, err = w.Write([]byte(f.content))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// sample returns a file of testdata. LibreOffice has encrypted encrypted.doc and
// encrypted.xls with the password tea.
func sample(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestOfficeDocuments(t *testing.T) {
	t.Parallel()
	tools := officeTools(t)
	pool, _ := newPool(t, extract.PoolConfig{Size: 1, Tools: tools})
	document := wordDocument(t, "Tea is hot.")
	encrypted, err := excelize.Encrypt(document, &excelize.Options{Password: "tea"})
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		behaviour, name string
		content         []byte
		password        string
		reader          string
		code            knowledge.Code
	}{
		// First, because it has the most time: the first conversion also loads LibreOffice.
		{"an RTF is converted", "a.rtf", []byte(`{\rtf1 Tea is {\b hot}.}`), "", "libreoffice", ""},
		{"a Word document has its pages from LibreOffice", "a.docx", document, "", "own+libreoffice", ""},
		{"the content decides, not the name", "a.pptx", document, "", "own+libreoffice", ""},
		{"an encrypted document with its password", "a.docx", encrypted, "tea", "own+libreoffice", ""},
		{"an encrypted document without one", "a.docx", encrypted, "", "", knowledge.CodeEncrypted},
		{"an encrypted document with another one", "a.docx", encrypted, "coffee", "", knowledge.CodeEncrypted},
		{"an RTF with a password that it does not need", "a.rtf", []byte(`{\rtf1 Tea is {\b hot}.}`), "coffee", "libreoffice", ""},
		{"an encrypted DOC with its password", "a.doc", sample(t, "encrypted.doc"), "tea", "libreoffice", ""},
		{"an encrypted DOC without one", "a.doc", sample(t, "encrypted.doc"), "", "", knowledge.CodeEncrypted},
		{"an encrypted DOC with another one", "a.doc", sample(t, "encrypted.doc"), "coffee", "", knowledge.CodeEncrypted},
		{"an encrypted XLS without one", "a.xls", sample(t, "encrypted.xls"), "", "", knowledge.CodeEncrypted},
		{"an encrypted XLS with another one", "a.xls", sample(t, "encrypted.xls"), "coffee", "", knowledge.CodeEncrypted},
		{"an RTF without text", "a.rtf", []byte(`{\rtf1 }`), "", "", knowledge.CodeEmpty},
		{"a Word document that is cut off", "a.doc", append([]byte("\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"), make([]byte, 600)...), "", "", knowledge.CodeCorrupt},
	} {
		t.Run(tc.behaviour, func(t *testing.T) {
			folder := t.TempDir()
			result, err := pool.Extract(t.Context(), extract.Input{
				Name: tc.name, Path: write(t, "upload", tc.content), Folder: folder, Options: format.Options{Password: tc.password},
			})
			if tc.code != "" {
				wantCode(t, err, tc.code)
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			wantSound(t, result.Layout, true)
			b := result.Layout.Blocks[0]
			if b.Text != "Tea is hot." || len(b.Lines) != 1 || len(result.Layout.Pages) != 1 || result.Layout.Reader != tc.reader {
				t.Errorf("read by %s: %+v on pages %v", result.Layout.Reader, b, result.Layout.Pages)
			}
			if pages, err := os.ReadFile(filepath.Join(folder, extract.PagesAsset)); err != nil || !bytes.HasPrefix(pages, []byte("%PDF-")) {
				t.Errorf("the pages are not kept: %v", err)
			}
			if left, err := filepath.Glob(filepath.Join(folder, "decrypted*")); err != nil || len(left) > 0 {
				t.Errorf("the decrypted document is left: %q, %v", left, err)
			}
		})
	}
}

func TestAnEncryptedWorkbook(t *testing.T) {
	t.Parallel()
	pool, _ := newPool(t, extract.PoolConfig{Size: 1, Tools: officeTools(t)})
	result, err := pool.Extract(t.Context(), extract.Input{
		Name: "a.xls", Path: filepath.Join("testdata", "encrypted.xls"), Folder: t.TempDir(), Options: format.Options{Password: "tea"},
	})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(result.Layout.Blocks, func(b knowledge.Block) bool { return strings.Contains(b.Text, "| Tea | is hot. |") }) {
		t.Errorf("%+v", result.Layout.Blocks)
	}
}

// TestAnEncryptedOpenDocument opens a document that LibreOffice encrypted, with and
// without LibreOffice.
func TestAnEncryptedOpenDocument(t *testing.T) {
	t.Parallel()
	path := filepath.Join(sharedFiles, "office", "testODTEncrypted.odt")
	if _, err := os.Stat(path); err != nil {
		skipOrFail(t, noFiles)
	}
	for reader, tools := range map[string]format.Tools{"own+libreoffice": officeTools(t), "own": {}} {
		t.Run(reader, func(t *testing.T) {
			t.Parallel()
			pool, _ := newPool(t, extract.PoolConfig{Size: 1, Tools: tools})
			result, err := pool.Extract(t.Context(), extract.Input{Name: "a.odt", Path: path, Folder: t.TempDir(), Options: format.Options{Password: "tika"}})
			if err != nil || !strings.Contains(result.Layout.Blocks[0].Text, "Shhh") || result.Layout.Reader != reader {
				t.Errorf("%d blocks by %q, %v", len(result.Layout.Blocks), result.Layout.Reader, err)
			}
			for _, password := range []string{"coffee", ""} {
				_, err = pool.Extract(t.Context(), extract.Input{Name: "a.odt", Path: path, Folder: t.TempDir(), Options: format.Options{Password: password}})
				wantCode(t, err, knowledge.CodeEncrypted)
			}
		})
	}
}

func TestOfficeDocumentsWithoutLibreOffice(t *testing.T) {
	t.Parallel()
	pool, _ := newPool(t, extract.PoolConfig{Size: 1})
	result, err := pool.Extract(t.Context(), extract.Input{Name: "a.docx", Path: write(t, "upload", wordDocument(t, "Tea is hot.")), Folder: t.TempDir()})
	if err != nil || result.Layout.Reader != "own" || len(result.Layout.Pages) != 0 || result.Layout.Blocks[0].Text != "Tea is hot." {
		t.Errorf("%+v, %v", result.Layout, err)
	}
	for name, content := range map[string]string{"a.rtf": `{\rtf1 Tea.}`, "a.xls": "\x09\x04\x06\x00\x07\x00\x10\x00 a worksheet"} {
		_, err := pool.Extract(t.Context(), extract.Input{Name: name, Path: write(t, "upload", []byte(content)), Folder: t.TempDir()})
		wantCode(t, err, knowledge.CodeNeedsComponent)
		if err != nil && !strings.Contains(err.Error(), "apt-get install libreoffice-writer") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
