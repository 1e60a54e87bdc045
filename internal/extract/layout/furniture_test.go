package layout_test

import (
	"fmt"
	"testing"

	"github.com/cairn-rag/cairn/internal/extract/layout"
)

// TestFurnitureThatMoves has headers and page numbers outside of the margins.
func TestFurnitureThatMoves(t *testing.T) {
	t.Parallel()
	text := []string{"One page of text stands here and ends.", "Another page of text with other words.", "A third page, which is not as long.", "And a fourth page, the last of them."}
	document := func(furniture func(page int) []layout.Line) layout.Document {
		d := layout.Document{Pages: pages(len(text))}
		for i, s := range text {
			d.Lines = append(d.Lines, on(i+1, at(50, 300, s)), on(i+1, at(50, 340, "More of it: "+s)))
			for _, l := range furniture(i + 1) {
				d.Lines = append(d.Lines, on(i+1, l))
			}
		}
		return d
	}
	romans := []string{"", "ix", "x", "xi", "xii"}
	for _, tc := range []struct {
		behaviour string
		line      func(page int) []layout.Line
		furniture int // lines
	}{
		{"a number right below the text of each page", func(p int) []layout.Line { return []layout.Line{at(290, 380+40*float64(p%3), fmt.Sprint(p))} }, 4},
		{"page and number, moving", func(p int) []layout.Line {
			return []layout.Line{at(290, 380+40*float64(p%3), fmt.Sprintf("Seite %d von 4", p))}
		}, 4},
		{"a footer with the title and the number, moving", func(p int) []layout.Line {
			return []layout.Line{at(50, 380+40*float64(p%3), fmt.Sprintf("Manual of the pump P-17 | %d", p))}
		}, 4},
		{"the number and the title side by side, moving", func(p int) []layout.Line {
			y := 380 + 40*float64(p%3)
			return []layout.Line{at(50, y, "Manual of the pump"), at(400, y, fmt.Sprint(p))}
		}, 8},
		{"a header that stands lower than the margin", func(int) []layout.Line { return []layout.Line{at(50, 200, "Manual of the pump")} }, 4},
		{"Roman numbers at the foot", func(p int) []layout.Line { return []layout.Line{at(290, 770, romans[p])} }, 4},
		{"figures that count up are text", func(p int) []layout.Line {
			return []layout.Line{at(50, 380+40*float64(p%3), fmt.Sprintf("Step %d", p))}
		}, 0},
		{"numbers that do not count up are text", func(p int) []layout.Line { return []layout.Line{at(290, 380+40*float64(p%3), fmt.Sprint(p*p))} }, 0},
		{"a text that moves is text", func(p int) []layout.Line { return []layout.Line{at(50, 380+40*float64(p%3), "Open the valve.")} }, 0},
		{"words of Roman letters are text", func(p int) []layout.Line {
			return []layout.Line{at(290, 770, []string{"", "mix", "civil", "vivid", "mild"}[p])}
		}, 0},
		{"the number in the middle of the text is text", func(p int) []layout.Line {
			return []layout.Line{at(290, 380+40*float64(p%3), fmt.Sprint(p)), at(50, 600, text[p-1]+" It ends here.")}
		}, 0},
	} {
		t.Run(tc.behaviour, func(t *testing.T) {
			t.Parallel()
			n := 0
			for _, b := range document(tc.line).Blocks() {
				if b.Kind.IsFurniture() {
					n++
				}
			}
			if n != tc.furniture {
				t.Errorf("%d lines are furniture, want %d: %q", n, tc.furniture, outlineOf(document(tc.line).Blocks()))
			}
		})
	}
}

// BenchmarkAmounts finds the headers of a report of 500 pages full of amounts, which all have
// the same spelling.
func BenchmarkAmounts(b *testing.B) {
	const count = 500
	d := layout.Document{Pages: pages(count)}
	for p := 1; p <= count; p++ {
		for row := range 50 {
			for column := range 5 {
				d.Lines = append(d.Lines, on(p, at(50+90*float64(column), 40+14*float64(row), fmt.Sprintf("$ %d,%03d", row+p*7%90, column*131+row))))
			}
		}
	}
	for b.Loop() {
		d.Blocks()
	}
}
