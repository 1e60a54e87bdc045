package pdf_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/google/go-cmp/cmp"
)

// stroke returns the content stream that draws a line.
func stroke(x1, y1, x2, y2 float64) string {
	return fmt.Sprintf(".5 w %g %g m %g %g l S\n", x1, y1, x2, y2)
}

// bar returns the content stream that fills a rectangle with a grey.
func bar(grey, x, y, width, height float64) string {
	return fmt.Sprintf("q %g g %g %g %g %g re f Q\n", grey, x, y, width, height)
}

// lattice returns the content stream that draws all lines of a table, by line, which is
// stroke or another function of its kind.
func lattice(line func(x1, y1, x2, y2 float64) string, xs, ys []float64) string {
	var b strings.Builder
	for i := range len(xs) - 1 {
		for _, y := range ys {
			b.WriteString(line(xs[i], y, xs[i+1], y))
		}
	}
	for j := range len(ys) - 1 {
		for _, x := range xs {
			b.WriteString(line(x, ys[j], x, ys[j+1]))
		}
	}
	return b.String()
}

// strip draws a line as a thin rectangle that is filled.
func strip(x1, y1, x2, y2 float64) string {
	return bar(0, min(x1, x2)-.3, min(y1, y2)-.3, max(x1, x2)-min(x1, x2)+.6, max(y1, y2)-min(y1, y2)+.6)
}

// twice draws a line as two.
func twice(x1, y1, x2, y2 float64) string {
	return stroke(x1, y1, x2, y2) + stroke(x1+1.5, y1+1.5, x2+1.5, y2+1.5)
}

// dashed draws a line as dashes.
func dashed(x1, y1, x2, y2 float64) string {
	var b strings.Builder
	for n, i := int(max(x2-x1, y2-y1, x1-x2, y1-y2)/4), 0; i < n; i++ {
		from, to := float64(i)/float64(n), (float64(i)+.5)/float64(n)
		b.WriteString(stroke(x1+from*(x2-x1), y1+from*(y2-y1), x1+to*(x2-x1), y1+to*(y2-y1)))
	}
	return b.String()
}

func tablesOf(layout knowledge.Layout) []string {
	var found []string
	for _, b := range layout.Blocks {
		if b.Kind == knowledge.BlockTable {
			found = append(found, b.Text)
		}
	}
	return found
}

func TestRuledTables(t *testing.T) {
	t.Parallel()
	xs, ys := []float64{72, 172, 200, 228, 256}, []float64{700, 680, 660, 640, 612}
	texts := body(76, 687, "Region") + body(174, 687, "Q1") + body(202, 687, "Q2") + body(230, 687, "Q3") +
		body(76, 667, "North") + body(174, 667, "1200") + body(202, 667, "1300") + body(230, 667, "1250") +
		body(76, 647, "South") + body(174, 647, "90") + body(230, 647, "99") +
		body(76, 629, "East and islands", "near the strait") + body(174, 622, "70") + body(202, 622, "71")
	const want = "| Region | Q1 | Q2 | Q3 |\n| --- | --- | --- | --- |\n| North | 1200 | 1300 | 1250 |\n" +
		"| South | 90 |  | 99 |\n| East and islands near the strait | 70 | 71 |"
	frame := stroke(40, 40, 40, 800) + stroke(40, 800, 550, 800) + stroke(550, 800, 550, 40) + stroke(550, 40, 40, 40)
	for _, tc := range []struct {
		behaviour, content string
	}{
		{"lines", lattice(stroke, xs, ys) + texts},
		{"filled strips", lattice(strip, xs, ys) + texts},
		{"double lines", lattice(twice, xs, ys) + texts},
		{"dashes", lattice(dashed, xs, ys) + texts},
		{"one path with rectangles", "72 612 184 88 re 172 612 28 88 re 200 612 28 88 re 72 640 184 20 re 72 660 184 20 re S\n" + texts},
		{"no border on the left, on the right and below", lattice(stroke, xs[1:4], ys) +
			stroke(72, 700, 256, 700) + stroke(72, 680, 256, 680) + stroke(72, 660, 256, 660) + stroke(72, 640, 256, 640) + texts},
		{"a frame around the page", frame + lattice(stroke, xs, ys) + texts},
		{"cells drawn by column", lattice(stroke, xs, ys) + body(174, 687, "Q1") + body(174, 667, "1200") + body(174, 647, "90") + body(174, 622, "70") +
			body(76, 687, "Region") + body(76, 667, "North") + body(76, 647, "South") + body(76, 629, "East and islands", "near the strait") +
			body(202, 687, "Q2") + body(230, 687, "Q3") + body(202, 667, "1300") + body(230, 667, "1250") + body(230, 647, "99") + body(202, 622, "71")},
	} {
		t.Run(tc.behaviour, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff([]string{want}, tablesOf(read(t, makePDF(a4, tc.content)))); diff != "" {
				t.Error(diff)
			}
		})
	}
	t.Run("a page of a scale and a turn of its own", func(t *testing.T) {
		t.Parallel()
		turned := makePDF("/MediaBox [0 0 842 595] /Rotate 90", "q 0 1 -1 0 842 0 cm\n"+lattice(strip, xs, ys)+texts+"Q")
		if diff := cmp.Diff([]string{want}, tablesOf(read(t, turned))); diff != "" {
			t.Error(diff)
		}
	})
}

