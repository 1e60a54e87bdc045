package extract_test

import (
	"bytes"
	"compress/zlib"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/cairn-rag/cairn/internal/extract/format"
)

// The test files of many kinds, and the reason for skipping if they are
// missing.
const (
	sharedFiles = "../../../shared/data/files"
	noFiles     = "the files for tests are missing; put them at ../shared/data/files beside the repository"
)

// allFiles returns the path of every shared file.
func allFiles(t *testing.T) []string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(sharedFiles, "*", "*"))
	if err != nil {
		t.Fatal(err)
	}
	if len(paths) == 0 {
		skipOrFail(t, noFiles)
	}
	return paths
}

// skipOrFail skips a test for lack of something, or fails it in CI.
func skipOrFail(t testing.TB, reason string) {
	t.Helper()
	if os.Getenv("CI") != "" {
		t.Fatal(reason)
	}
	t.Skip(reason)
}

// write writes a file into the test's temporary folder and returns its path.
func write(t testing.TB, name string, data []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// makePDF returns a PDF with these objects; the first is the catalog.
func makePDF(objects ...string) []byte {
	var b bytes.Buffer
	b.WriteString("%PDF-1.7\n")
	offsets := make([]int, len(objects))
	for i, o := range objects {
		offsets[i] = b.Len()
		fmt.Fprintf(&b, "%d 0 obj\n%s\nendobj\n", i+1, o)
	}
	start := b.Len()
	fmt.Fprintf(&b, "xref\n0 %d\n0000000000 65535 f \n", len(objects)+1)
	for _, o := range offsets {
		fmt.Fprintf(&b, "%010d 00000 n \n", o)
	}
	fmt.Fprintf(&b, "trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n", len(objects)+1, start)
	return b.Bytes()
}

// onePage returns a PDF of one page that shows this content stream.
func onePage(stream []byte, filters string) []byte {
	return makePDF(
		"<< /Type /Catalog /Pages 2 0 R >>",
		"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
		"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 300 200] /Contents 4 0 R /Resources << /Font << /F 5 0 R >> >> >>",
		fmt.Sprintf("<< /Length %d %s >>\nstream\n%s\nendstream", len(stream), filters, stream),
		"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
	)
}

// deflated returns chunk, repeated n times and compressed, once more if twice.
func deflated(chunk []byte, n int, twice bool) []byte {
	var b bytes.Buffer
	w := zlib.NewWriter(&b)
	for range n {
		_, _ = w.Write(chunk) // a buffer takes everything
	}
	_ = w.Close()
	if twice {
		return deflated(b.Bytes(), 1, false)
	}
	return b.Bytes()
}

// installedTools returns the programs that readers use. The test is skipped without
// tesseract.
func installedTools(t testing.TB) format.Tools {
	t.Helper()
	tools := format.FindTools()
	if tools.Tesseract == "" {
		skipOrFail(t, "pictures of text cannot be read; install tesseract (package tesseract-ocr)")
	}
	return tools
}
