package table

const (
	// maxLabel is the length in bytes of a text that stands in each of the rows that
	// its cell covers. A longer one stands in the first row of each block.
	maxLabel = 200
	// maxRepeated bounds the bytes of repeated texts in a table, because a short file
	// can state that a cell covers a million rows.
	maxRepeated = 4 << 20
)

// labels are the cells that cover rows below them, by column.
type labels struct {
	open     []label
	repeated int // bytes so far
}

type label struct {
	text string
	left int // rows below that it covers
}

// fill returns a row in which the texts of the cells that cover it from above stand
// too, so that each row can be read alone. isFirst says that it begins a block.
// rowsOf are the remaining rows of these cells by column, for the cells of the block.
func (l *labels) fill(r row, isFirst bool) (filled row, rowsOf map[int]int) {
	if r.spans == nil {
		l.open = l.open[:0]
		return r, nil
	}
	for len(l.open) < len(r.spans) {
		l.open = append(l.open, label{})
	}
	filled, copied := r, false
	beside := 0 // columns that the last cell of this row covers
	for i, c := range r.spans {
		open := &l.open[i]
		switch {
		case beside > 0:
			beside--
			*open = label{}
		case !c.Covered:
			*open = label{r.cells[i], max(c.Rows, 1) - 1}
			beside = max(c.Columns, 1) - 1
		case open.left > 0:
			open.left--
			if !isFirst && len(open.text) > maxLabel || l.repeated+len(open.text) > maxRepeated || open.text == "" {
				continue
			}
			if l.repeated += len(open.text); !copied {
				filled.cells, copied = append([]string(nil), r.cells...), true
			}
			filled.cells[i] = open.text
			if isFirst {
				if rowsOf == nil {
					rowsOf = map[int]int{}
				}
				rowsOf[i] = open.left + 1
			}
		}
	}
	return filled, rowsOf
}
