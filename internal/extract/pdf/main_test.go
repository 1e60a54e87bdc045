package pdf_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/cairn-rag/cairn/internal/extract/format"
	"github.com/cairn-rag/cairn/internal/extract/pdf"
)

// cacheDir keeps the compiled pdfium for all tests of this run.
var cacheDir string

// compileArg makes the test binary a process that loads pdfium with the cache
// directory in the next argument.
const compileArg = "start-pdfium"

func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == compileArg {
		os.Exit(startPDFium(os.Args[2]))
	}
	os.Exit(runTests(m))
}

func startPDFium(dir string) int {
	r, err := pdf.New(context.Background(), pdf.Config{CacheDir: dir})
	if err == nil {
		err = r.Close(context.Background())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

func runTests(m *testing.M) int {
	dir, err := os.MkdirTemp("", "cairn-pdf-test-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	cacheDir = dir
	// Compile once, before parallel tests would all wait for it.
	if code := startPDFium(dir); code != 0 {
		return code
	}
	return m.Run()
}

func newReader(t testing.TB) *pdf.Reader {
	t.Helper()
	r, err := pdf.New(t.Context(), pdf.Config{CacheDir: cacheDir})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(t.Context()); err != nil {
			t.Error(err)
		}
	})
	return r
}

// source returns a file with these bytes, and a folder for the files of the result.
func source(t testing.TB, data []byte) format.Source {
	t.Helper()
	folder := t.TempDir()
	path := filepath.Join(folder, "original.pdf")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return format.Source{Name: "original.pdf", Path: path, Size: int64(len(data)), Folder: t.TempDir(), MoreTime: func() {}}
}
