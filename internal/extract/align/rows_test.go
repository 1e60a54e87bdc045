package align_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/extract/align"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// sheet returns the layout of a PDF with these rows of cells, ten points high, one block for
// each column, as a reader of PDF may find them.
func sheet(rows ...[]string) knowledge.Layout {
	layout := knowledge.Layout{Pages: []knowledge.PageSize{{Page: 1, Width: 600, Height: 800}}}
	for column := range rows[0] {
		var b knowledge.Block
		for i, row := range rows {
			if b.Text != "" {
				b.Text += "\n"
			}
			start := len([]rune(b.Text))
			b.Text += row[column]
			x, y := float64(100*column), float64(20*i)
			if row[column] != "" {
				b.Lines = append(b.Lines, knowledge.Line{Start: start, End: len([]rune(b.Text)), Page: 1, Box: knowledge.Box{X1: x, Y1: y, X2: x + 90, Y2: y + 10}})
			}
		}
		layout.Blocks = append(layout.Blocks, b)
	}
	return layout
}

func TestRows(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		behaviour string
		table     string
		pdf       knowledge.Layout
		want      []string
	}{
		{"cells in the order of rows", "| Drink | Price |\n| --- | --- |\n| tea | 2 |\n| coffee | 3 |", sheet([]string{"Drink", "Price"}, []string{"tea", "2"}, []string{"coffee", "3"}),
			[]string{"Drink @1:a", "Price @1:a", "tea @1:b", "2 @1:b", "coffee @1:c", "3 @1:c"}},
		{"rows with the same words", "| a | yes |\n| b | yes |\n| c | yes |", sheet([]string{"a", "yes"}, []string{"b", "yes"}, []string{"c", "yes"}),
			[]string{"a @1:a", "yes @1:a", "b @1:b", "yes @1:b", "c @1:c", "yes @1:c"}},
		{"a row whose words are others on the page has none", "| one two three | x |\n| 2024-03-05 | y |\n| four five six | z |\n| seven eight nine | z |",
			sheet([]string{"one two three", "x"}, []string{"5 March", "y"}, []string{"four five six", "z"}, []string{"seven eight nine", "z"}),
			[]string{"one two three @1:a", "x @1:a", "four five six @1:c", "z @1:c", "seven eight nine @1:d", "z @1:d"}},
		{"a table whose words are not there has none", "| one | two |\n| three | four |", sheet([]string{"five", "six"}), nil},
	} {
		t.Run(tc.behaviour, func(t *testing.T) {
			t.Parallel()
			layout := knowledge.Layout{Blocks: []knowledge.Block{{Kind: knowledge.BlockTable, Text: tc.table}}}
			align.Rows(&layout, tc.pdf)
			if diff := cmp.Diff(tc.want, placed(layout.Blocks)[0]); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestRowsOutOfOrderHaveNoLines looks for rows that the page has in another order: a word of
// one could stand in another one.
func TestRowsOutOfOrderHaveNoLines(t *testing.T) {
	t.Parallel()
	table := "| one two three four five | x |\n| six seven eight nine ten | x |"
	pdf := sheet([]string{"one two three four five", "y"}, []string{"six seven eight nine ten", "y"})
	pdf.Blocks[1].Lines[0].Box.Y1, pdf.Blocks[1].Lines[0].Box.Y2 = 300, 310
	layout := knowledge.Layout{Blocks: []knowledge.Block{{Kind: knowledge.BlockTable, Text: table}}}
	align.Rows(&layout, pdf)
	for _, l := range layout.Blocks[0].Lines {
		if l.Box.Y2 > 100 {
			t.Errorf("a row has the box %+v", l.Box)
		}
	}
}