func TestMergedCells(t *testing.T) {
	t.Parallel()
	lines := stroke(72, 700, 312, 700) + stroke(132, 680, 312, 680) + stroke(72, 660, 312, 660) + stroke(72, 640, 312, 640) + stroke(132, 620, 312, 620) +
		stroke(72, 600, 312, 600) + stroke(72, 700, 72, 600) + stroke(312, 700, 312, 600) + stroke(132, 700, 132, 600) + stroke(222, 700, 222, 600) +
		stroke(177, 680, 177, 600) + stroke(267, 680, 267, 600)
	layout := read(t, makePDF(a4, lines+body(76, 677, "Product")+body(160, 686, "2024")+body(250, 686, "2025")+
		body(136, 666, "Units")+body(181, 666, "Price")+body(226, 666, "Units")+body(271, 666, "Price")+
		body(76, 646, "Pump")+body(136, 646, "10")+body(181, 646, "5.00")+body(226, 646, "12")+body(271, 646, "5.50")+
		body(76, 616, "Valve")+body(136, 626, "20")+body(181, 626, "2.00")+body(226, 626, "22")+body(271, 626, "2.10")+
		body(136, 606, "21")+body(181, 606, "2.05")+body(226, 606, "23")+body(271, 606, "2.15")))
	var spans []knowledge.Cell
	for _, b := range layout.Blocks {
		for _, c := range b.Cells {
			if c.RowSpan > 0 || c.ColumnSpan > 0 {
				spans = append(spans, c)
			}
		}
	}
	valve := knowledge.Cell{Text: "Valve", RowSpan: 2}
	found := false
	for _, c := range spans {
		valve.Row = c.Row
		found = found || c == valve
	}
	if !found {
		t.Errorf("spans %+v, want Valve over two rows", spans)
	}
	text := strings.Join(tablesOf(layout), "\n")
	for _, row := range []string{"| Pump | 10 | 5.00 | 12 | 5.50 |", "20 | 2.00 | 22 | 2.10 |", "21 | 2.05 | 23 | 2.15 |"} {
		if !strings.Contains(text, row) {
			t.Errorf("the table has no row %q:\n%s", row, text)
		}
	}
}

func TestDrawingsThatAreNoTables(t *testing.T) {
	t.Parallel()
	var chart strings.Builder
	for i := range 6 {
		chart.WriteString(stroke(100, 400+40*float64(i), 400, 400+40*float64(i)) + body(80, 396+40*float64(i), fmt.Sprint(10*i)))
		chart.WriteString(bar(.4, 120+45*float64(i), 400, 20, 20+30*float64(i)) + body(120+45*float64(i), 385, fmt.Sprintf("A%d", i)))
	}
	chart.WriteString(stroke(100, 400, 100, 600))
	for _, tc := range []struct{ behaviour, content string }{
		{"a chart", chart.String()},
		{"a frame with a column on each side of a line", lattice(stroke, []float64{60, 300, 540}, []float64{760, 100}) +
			body(70, 740, "The left column has a line,", "and a second one below it.") + body(310, 740, "So has the right column,", "which ends the page here.")},
		{"a box", lattice(stroke, []float64{60, 540}, []float64{760, 700, 640}) + body(70, 740, "Note.") + body(70, 680, "Another note.")},
	} {
		t.Run(tc.behaviour, func(t *testing.T) {
			t.Parallel()
			if found := tablesOf(read(t, makePDF(a4, tc.content))); len(found) > 0 {
				t.Errorf("tables %q", found)
			}
		})
	}
}

