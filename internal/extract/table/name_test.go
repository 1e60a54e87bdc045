package table_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cairn-rag/cairn/internal/extract/table"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/google/go-cmp/cmp"
)

// textOf returns the texts of the blocks of a table whose file leaves out covered cells.
func textOf(t table.Table, headers int, rows [][]table.Cell) []string {
	for i, row := range table.Grid(rows) {
		t.Add(table.Row{Cells: row, IsHeader: i < headers})
	}
	var out []string
	for _, b := range t.Blocks() {
		out = append(out, b.Text)
	}
	return out
}

func wide(text string, columns int) table.Cell { return table.Cell{Text: text, Columns: columns} }
func high(text string, rows int) table.Cell    { return table.Cell{Text: text, Rows: rows} }
func one(text string) table.Cell               { return table.Cell{Text: text} }

func TestNamesOfColumns(t *testing.T) {
	t.Parallel()
	years := [][]table.Cell{
		{high("Plant", 2), wide("2023", 2), wide("2024", 2)}, cells("Units", "EUR", "Units", "EUR"), cells("Kiel", "1", "2", "3", "4"), cells("Bonn", "5", "6", "7", "8"),
	}
	named := "| Plant | 2023 Units | 2023 EUR | 2024 Units | 2024 EUR |\n| --- | --- | --- | --- | --- |\n| Kiel | 1 | 2 | 3 | 4 |\n| Bonn | 5 | 6 | 7 | 8 |"
	for _, tc := range []struct {
		behaviour string
		table     table.Table
		headers   int
		rows      [][]table.Cell
		want      []string
	}{
		{"two header rows, which the file does not state", table.Table{}, 0, years, []string{named}},
		{"two header rows, of which the file states the first", table.Table{HasHeader: true}, 0, years, []string{named}},
		{"two header rows that the file states", table.Table{HasHeader: true}, 2, years, []string{named}},
		{"groups without merged cells", table.Table{}, 0, [][]table.Cell{
			cells("", "2023", "", "2024"), cells("Plant", "Units", "EUR", "Units", "EUR"), cells("Kiel", "1", "2", "3", "4"), cells("Bonn", "5", "6", "7", "8"),
		}, []string{named}},
		{"a title above them is the caption", table.Table{}, 0, append([][]table.Cell{{wide("Output of all plants", 5)}}, years...), []string{"Output of all plants", named}},
		{"three header rows", table.Table{}, 3, [][]table.Cell{
			{high("Plant", 3), wide("Europe", 2), high("Asia", 2)}, {one("Kiel"), one("Bonn")}, cells("t", "t", "kg"), cells("2023", "1", "2", "3"),
		}, []string{"| Plant | Europe Kiel t | Europe Bonn t | Asia kg |\n| --- | --- | --- | --- |\n| 2023 | 1 | 2 | 3 |"}},
		{"units below the names", table.Table{}, 0, [][]table.Cell{
			{high("Item", 2), one("Length"), one("Weight")}, cells("mm", "kg"), cells("Pump", "120", "3.5"), cells("Seal", "12", "0.1"),
		}, []string{"| Item | Length mm | Weight kg |\n| --- | --- | --- |\n| Pump | 120 | 3.5 |\n| Seal | 12 | 0.1 |"}},
		{"a group above words takes no row of data", table.Table{HasHeader: true}, 1, [][]table.Cell{
			{one("Name"), wide("Address", 2)}, cells("Ann", "High Street", "Basel"), cells("Bob", "Low Street", "Bern"),
		}, []string{"| Name | Address | Address |\n| --- | --- | --- |\n| Ann | High Street | Basel |\n| Bob | Low Street | Bern |"}},
		{"a label over several rows is no header", table.Table{}, 0, [][]table.Cell{
			{high("North", 2), one("open"), one("yes")}, cells("closed", "no"), {high("South", 2), one("open"), one("no")}, cells("closed", "no"),
		}, []string{"| North | open | yes |\n| North | closed | no |\n| South | open | no |\n| South | closed | no |"}},
		{"labels in two columns", table.Table{}, 0, [][]table.Cell{
			cells("Land", "Region", "Year", "EUR"), {high("DE", 3), high("North", 2), one("2023"), one("1")}, cells("2024", "2"), {one("South"), one("2024"), one("3")},
		}, []string{"| Land | Region | Year | EUR |\n| --- | --- | --- | --- |\n| DE | North | 2023 | 1 |\n| DE | North | 2024 | 2 |\n| DE | South | 2024 | 3 |"}},
	} {
		t.Run(tc.behaviour, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tc.want, textOf(tc.table, tc.headers, tc.rows)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestEachBlockSaysItsLabels(t *testing.T) {
	t.Parallel()
	rows := [][]table.Cell{cells("Region", "Month", "EUR")}
	for i := range 100 {
		month := fmt.Sprint("Month ", i)
		row := cells(month, "1")
		switch i {
		case 0:
			row = append([]table.Cell{high("North", 50)}, row...)
		case 50:
			row = append([]table.Cell{high(strings.Repeat("South ", 50), 50)}, row...)
		}
		rows = append(rows, row)
	}
	tab := table.Table{}
	for _, row := range table.Grid(rows) {
		tab.Add(table.Row{Cells: row})
	}
	for i, b := range tab.Blocks() {
		for n, line := range strings.Split(b.Text, "\n") {
			isNorth := strings.HasPrefix(line, "| North | Month ")
			isSouth := strings.HasPrefix(line, "| South South ") || n > 0 && i == 2 && strings.HasPrefix(line, "|  | Month ")
			if b.Kind == knowledge.BlockTable && n > 1 && !isNorth && !isSouth && i < 1 {
				t.Errorf("line %d of block %d is %q", n, i, line)
			}
			if n == 0 && i > 0 && !isNorth && !isSouth {
				t.Errorf("block %d begins with %q", i, line)
			}
		}
		if first := b.Cells[0]; i > 0 && (first.Row != 0 || first.Column != 0 || first.RowSpan < 2) {
			t.Errorf("the first cell of block %d is %+v", i, first)
		}
	}
}

func TestRepeatedLabelsAreBounded(t *testing.T) {
	t.Parallel()
	tab := table.Table{WithoutCells: true}
	for i := range 100_000 {
		row := make([]table.Cell, 20)
		for k := range row {
			if row[k] = (table.Cell{Covered: true}); i == 0 {
				row[k] = high(strings.Repeat("x", 150), 100_000)
			}
		}
		row[19] = one("y")
		tab.Add(table.Row{Cells: row})
	}
	size := 0
	for _, b := range tab.Blocks() {
		size += len(b.Text)
	}
	if size > 16<<20 {
		t.Errorf("%d bytes", size)
	}
}
