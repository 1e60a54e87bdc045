package table_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/cairn-rag/cairn/internal/extract/table"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// randomTable returns rows of a table, in which groups of columns have a cell above them
// and labels cover several rows, and for each value the words of its column and row.
func randomTable(r *rand.Rand) (rows [][]table.Cell, words map[string][]string) {
	const rowsOfTable = 60
	groups, measures := 2+r.IntN(3), 1+r.IntN(3)
	top, names := []table.Cell{high("Region", 2), high("Month", 2)}, []table.Cell{}
	var columns [][]string
	for g := range groups {
		top = append(top, wide(fmt.Sprint(2020+g), measures))
		for m := range measures {
			name := []string{"Units", "EUR", "Share"}[m]
			names, columns = append(names, one(name)), append(columns, []string{fmt.Sprint(2020 + g), name})
		}
	}
	rows, words = [][]table.Cell{top, names}, map[string][]string{}
	for done := 0; done < rowsOfTable; {
		covered := min(1+r.IntN(30), rowsOfTable-done)
		region := fmt.Sprint("Region ", done)
		for i := range covered {
			month := fmt.Sprint("Month ", done+i)
			row := []table.Cell{one(month)}
			if i == 0 {
				row = append([]table.Cell{high(region, covered)}, row...)
			}
			for c, column := range columns {
				value := fmt.Sprintf("%d.%02d", 1000+done+i, c)
				row = append(row, one(value))
				words[value] = append([]string{region, month}, column...)
			}
			rows = append(rows, row)
		}
		done += covered
	}
	return rows, words
}

// TestEachValueIsReadWithItsColumnAndRow reads each block of a table with its header, as a
// chunk is read, without the rest of the table.
func TestEachValueIsReadWithItsColumnAndRow(t *testing.T) {
	t.Parallel()
	found, all := 0, 0
	for seed := range uint64(50) {
		r := rand.New(rand.NewPCG(seed, 7)) //nolint:gosec // the same tables each time
		rows, words := randomTable(r)
		tab := table.Table{HasHeader: seed%2 == 0}
		for _, row := range table.Grid(rows) {
			tab.Add(table.Row{Cells: row})
		}
		all += len(words)
		for _, b := range tab.Blocks() {
			if b.Kind != knowledge.BlockTable {
				continue
			}
			head, _, _ := strings.Cut(b.Header, "\n")
			names := strings.Split(head, " | ")
			for line := range strings.Lines(b.Text) {
				fields := strings.Split(strings.Trim(line, "| \n"), " | ")
				for i, value := range fields {
					want, isValue := words[value]
					if isValue && i < len(names) && strings.Trim(names[i], "| ") == want[2]+" "+want[3] && fields[0] == want[0] && fields[1] == want[1] {
						found++
					}
				}
			}
		}
	}
	if t.Logf("%d of %d values", found, all); found*100 < all*99 {
		t.Errorf("%d of %d values can be read with their column and row", found, all)
	}
}
