package html_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cairn-rag/cairn/internal/extract/extracttest"
	"github.com/cairn-rag/cairn/internal/extract/html"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/google/go-cmp/cmp"
)

// TestMainText reads the pages in testdata. main.txt is the whole main text of a
// page; holds.txt and lacks.txt are pieces that are in it and that are not.
func TestMainText(t *testing.T) {
	t.Parallel()
	extracttest.EachSample(t, func(t *testing.T, files map[string]string) {
		page, err := html.ReadPage([]byte(files["page.html"]), "")
		if err != nil {
			t.Fatal(err)
		}
		main, furniture := partsOf(page.Blocks)
		if want := files["main.txt"]; want != "" {
			if diff := cmp.Diff(want, main); diff != "" {
				t.Error(diff)
			}
		}
		for piece := range strings.Lines(files["holds.txt"]) {
			if !strings.Contains(main, strings.TrimSpace(piece)) {
				t.Errorf("the main text lacks %q", piece)
			}
		}
		for piece := range strings.Lines(files["lacks.txt"]) {
			if piece = strings.TrimSpace(piece); strings.Contains(main, piece) || !strings.Contains(furniture, piece) {
				t.Errorf("%q is not furniture", piece)
			}
		}
		if t.Failed() {
			t.Logf("main text:\n%s\nfurniture:\n%s", main, furniture)
		}
	})
}

// partsOf returns the main text and the furniture among blocks, with the kind of each
// block before its text.
func partsOf(blocks []knowledge.Block) (main, furniture string) {
	for _, b := range blocks {
		kind := string(b.Kind)
		if b.Level > 0 {
			kind = fmt.Sprint(kind, " ", b.Level)
		}
		line := kind + ": " + b.Text + "\n"
		if b.Kind.IsFurniture() {
			furniture += line
		} else {
			main += line
		}
	}
	return main, furniture
}
