package extract_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/cairn-rag/cairn/internal/extract"
)

// pagesOfLines returns a PDF with so many pages, which all show the same 50 lines.
func pagesOfLines(count int) []byte {
	var stream strings.Builder
	for i := range 50 {
		fmt.Fprintf(&stream, "BT /F 8 Tf 20 %d Td (Line %d tells the reader of this page about the pressure of the pump.) Tj ET\n", 780-15*i, i)
	}
	var kids strings.Builder
	objects := []string{
		"<< /Type /Catalog /Pages 2 0 R >>", "",
		"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
		fmt.Sprintf("<< /Length %d >>\nstream\n%s\nendstream", stream.Len(), stream.String()),
	}
	for range count {
		objects = append(objects, "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents 4 0 R /Resources << /Font << /F 3 0 R >> >> >>")
		fmt.Fprintf(&kids, "%d 0 R ", len(objects))
	}
	objects[1] = fmt.Sprintf("<< /Type /Pages /Kids [%s] /Count %d >>", kids.String(), count)
	return makePDF(objects...)
}

func TestPoolTellsThePagesOfALongDocument(t *testing.T) {
	t.Parallel()
	const pages = 400
	pool, _ := newPool(t, extract.PoolConfig{Size: 1})
	var told []int
	input := extract.Input{Name: "a.pdf", Path: write(t, "a.pdf", pagesOfLines(pages)), Folder: t.TempDir(), Pages: func(read, all int) {
		if all != pages {
			t.Errorf("%d pages of %d, want of %d", read, all, pages)
		}
		told = append(told, read)
	}}
	result, err := pool.Extract(t.Context(), input)
	if err != nil || len(result.Layout.Pages) != pages {
		t.Fatalf("%d pages, %v", len(result.Layout.Pages), err)
	}
	if len(told) == 0 || !slices.IsSorted(told) || told[len(told)-1] > pages {
		t.Errorf("told of the pages %v", told)
	}
}
