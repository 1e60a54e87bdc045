package terminal

import (
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"
)

const (
	shortestID = 8  // of an id that is shortened
	readable   = 19 // columns that are enough to recognise a cell
)

// fit makes a table, whose first row is its header, at most screen columns wide, and
// returns it with the widths of its columns.
func fit(rows [][]string, screen int, spare []string) ([][]string, []int) {
	widths := naturalWidths(rows)
	if tableWidth(widths) <= screen {
		return rows, widths
	}
	if id := slices.Index(rows[0], "ID"); id >= 0 {
		shortenIDs(rows, id)
		widths = naturalWidths(rows)
	}
	for _, title := range spare {
		if leastWidth(widths) <= screen {
			break
		}
		if i := slices.Index(rows[0], title); i >= 0 {
			for n := range rows {
				rows[n] = slices.Delete(rows[n], i, i+1)
			}
			widths = slices.Delete(widths, i, i+1)
		}
	}
	for tableWidth(widths) > screen && slices.Max(widths) > 1 {
		widths[slices.Index(widths, slices.Max(widths))]--
	}
	return rows, widths
}

func naturalWidths(rows [][]string) []int {
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], ansi.StringWidth(cell))
		}
	}
	return widths
}

func tableWidth(widths []int) int {
	sum := len(gap) * (len(widths) - 1)
	for _, w := range widths {
		sum += w
	}
	return sum
}

// leastWidth is the width of a table in which each cell can still be recognised.
func leastWidth(widths []int) int {
	least := slices.Clone(widths)
	for i := range least {
		least[i] = min(least[i], readable)
	}
	return tableWidth(least)
}

// shortenIDs cuts the ids in a column to the shortest beginnings that differ. Ids that are
// words, such as the ids of projects, are short and stay.
func shortenIDs(rows [][]string, column int) {
	var ids []string
	for _, row := range rows[1:] {
		ids = append(ids, row[column])
	}
	slices.Sort(ids)
	size := shortestID
	for i := 1; i < len(ids); i++ {
		if ids[i] != ids[i-1] {
			size = max(size, commonPrefix(ids[i-1], ids[i])+1)
		}
	}
	for _, row := range rows[1:] {
		if id := row[column]; len(id) == len("00000000-0000-0000-0000-000000000000") {
			row[column] = strings.TrimRight(id[:min(size, len(id))], "-")
		}
	}
}

func commonPrefix(a, b string) int {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}
