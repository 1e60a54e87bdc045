package layout_test

import (
	"strings"
	"testing"

	"github.com/cairn-rag/cairn/internal/extract/layout"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// TestIndexes reads rows of cells that are 150 points apart.
func TestIndexes(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		behaviour string
		rows      []string
		isTable   bool
	}{
		{"pages behind a comma", []string{"anchor, 3|kiln, 4, 17|valve, 9", "bridge, 12–14|mill, 31|wharf, 8", "depot, 7|quarry, 5f., 9|yard, 44", "ferry, 19|road, 6|zinc, 2"}, false},
		{"letters above the entries", []string{"A|K", "anchor, 3|kiln, 4, 17", "B|M", "bridge, 12–14|mill, 31", "D|Q", "depot, 7|quarry, 5"}, false},
		{"references to entries", []string{"anchor, 3|kiln, 4, 17", "barge, see ferry|mill, 31", "depot, 7|quarry, see also road", "ferry, 19|road, 6"}, false},
		{"pages in a column of their own", []string{"anchor|3", "bridge|12, 40", "depot|7–9, 15", "ferry|19", "kiln|4, 17, 230"}, false},
		{"a comma before the column of the pages", []string{"anchor,|93", "bridge,|12", "depot,|7", "ferry,|19"}, false},
		{"several pages behind a colon", []string{"Miller, A.: 3, 9|Smith, B.: 4, 17", "Moore, C.: 12, 18|Stone, D.: 31, 40", "Nash, E.: 7, 8|Toll, F.: 5, 61"}, false},
		{"one number in each cell", []string{"Works|Staff", "anchor|93", "bridge|12", "depot|7", "ferry|19"}, true},
		{"years of places", []string{"Born|Died", "Basel, 1900|Rome, 1950", "Ghent, 1901|Jena, 1960", "Parma, 1877|Turku, 1922"}, true},
		{"thousands", []string{"Works|Staff", "anchor|1,093", "bridge|12,400", "depot|7,211", "ferry|19"}, true},
		{"codes and numbers", []string{"Part|Size|Price", "A-3, blue|12|31", "B-4, red|7|15", "C-5, green|19|22"}, true},
	} {
		t.Run(tc.behaviour, func(t *testing.T) {
			t.Parallel()
			d := layout.Document{Pages: pages(1)}
			for i, row := range tc.rows {
				for j, cell := range strings.Split(row, "|") {
					d.Lines = append(d.Lines, at(50+150*float64(j), 100+14*float64(i), cell))
				}
			}
			found := false
			blocks := d.Blocks()
			for _, b := range blocks {
				found = found || b.Kind == knowledge.BlockTable
			}
			if found != tc.isTable {
				t.Errorf("a table: %t, want %t: %q", found, tc.isTable, outlineOf(blocks))
			}
		})
	}
}
