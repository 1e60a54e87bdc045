package pdf_test

import (
	"strings"
	"testing"

	"github.com/cairn-rag/cairn/internal/chunk"
)

// advances are the widths of some letters of Helvetica, in thousandths of the font size.
var advances = map[rune]float64{'a': 556, 'c': 500, 'e': 556, 'h': 556, 'i': 222, 'l': 222, 'n': 556, 'o': 556, 'r': 333, 's': 500, 't': 278, 'v': 500, 'y': 500, ' ': 278, ',': 278}

// letters returns the content stream that shows each letter of a string by an operator
// of its own, as a browser that prints does.
func letters(size, x, y float64, s string) string {
	var b strings.Builder
	for _, r := range s {
		b.WriteString(text("F", size, x, y, string(r)))
		width, ok := advances[r]
		if !ok {
			width = 556 // a digit
		}
		x += size * width / 1000
	}
	return b.String()
}

func TestLettersOfAPageWithATableAloneAreWords(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for i, row := range [][2]string{{"cash in hand", "1,118"}, {"stock in store", "14"}, {"total assets", "1,132"}, {"total loans", "211"}, {"net assets", "921"}} {
		b.WriteString(letters(11, 72, 700-11*float64(i), row[0]) + letters(11, 500, 700-11*float64(i), row[1]))
	}
	got := chunk.Text(read(t, makePDF(a4, b.String())))
	for _, want := range []string{"cash in hand", "1,118", "stock in store", "14", "total assets", "1,132", "net assets", "921"} {
		if !strings.Contains(got, want) {
			t.Errorf("the text of the page has no %q: %q", want, got)
		}
	}
}

func TestSpacedLettersStayApart(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for i, r := range "abcde" { // the marks of a scale, 9 points apart
		b.WriteString(text("F", 11, 72+9*float64(i), 700, string(r)))
	}
	if got := chunk.Text(read(t, makePDF(a4, b.String()))); got != "a b c d e" {
		t.Errorf("the text of the page is %q", got)
	}
}
