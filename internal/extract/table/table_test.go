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
			Kind: knowledge.BlockTable, Header: "| Drink | Price | Price |\n| --- | --- | --- |",
			Text: "| Drink | Price | Price |\n| --- | --- | --- |\n| tea black | 2 | small |\n| tea black | 3 | large |",
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

func TestHeader(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		behaviour string
		stated    bool
		rows      [][]table.Cell
		caption   string
		header    string
	}{
		{"a first row with an amount is no header", false, [][]table.Cell{cells("Capital expenditures", "about $400 million"), cells("New stores", "30 to 35")}, "", ""},
		{"nor one with a share", false, [][]table.Cell{cells("Sales growth", "3% to 5%"), cells("Tax rate", "about 24%")}, "", ""},
		{"nor one with a loss", false, [][]table.Cell{cells("Net loss", "(1,234)"), cells("Shares", "(99)")}, "", ""},
		{"nor one with a range", false, [][]table.Cell{cells("New stores", "30 to 35"), cells("Capital expenditures", "about $400 million")}, "", ""},
		{"nor one with a code like the next", false, [][]table.Cell{cells("ERR-001", "Name is mandatory"), cells("ERR-002", "Date is invalid")}, "", ""},
		{"nor one with the step before the next", false, [][]table.Cell{cells("Step 1", "Open the valve"), cells("Step 2", "Wait")}, "", ""},
		{"nor one with a date like the next", false, [][]table.Cell{cells("2024-03-05", "Founded"), cells("2025-01-10", "Sold")}, "", ""},
		{"nor one with a label and a colon", false, [][]table.Cell{cells("Name:", "Ann"), cells("City:", "Basel")}, "", ""},
		{"nor one with a sentence above a sentence", false, [][]table.Cell{cells("Pump", "It lifts the water up."), cells("Valve", "It holds the water back.")}, "", ""},
		{"numbered columns are names", false, [][]table.Cell{cells("Item", "Column 1", "Column 2"), cells("Item 1", "Value 1", "Value 2"), cells("Item 2", "Value 3", "Value 4")}, "", "| Item | Column 1"},
		{"a code above words names a column", false, [][]table.Cell{cells("Code", "ISO 3166"), cells("Basel", "CH"), cells("Ulm", "DE")}, "", "| Code | ISO 3166"},
		{"ranges above numbers name columns", false, [][]table.Cell{cells("Age", "0 to 5", "6 to 10"), cells("Children", "12", "11")}, "", "| Age | 0 to 5"},
		{"a stated header is one whatever is below it", true, [][]table.Cell{cells("Step 1", "Step 2"), cells("Step 3", "Step 4")}, "", "| Step 1"},
		{"an amount above numbers names a column", false, [][]table.Cell{cells("Order", "under $500", "from $500"), cells("Post", "12", "0")}, "", "| Order"},
		{"a year above numbers names a column", false, [][]table.Cell{cells("", "2023", "2022"), cells("Sales", "12", "11")}, "", "|  | 2023"},
		{"rows above the header are the caption", false, [][]table.Cell{
			cells("", "13 Weeks Ended"), cells("(in millions)", "April 1, 2023", "April 2, 2022"), cells("Sales", "12", "11"),
		}, "13 Weeks Ended", "| (in millions) | April 1, 2023"},
		{"a period without names of columns is the caption", false, [][]table.Cell{
			cells("", "13 Weeks Ended"), cells("Sales", "$12", "$11"), cells("Costs", "$9", "$8"),
		}, "13 Weeks Ended", ""},
		{"a stated header may have two rows", true, [][]table.Cell{
			cells("Product", "2023", "", "2022"), cells("", "Units", "Price", "Units", "Price"), cells("Tea", "1", "2", "3", "4"),
		}, "", "| Product | 2023 Units | 2023 Price | 2022 Units | 2022 Price |"},
		{"a row of words below a stated header is data", true, [][]table.Cell{cells("", "Name", "City"), cells("", "Ann", "Basel"), cells("", "Bob", "Bern")}, "", "|  | Name"},
	} {
		t.Run(tc.behaviour, func(t *testing.T) {
			t.Parallel()
			tab := table.Table{HasHeader: tc.stated}
			for _, row := range tc.rows {
				tab.Add(table.Row{Cells: row})
			}
			blocks := tab.Blocks()
			caption := ""
			if blocks[0].Kind == knowledge.BlockCaption {
				caption, blocks = blocks[0].Text, blocks[1:]
			}
			if got := blocks[0].Header; caption != tc.caption || !strings.HasPrefix(got, tc.header) || tc.header == "" && got != "" {
				t.Errorf("caption %q, header %q", caption, got)
			}
		})
	}
}

func TestMarkCaptions(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		behaviour string
		blocks    []string // kind and text
		captions  []string
	}{
		{"subject, unit and period", []string{"paragraph Sales rose.", "paragraph Statements of Operations", "paragraph (in millions)", "paragraph 13 Weeks Ended", "table x"}, []string{"Statements of Operations", "(in millions)", "13 Weeks Ended"}},
		{"three at most", []string{"paragraph a", "paragraph b", "paragraph c", "paragraph d", "table x"}, []string{"b", "c", "d"}},
		{"no sentence", []string{"paragraph 13 Weeks Ended", "paragraph Sales rose.", "table x"}, nil},
		{"nothing long", []string{"paragraph " + strings.Repeat("long ", 30), "table x"}, nil},
		{"nothing without a letter", []string{"paragraph 12", "table x"}, nil},
		{"a line of the page is passed over", []string{"paragraph FY23 outlook:", "footer Page 1", "table x"}, []string{"FY23 outlook:"}},
		{"what is below a figure may be of the figure", []string{"figure f", "paragraph The valve", "paragraph in millimetres", "table x"}, []string{"in millimetres"}},
		{"what is below a table is of the next one", []string{"table x", "paragraph 26 Weeks Ended", "table y"}, []string{"26 Weeks Ended"}},
	} {
		t.Run(tc.behaviour, func(t *testing.T) {
			t.Parallel()
			var blocks []knowledge.Block
			for _, b := range tc.blocks {
				kind, text, _ := strings.Cut(b, " ")
				blocks = append(blocks, knowledge.Block{Kind: knowledge.BlockKind(kind), Text: text})
			}
			table.MarkCaptions(blocks)
			var got []string
			for _, b := range blocks {
				if b.Kind == knowledge.BlockCaption {
					got = append(got, b.Text)
				}
			}
			if diff := cmp.Diff(tc.captions, got); diff != "" {
				t.Error(diff)
			}
		})
	}
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
