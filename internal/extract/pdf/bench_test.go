package pdf_test

import (
	"os"
	"path/filepath"
	"testing"
)

// BenchmarkPages reads pages of dense text with the box of every line.
func BenchmarkPages(b *testing.B) {
	data, err := os.ReadFile(filepath.Join(files, "pdflatex-4-pages.pdf"))
	if err != nil {
		skipOrFail(b, noFiles)
	}
	reader, file := newReader(b), source(b, data)
	pages := 0
	for b.Loop() {
		result, err := reader.Read(b.Context(), file)
		if err != nil {
			b.Fatal(err)
		}
		pages += len(result.Layout.Pages)
	}
	b.ReportMetric(float64(pages)/b.Elapsed().Seconds(), "pages/s")
}
