package extract_test

import (
	"os"
	"strings"
	"testing"

	"github.com/cairn-rag/cairn/internal/extract"
	"github.com/cairn-rag/cairn/internal/extract/container/containertest"
	"github.com/cairn-rag/cairn/internal/extract/extracttest"
	"github.com/cairn-rag/cairn/internal/extract/format"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// iWork returns a document of an iWork program with these entries.
func iWork(t *testing.T, entries ...containertest.File) []byte {
	t.Helper()
	path := containertest.WriteFiles(t, append([]containertest.File{{Name: "Index/Document.iwa", Data: []byte("compressed")}}, entries...)...)
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestPreviewOfIWork(t *testing.T) {
	t.Parallel()
	pool, _ := newPool(t, extract.PoolConfig{Size: 1})
	page := containertest.File{Name: "QuickLook/Preview.pdf", Data: pagesOfLines(1)}
	slide := containertest.File{Name: "Index/Slide.iwa", Data: []byte("compressed")}
	for _, tc := range []struct {
		behaviour, name, kind string
		entries               []containertest.File
	}{
		{"of Pages", "a.pages", extract.TypePages, []containertest.File{page}},
		{"of Numbers", "a.numbers", extract.TypeNumbers, []containertest.File{page}},
		{"of Keynote without LibreOffice", "a.key", extract.TypeKeynote, []containertest.File{page, slide}},
		{"at the top of the file", "a.pages", extract.TypePages, []containertest.File{{Name: "preview.pdf", Data: page.Data}}},
		{"in a folder", "a.pages", extract.TypePages, []containertest.File{{Name: "__MACOSX/preview.pdf"}, {Name: "a.pages/QuickLook/Preview.pdf", Data: page.Data}}},
		{"of a document with another name", "a.docx", extract.TypePages, []containertest.File{page}},
		{"of slides with another name", "a.txt", extract.TypeKeynote, []containertest.File{slide, page}},
	} {
		t.Run(tc.behaviour, func(t *testing.T) {
			t.Parallel()
			result, err := pool.Extract(t.Context(), extract.Input{Name: tc.name, Path: write(t, "upload", iWork(t, tc.entries...)), Folder: t.TempDir()})
			if err != nil {
				t.Fatal(err)
			}
			l := result.Layout
			if l.MediaType != tc.kind || len(l.Pages) != 1 || !strings.Contains(l.Blocks[0].Text, "the pressure of the pump") {
				t.Errorf("%s with %d pages: %+v", l.MediaType, len(l.Pages), l.Blocks)
			}
			if len(l.Warnings) != 1 || l.Warnings[0].Code != knowledge.WarnPreview {
				t.Errorf("warnings %v", l.Warnings)
			}
		})
	}
}

func TestIWorkEndsAsStated(t *testing.T) {
	t.Parallel()
	pool, _ := newPool(t, extract.PoolConfig{Size: 1})
	whole := iWork(t, containertest.File{Name: "QuickLook/Preview.pdf", Data: pagesOfLines(1)})
	for _, tc := range []struct {
		behaviour, name string
		data            []byte
		code            knowledge.Code
		says            string
	}{
		{"without a preview", "a.pages", iWork(t, containertest.File{Name: "preview.jpg"}), knowledge.CodeUnsupportedFormat, "export it as PDF"},
		{"without a preview, Numbers", "a.numbers", iWork(t), knowledge.CodeUnsupportedFormat, "export it as PDF"},
		{"with a password", "a.pages", iWork(t, containertest.File{Name: ".iwpv2"}), knowledge.CodeEncrypted, "password"},
		{"an empty preview", "a.pages", iWork(t, containertest.File{Name: "preview.pdf"}), knowledge.CodeCorrupt, ""},
		{"a preview that is no PDF", "a.pages", iWork(t, containertest.File{Name: "preview.pdf", Data: []byte("a picture")}), knowledge.CodeCorrupt, ""},
		{"cut off", "a.pages", whole[:len(whole)/2], knowledge.CodeCorrupt, ""},
		{"Keynote without LibreOffice and preview", "a.key", iWork(t), knowledge.CodeNeedsComponent, "LibreOffice"},
		{"a name alone", "a.pages", []byte("PK\x03\x04"), knowledge.CodeCorrupt, ""},
	} {
		t.Run(tc.behaviour, func(t *testing.T) {
			t.Parallel()
			_, err := pool.Extract(t.Context(), extract.Input{Name: tc.name, Path: write(t, "upload", tc.data), Folder: t.TempDir()})
			wantCode(t, err, tc.code)
			if err != nil && !strings.Contains(err.Error(), tc.says) {
				t.Errorf("error %v does not say %q", err, tc.says)
			}
		})
	}
}

// heic begins a picture in HEIC.
const heic = "\x00\x00\x00\x18ftypheic\x00\x00\x00\x00mif1heic"

func TestHEIC(t *testing.T) {
	t.Parallel()
	extractBy := func(t *testing.T, tools format.Tools) (format.Result, error) {
		t.Helper()
		pool, _ := newPool(t, extract.PoolConfig{Size: 1, Tools: tools})
		options := format.Options{Describe: true} // it needs no tesseract
		return pool.Extract(t.Context(), extract.Input{Name: "photo.txt", Path: write(t, "upload", []byte(heic)), Folder: t.TempDir(), Options: options})
	}

	t.Run("is read through heif-convert", func(t *testing.T) {
		t.Parallel()
		bitmap := write(t, "picture.png", png1(t))
		result, err := extractBy(t, format.Tools{HEIF: extracttest.Script(t, "heif-convert", "cp "+bitmap+` "$2"`)})
		if err != nil || result.Layout.MediaType != extract.TypeHEIC || len(result.Assets) != 1 || result.Assets[0].MediaType != extract.TypePNG {
			t.Errorf("%+v, %v", result, err)
		}
	})
	t.Run("with several pictures shows the first", func(t *testing.T) {
		t.Parallel()
		bitmap := write(t, "picture.png", png1(t))
		result, err := extractBy(t, format.Tools{HEIF: extracttest.Script(t, "heif-convert", "cp "+bitmap+" picture-1.png; cp "+bitmap+" picture-2.png")})
		if err != nil || len(result.Assets) != 1 {
			t.Errorf("%+v, %v", result, err)
		}
	})
	t.Run("that is damaged is corrupt", func(t *testing.T) {
		t.Parallel()
		for _, commands := range []string{"exit 1", "exit 0", `: > "$2"`} {
			_, err := extractBy(t, format.Tools{HEIF: extracttest.Script(t, "heif-convert", commands)})
			wantCode(t, err, knowledge.CodeCorrupt)
		}
	})
	t.Run("without heif-convert says what to install", func(t *testing.T) {
		t.Parallel()
		_, err := extractBy(t, format.Tools{})
		wantCode(t, err, knowledge.CodeNeedsComponent)
		if err != nil && !strings.Contains(err.Error(), "apt-get install libheif-examples") {
			t.Error(err)
		}
	})
}
