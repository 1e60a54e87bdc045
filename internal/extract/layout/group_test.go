package layout_test

import (
	"strings"
	"testing"

	"github.com/cairn-rag/cairn/internal/extract/layout"
)

// TestGroupsOfColumns reads tables without lines that have several rows of names. A bar
// begins the next column, which is 60 points further, and a text in brackets stands in the
// middle of as many columns as its number says.
func TestGroupsOfColumns(t *testing.T) {
	t.Parallel()
	body := []string{"North|10|21|32|43|54|65|76|87", "South|47|58|69|80|91|12|23|34", "East|84|95|16|27|38|49|60|71"}
	for _, tc := range []struct {
		behaviour string
		columns   int
		head      []string
		want      string
	}{
		{"three rows", 8, []string{"|4:2024|4:2025", "|2:Q1|2:Q2|2:Q1|2:Q2", "Region|Units|Price|Units|Price|Units|Price|Units|Price"},
			"Region | 2024 Q1 Units | 2024 Q1 Price | 2024 Q2 Units | 2024 Q2 Price | 2025 Q1 Units | 2025 Q1 Price | 2025 Q2 Units | 2025 Q2 Price"},
		{"names that differ below the groups", 8, []string{"|4:Plan|4:Made", "Region|Units|Price|Cost|Mass|Size|Rate|Depth|Grade"},
			"Region | Plan Units | Plan Price | Plan Cost | Plan Mass | Made Size | Made Rate | Made Depth | Made Grade"},
		{"groups of three", 6, []string{"|3:Plan|3:Made", "Region|Units|Price|Cost|Units|Price|Cost"},
			"Region | Plan Units | Plan Price | Plan Cost | Made Units | Made Price | Made Cost"},
		{"names of one column in three rows", 3, []string{"|Months|Months|Year", "|ended|ended|ended", "|May 2024|May 2023|Dec 2023"},
			" | Months ended May 2024 | Months ended May 2023 | Year ended Dec 2023"},
	} {
		t.Run(tc.behaviour, func(t *testing.T) {
			t.Parallel()
			d := layout.Document{Pages: pages(1)}
			for i, line := range append(append([]string{}, tc.head...), body...) {
				column := 0.0
				for _, cell := range strings.Split(line, "|")[:min(tc.columns+1, strings.Count(line, "|")+1)] {
					wide := 1.0
					if before, name, found := strings.Cut(cell, ":"); found {
						wide, cell = float64(before[0]-'0'), name
					}
					if cell != "" {
						x := 50 + 60*column + 30*wide - 2.5*float64(len(cell))
						d.Lines = append(d.Lines, at(x, 100+22*float64(i), cell))
					}
					column += wide
				}
			}
			got := strings.Join(outlineOf(d.Blocks()), "\n")
			if !strings.HasPrefix(got, "table: | "+tc.want+" |\n| --- |") {
				t.Errorf("the table is %s\nwant the header %s", got, tc.want)
			}
		})
	}
}
