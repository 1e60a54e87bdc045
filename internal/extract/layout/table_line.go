package layout

import (
	"slices"
	"strings"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// withoutOverlap returns the lines, which are in order, without those that begin
// within another.
func withoutOverlap(lines knowledge.Lines) knowledge.Lines {
	end := 0
	return slices.DeleteFunc(lines, func(l knowledge.Line) bool {
		if l.Start < end {
			return true
		}
		end = l.End
		return false
	})
}

// findCell returns the block in which a whole cell stands, from a byte of a block on,
// and its place in the text; start is negative if it stands in none.
func findCell(blocks []knowledge.Block, cell string, at, from int) (block, start, end int) {
	for ; at < len(blocks); at, from = at+1, 0 {
		if start, end = find(blocks[at].Text, cell, from, blocks[at].Kind == knowledge.BlockTable); start >= 0 {
			return at, start, end
		}
	}
	return 0, -1, 0
}

// findName returns where the text of a cell stands as a part of the name of a column,
// behind the last one that was found if it can be.
func findName(blocks []knowledge.Block, cell string, last [2]int) (block, start, end int) {
	i := slices.IndexFunc(blocks, func(b knowledge.Block) bool { return b.Header != "" })
	if i < 0 {
		return 0, -1, 0
	}
	names, _, _ := strings.Cut(blocks[i].Text, "\n")
	cell = strings.ReplaceAll(cell, bar, `\`+bar)
	for _, from := range []int{last[1], 0} {
		if from > len(names) || last[0] != i && from > 0 {
			continue
		}
		k := strings.Index(names[from:]+" ", cell+" ")
		if k >= 0 && strings.HasSuffix(names[:from+k], " ") {
			return i, from + k, from + k + len(cell)
		}
	}
	return 0, -1, 0
}
