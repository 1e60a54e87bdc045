package table_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cairn-rag/cairn/internal/extract/table"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/google/go-cmp/cmp"
)

func cells(texts ...string) []table.Cell {
	out := make([]table.Cell, len(texts))
	for i, text := range texts {
		out[i].Text = text
	}
	return out
}

func TestTable(t *testing.T) {
	t.Parallel()

	t.Run("cells with their spans", func(t *testing.T) {
		t.Parallel()
		tab := table.Table{HasHeader: true}
		for _, row := range table.Grid([][]table.Cell{
			{{Text: "Drink"}, {Text: "Price", Columns: 2}},
			{{Text: "tea\nblack", Rows: 2}, {Text: "2"}, {Text: "small"}},
			{{Text: "3"}, {Text: "large"}},
		}) {
			tab.Add(table.Row{Cells: row})
		}
		want := []knowledge.Block{{
			Kind: knowledge.BlockTable, Header: "| Drink | Price |  |\n| --- | --- | --- |",
			Text: "| Drink | Price |  |\n| --- | --- | --- |\n| tea black | 2 | small |\n|  | 3 | large |",
			Cells: []knowledge.Cell{
				{Row: 0, Column: 0, Text: "Drink"}, {Row: 0, Column: 1, ColumnSpan: 2, Text: "Price"},
				{Row: 1, Column: 0, RowSpan: 2, Text: "tea black"}, {Row: 1, Column: 1, Text: "2"}, {Row: 1, Column: 2, Text: "small"},
				{Row: 2, Column: 1, Text: "3"}, {Row: 2, Column: 2, Text: "large"},
			},
		}}
		if diff := cmp.Diff(want, tab.Blocks()); diff != "" {
			t.Error(diff)
		}
	})

	t.Run("a header of numbers, because the file says that it is one", func(t *testing.T) {
		t.Parallel()
		tab := table.Table{HasHeader: true}
		tab.Add(table.Row{Cells: cells("1", "2")})
		tab.Add(table.Row{Cells: cells("3", "4")})
		if got := tab.Blocks()[0].Header; got != "| 1 | 2 |\n| --- | --- |" {
			t.Errorf("header %q", got)
		}
	})

	t.Run("the lines of a sheet know their rows", func(t *testing.T) {
		t.Parallel()
		tab := table.Table{Sheet: "Prices"}
		for i := range 50 {
			row := cells("drink", "price")
			if i > 0 {
				row = cells(fmt.Sprint("tea ", i), fmt.Sprint(i))
			}
			tab.Add(table.Row{Cells: row, Number: 10 + 2*i})
		}
		for i, b := range tab.Blocks() {
			lines := strings.Split(b.Text, "\n")
			if b.Sheet.Name != "Prices" || b.Sheet.Columns != 2 || len(b.Sheet.Rows) != len(lines) {
				t.Fatalf("block %d of %d lines has the sheet %+v", i, len(lines), b.Sheet)
			}
			for n, line := range lines {
				if want := fmt.Sprintf("| tea %d ", (b.Sheet.Rows[n]-10)/2); b.Sheet.Rows[n] > 10 && !strings.HasPrefix(line, want) {
					t.Errorf("line %q is said to be row %d", line, b.Sheet.Rows[n])
				}
			}
		}
	})

	t.Run("a cell over many rows is cut at the end of a block", func(t *testing.T) {
		t.Parallel()
		rows := [][]table.Cell{{{Text: "all", Rows: 60}, {Text: "x"}}}
		for range 59 {
			rows = append(rows, cells("x"))
		}
		tab := table.Table{}
		for _, row := range table.Grid(rows) {
			tab.Add(table.Row{Cells: row})
		}
		blocks := tab.Blocks()
		if len(blocks) != 2 || blocks[0].Cells[0].RowSpan != knowledge.RowsPerBlock {
			t.Errorf("%d blocks, the first cell covers %d rows", len(blocks), blocks[0].Cells[0].RowSpan)
		}
	})

	t.Run("no rows", func(t *testing.T) {
		t.Parallel()
		tab := table.Table{}
		tab.Add(table.Row{Cells: cells("", " ")})
		if got := tab.Blocks(); len(got) != 0 {
			t.Errorf("%d blocks", len(got))
		}
	})
}

func TestGridOfHugeSpans(t *testing.T) {
	t.Parallel()
	rows := make([][]table.Cell, 100_000)
	rows[0] = []table.Cell{{Text: "all", Rows: 1 << 30, Columns: 1 << 30}}
	rows[1] = []table.Cell{{Text: "more", Rows: 1 << 30, Columns: 1 << 30}}
	total := 0
	for _, row := range table.Grid(rows) {
		total += len(row)
	}
	if total > 1<<21 {
		t.Errorf("%d cells", total)
	}
}
