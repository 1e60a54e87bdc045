package layout_test

import (
	"testing"

	"github.com/cairn-rag/cairn/internal/extract/layout"
)

// cellsAt returns the lines of a row whose cells begin at these places.
func cellsAt(y float64, cells map[float64]string) []layout.Line {
	var lines []layout.Line
	for _, x := range []float64{50, 100, 150, 250, 350} {
		if s := cells[x]; s != "" {
			lines = append(lines, at(x, y, s))
		}
	}
	return lines
}

// rowsAt returns the lines of rows one below the other.
func rowsAt(rows ...map[float64]string) layout.Document {
	d := layout.Document{Pages: pages(1)}
	for i, r := range rows {
		d.Lines = append(d.Lines, cellsAt(100+20*float64(i), r)...)
	}
	return d
}

func TestTouchingCells(t *testing.T) {
	t.Parallel()
	t.Run("labels from right to left begin where numbers end", func(t *testing.T) {
		t.Parallel()
		d := rowsAt(map[float64]string{50: "מגדל", 100: "ספר"}, map[float64]string{50: "32.2", 100: "84401"},
			map[float64]string{50: "42.2", 100: "10481"}, map[float64]string{50: "86.6", 100: "30021"})
		d.Lines = append(d.Lines, at(150, 100, "שם"), at(125, 120, "ים"), at(125, 140, "קיר"), at(125, 160, "נהר"))
		wantBlocks(t, d, "table: | שם | ספר | מגדל |\n| --- | --- | --- |\n| ים | 84401 | 32.2 |\n| קיר | 10481 | 42.2 |\n| נהר | 30021 | 86.6 |")
	})
	t.Run("signs of a currency begin where numbers end", func(t *testing.T) {
		t.Parallel()
		d := layout.Document{Pages: pages(1), Lines: []layout.Line{
			at(50, 100, "Item"), at(120, 100, "2023"), at(170, 100, "2024"),
			at(50, 120, "Cash"), at(100, 120, "$"), at(115, 120, "1,200"), at(142, 120, "$"), at(165, 120, "1,400"),
			at(54, 140, "Receipts"), at(115, 140, "(900)"), at(165, 140, "(980)"),
			at(50, 160, "Net"), at(100, 160, "$"), at(125, 160, "300"), at(142, 160, "$"), at(175, 160, "350"),
		}}
		wantBlocks(t, d, "table: | Item | 2023 | 2024 |\n| --- | --- | --- |\n| Cash | $ 1,200 | $ 1,400 |\n| Receipts | (900) | (980) |\n| Net | $ 300 | $ 350 |")
	})
	t.Run("a header and one row with small spaces have their columns", func(t *testing.T) {
		t.Parallel()
		d := layout.Document{Pages: pages(1), Lines: []layout.Line{
			at(50, 100, "Item"), at(95, 100, "Mass"), at(120, 100, "Rate"), at(145, 100, "Size"),
			at(50, 112, "Lamps"), at(95, 112, "1234"), at(120, 112, "5678"), at(145, 112, "9012"),
		}}
		wantBlocks(t, d, "table: | Item | Mass | Rate | Size |\n| --- | --- | --- | --- |\n| Lamps | 1234 | 5678 | 9012 |")
	})
}

func TestMergedLabels(t *testing.T) {
	t.Parallel()
	head := map[float64]string{50: "Item", 150: "Mass", 250: "Size"}
	t.Run("a label stands in each row below it that has none", func(t *testing.T) {
		t.Parallel()
		wantBlocks(t, rowsAt(head, map[float64]string{50: "North", 150: "12", 250: "31"}, map[float64]string{150: "13", 250: "32"},
			map[float64]string{150: "14", 250: "33"}, map[float64]string{50: "South", 150: "15", 250: "34"}, map[float64]string{150: "16", 250: "35"}),
			"table: | Item | Mass | Size |\n| --- | --- | --- |\n| North | 12 | 31 |\n| North | 13 | 32 |\n| North | 14 | 33 |\n| South | 15 | 34 |\n| South | 16 | 35 |")
	})
	t.Run("a sum has no label", func(t *testing.T) {
		t.Parallel()
		wantBlocks(t, rowsAt(head, map[float64]string{50: "North", 150: "12", 250: "31"}, map[float64]string{50: "South", 150: "13", 250: "32"},
			map[float64]string{150: "25", 250: "63"}, map[float64]string{50: "East", 150: "15", 250: "34"}, map[float64]string{50: "West", 150: "16", 250: "35"},
			map[float64]string{150: "31", 250: "69"}),
			"table: | Item | Mass | Size |\n| --- | --- | --- |\n| North | 12 | 31 |\n| South | 13 | 32 |\n|  | 25 | 63 |\n| East | 15 | 34 |\n| West | 16 | 35 |\n|  | 31 | 69 |")
	})
	t.Run("a row with a cell less has a label of its own that is empty", func(t *testing.T) {
		t.Parallel()
		wantBlocks(t, rowsAt(head, map[float64]string{50: "North", 150: "12", 250: "31"}, map[float64]string{250: "32"},
			map[float64]string{50: "South", 150: "15", 250: "34"}, map[float64]string{250: "35"}, map[float64]string{50: "West", 150: "16", 250: "36"}),
			"table: | Item | Mass | Size |\n| --- | --- | --- |\n| North | 12 | 31 |\n|  |  | 32 |\n| South | 15 | 34 |\n|  |  | 35 |\n| West | 16 | 36 |")
	})
}