// TestTablesWithoutCells has tables whose lines, if any, enclose no cells.
func TestTablesWithoutCells(t *testing.T) {
	t.Parallel()
	// right returns a text that ends at a place.
	right := func(x, y float64, s string) string {
		return text("F", 9, x-textWidth(s), y, strings.NewReplacer("(", `\(`, ")", `\)`).Replace(s))
	}
	left := func(x, y float64, s string) string { return text("F", 9, x, y, s) }
	sparse := left(60, 700, "Part No") + left(150, 700, "Bin") + left(230, 700, "Planned") + left(310, 700, "Counted") + left(390, 700, "Diff") + left(470, 700, "State") +
		left(60, 678, "KX-1001") + left(150, 678, "A-12") + left(230, 678, "450") +
		left(150, 656, "B-07") + left(310, 656, "289") + left(390, 656, "-23") +
		left(60, 634, "KX-1002") + left(230, 634, "780") + left(310, 634, "778") + left(470, 634, "OK") +
		left(310, 612, "935") + left(390, 612, "+15") + left(470, 612, "OK")
	account := left(60, 700, "In millions") + right(330, 700, "2024") + right(430, 700, "2023") +
		left(60, 684, "Net sales of all stores") + left(280, 684, "$") + right(330, 684, "1,927") + left(380, 684, "$") + right(430, 684, "2,175") +
		left(60, 668, "Cost") + right(333, 668, "(1,200)") + right(433, 668, "(1,500)") +
		left(60, 652, "Other income") + right(330, 652, "4") + right(430, 652, "12") +
		left(60, 636, "Net income") + left(280, 636, "$") + right(330, 636, "731") + left(380, 636, "$") + right(430, 636, "687")
	for _, tc := range []struct {
		behaviour, content, want string
	}{
		{"empty cells are kept", sparse, "| Part No | Bin | Planned | Counted | Diff | State |\n| --- | --- | --- | --- | --- | --- |\n| KX-1001 | A-12 | 450 |\n" +
			"|  | B-07 |  | 289 | -23 |\n| KX-1002 |  | 780 | 778 |  | OK |\n|  |  |  | 935 | +15 | OK |"},
		{"signs and brackets stand with their number", account, "| In millions | 2024 | 2023 |\n| --- | --- | --- |\n| Net sales of all stores | $ 1,927 | $ 2,175 |\n" +
			"| Cost | (1,200) | (1,500) |\n| Other income | 4 | 12 |\n| Net income | $ 731 | $ 687 |"},
		{"rules above and below the header", stroke(60, 712, 440, 712) + stroke(60, 696, 440, 696) + stroke(60, 630, 440, 630) + account,
			"| In millions | 2024 | 2023 |\n| --- | --- | --- |\n| Net sales of all stores | $ 1,927 | $ 2,175 |\n| Cost | (1,200) | (1,500) |\n| Other income | 4 | 12 |\n| Net income | $ 731 | $ 687 |"},
		{"dots lead to the numbers", account + left(160, 668, "..............") + left(160, 652, ".............."),
			"| In millions | 2024 | 2023 |\n| --- | --- | --- |\n| Net sales of all stores | $ 1,927 | $ 2,175 |\n| Cost | (1,200) | (1,500) |\n| Other income | 4 | 12 |\n| Net income | $ 731 | $ 687 |"},
		{"shaded rows have lines of their own", bar(.9, 60, 676, 380, 24) + bar(.9, 60, 628, 380, 24) +
			left(64, 706, "Fault") + left(140, 706, "Action") + left(340, 706, "Hours") +
			left(64, 690, "E01") + left(140, 690, "Charge the battery for two hours") + left(140, 680, "before the next survey.") + right(360, 690, "2") +
			left(64, 666, "E02") + left(140, 666, "Open the relief valve by half a turn") + left(140, 656, "and wait.") + right(360, 666, "14") +
			left(64, 642, "E03") + left(140, 642, "Call the office and note the number") + left(140, 632, "of the unit.") + right(360, 642, "0.5"),
			"| Fault | Action | Hours |\n| --- | --- | --- |\n| E01 | Charge the battery for two hours before the next survey. | 2 |\n" +
				"| E02 | Open the relief valve by half a turn and wait. | 14 |\n| E03 | Call the office and note the number of the unit. | 0.5 |"},
	} {
		t.Run(tc.behaviour, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff([]string{tc.want}, tablesOf(read(t, makePDF(a4, tc.content)))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestTablesOverPages has tables that continue on the next page, and tables side by side.
func TestTablesOverPages(t *testing.T) {
	t.Parallel()
	part := func(x, y float64, header string, rows ...string) string {
		var b strings.Builder
		b.WriteString(body(x+4, y-14, header) + body(x+104, y-14, "Count"))
		for i, row := range rows {
			b.WriteString(body(x+4, y-34-20*float64(i), row) + body(x+104, y-34-20*float64(i), fmt.Sprint(len(row)+i)))
		}
		var ys []float64
		for i := range len(rows) + 2 {
			ys = append(ys, y-20*float64(i))
		}
		return b.String() + lattice(stroke, []float64{x, x + 100, x + 160}, ys)
	}
	for _, tc := range []struct {
		behaviour string
		pages     []string
		want      []string
	}{
		{"a header that is repeated stands once", []string{part(72, 120, "Name", "Anchor", "Bridge"), part(72, 800, "Name", "Canal") + body(72, 600, "The end.")},
			[]string{"| Name | Count |\n| --- | --- |\n| Anchor | 6 |\n| Bridge | 7 |\n| Canal | 5 |"}},
		{"the margin of left pages differs", []string{part(72, 120, "Name", "Anchor", "Bridge"), part(90, 800, "Name", "Canal")},
			[]string{"| Name | Count |\n| --- | --- |\n| Anchor | 6 |\n| Bridge | 7 |\n| Canal | 5 |"}},
		{"text between two tables", []string{part(72, 220, "Name", "Anchor", "Bridge") + body(72, 100, "The second table is on the next page."), part(72, 800, "Name", "Canal")},
			[]string{"| Name | Count |\n| --- | --- |\n| Anchor | 6 |\n| Bridge | 7 |", "| Name | Count |\n| --- | --- |\n| Canal | 5 |"}},
		{"only the header is on the first page", []string{body(72, 700, "A sentence above the table.") + part(72, 80, "Name"), part(72, 800, "Anchor", "Bridge", "Canal")},
			[]string{"| Name | Count |\n| --- | --- |\n| Anchor | Count |\n| Bridge | 6 |\n| Canal | 6 |"}},
		{"only the last row is on the second page", []string{part(72, 120, "Name", "Anchor", "Bridge"), part(72, 800, "Canal") + body(72, 700, "The end.")},
			[]string{"| Name | Count |\n| --- | --- |\n| Anchor | 6 |\n| Bridge | 7 |\n| Canal | Count |"}},
		{"two tables side by side", []string{part(72, 700, "Name", "Anchor", "Bridge") + part(300, 700, "Town", "Basel", "Ghent")},
			[]string{"| Name | Count |\n| --- | --- |\n| Anchor | 6 |\n| Bridge | 7 |", "| Town | Count |\n| --- | --- |\n| Basel | 5 |\n| Ghent | 6 |"}},
	} {
		t.Run(tc.behaviour, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tc.want, tablesOf(read(t, makePDF(a4, tc.pages...)))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestTablesBesideProse has a table without lines in one of two columns, and prose that is
// no table.
func TestTablesBesideProse(t *testing.T) {
	t.Parallel()
	prose := []string{"The lamp is red while the unit charges and", "green when it is full. Close the main valve", "before the cover is taken off. It was moved", "to the lower store after the flood in spring.", "Ask the office for a new key and note the", "number. Two people must lift it, because it"}
	var table strings.Builder
	for i, name := range []string{"Item", "Anchor", "Bridge", "Canal", "Depot", "Engine"} {
		y := 700 - 13*float64(i)
		count, year := fmt.Sprint(100*i), fmt.Sprint(2018+i)
		if i == 0 {
			count, year = "Count", "Year"
		}
		table.WriteString(body(60, y, name) + body(160, y, count) + body(220, y, year))
	}
	const want = "| Item | Count | Year |\n| --- | --- | --- |\n| Anchor | 100 | 2019 |\n| Bridge | 200 | 2020 |\n| Canal | 300 | 2021 |\n| Depot | 400 | 2022 |\n| Engine | 500 | 2023 |"
	t.Run("a table beside prose", func(t *testing.T) {
		t.Parallel()
		for _, content := range []string{table.String() + body(300, 700, prose...), body(300, 700, prose...) + table.String()} {
			if diff := cmp.Diff([]string{want}, tablesOf(read(t, makePDF(a4, content)))); diff != "" {
				t.Error(diff)
			}
		}
	})
	t.Run("justified prose with wide spaces", func(t *testing.T) {
		t.Parallel()
		content := body(60, 700, prose[0]) + body(60, 687, "it should be written in the original.") + body(260, 687, "There is no need for it") +
			body(60, 674, "but the length of the words should match the language that is written here.") + body(60, 661, "you read this text, you will learn.") + body(260, 661, "Really? Is there any")
		if found := tablesOf(read(t, makePDF(a4, content))); len(found) > 0 {
			t.Errorf("tables %q", found)
		}
	})
	t.Run("the fields of a form", func(t *testing.T) {
		t.Parallel()
		content := body(60, 700, "First name") + body(160, 700, "Alice") + body(300, 700, "Last name") + body(60, 680, "Birthday") +
			body(60, 660, "Gender:") + body(80, 640, "Female") + body(160, 640, "Male") + body(60, 620, "Nationality:")
		if found := tablesOf(read(t, makePDF(a4, content))); len(found) > 0 {
			t.Errorf("tables %q", found)
		}
	})
}
