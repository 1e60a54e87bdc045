package layout

// labelledRows is the rows of a grid over which a label stands: the one that holds it and
// those right below it that have none.
type labelledRows struct{ first, end int }

// mergedLabels joins the first cell of each row that has none to the label above it, in a
// grid without drawn lines, where most labels stand over several rows. A few rows without a
// label are sums.
func (g *grid) mergedLabels(sets sets, cells []texts, groups [][2]int) {
	columns, column := len(g.xs)-1, 0
	if mostlyRightToLeft(cells) {
		column = columns - 1
	}
	var merged []labelledRows
	labels := 0
	for n := 1; n < len(groups); { // the first row may be the header
		rows := labelledRows{n, n + 1}
		if !isFull(cells, groups[n], columns, -1) {
			n++
			continue
		}
		for rows.end < len(groups) && isFull(cells, groups[rows.end], columns, column) {
			rows.end++
		}
		if labels++; rows.end > n+1 {
			merged = append(merged, rows)
		}
		n = rows.end
	}
	if len(merged) < fewRows || 2*len(merged) <= labels {
		return
	}
	for _, rows := range merged {
		for n := rows.first + 1; n < rows.end; n++ {
			sets.join(rows.first*columns+column, n*columns+column)
		}
	}
}

// isFull reports whether a row has text in all columns but one, -1 for none.
func isFull(cells []texts, group [2]int, columns, empty int) bool {
	filled := texts{}
	for _, t := range cells[group[0]:group[1]] {
		for c, s := range t {
			filled[c] += s
		}
	}
	for c := range columns {
		if (filled[c] == "") != (c == empty) {
			return false
		}
	}
	return true
}

// mostlyRightToLeft reports whether most texts that are no numbers are of scripts that are
// written from right to left.
func mostlyRightToLeft(cells []texts) bool {
	right, all := 0, 0
	for _, t := range cells {
		for _, s := range t {
			if isNumeric(s) {
				continue
			}
			if all++; hasRightToLeft(s) {
				right++
			}
		}
	}
	return 2*right > all
}
