package align

import (
	"cmp"
	"slices"
	"strings"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// Rows sets the lines of the blocks of a spreadsheet that are found in the PDF of its
// sheets. A row of a table has lines if at least minShare of its words were found, in an
// order of the rows that is that of the page: cells often have the same words as others.
func Rows(layout *knowledge.Layout, pdf knowledge.Layout) {
	a := newAligner(inRows(pdf))
	a.skip = skipInTable
	for i := range layout.Blocks {
		b := &layout.Blocks[i]
		own := wordsOf(b.Text, unprinted(*b))
		if places := a.place(own); places != nil {
			b.Lines = joined(inOrder(a.rows([]rune(b.Text), own, places)))
		}
	}
}

// inRows returns the layout of a PDF with a block for each of its lines: from the top of a
// page to its bottom, and those of one height from left to right, as the cells of a row
// stand.
func inRows(pdf knowledge.Layout) knowledge.Layout {
	var cells []knowledge.Block
	for _, b := range pdf.Blocks {
		runes := []rune(b.Text)
		for _, l := range b.Lines {
			if l.Start < 0 || l.End > len(runes) || l.Start >= l.End {
				continue
			}
			text := string(runes[l.Start:l.End])
			l.Start, l.End = 0, l.End-l.Start
			cells = append(cells, knowledge.Block{Text: text, Lines: knowledge.Lines{l}})
		}
	}
	middle := func(b knowledge.Block) float64 { return (b.Lines[0].Box.Y1 + b.Lines[0].Box.Y2) / 2 }
	slices.SortStableFunc(cells, func(a, b knowledge.Block) int {
		return cmp.Or(cmp.Compare(a.Lines[0].Page, b.Lines[0].Page), cmp.Compare(middle(a), middle(b)))
	})
	for first := 0; first < len(cells); {
		last, l := first+1, cells[first].Lines[0]
		for last < len(cells) && cells[last].Lines[0].Page == l.Page && middle(cells[last]) < l.Box.Y2 {
			last++
		}
		slices.SortStableFunc(cells[first:last], func(a, b knowledge.Block) int { return cmp.Compare(a.Lines[0].Box.X1, b.Lines[0].Box.X1) })
		first = last
	}
	pdf.Blocks = cells
	return pdf
}

// row is the lines of a row of a table, nil if too few of its words were found.
type row []knowledge.Line

// rows returns the lines of each row of a block's text, whose words are at these places.
func (a *aligner) rows(text []rune, own []word, places []int) []row {
	var rows []row
	from, first := 0, 0
	for line := range strings.SplitSeq(string(text), "\n") {
		to := from + len([]rune(line))
		last := first
		for last < len(own) && own[last].start < to {
			last++
		}
		words, found := slices.Clone(own[first:last]), 0
		for i := range words {
			words[i].start, words[i].end = words[i].start-from, words[i].end-from
			if places[first+i] >= 0 {
				found++
			}
		}
		var lines row
		if found > 0 && found >= needed(len(words)) {
			lines = a.lines(text[from:to], words, places[first:last])
		}
		for i := range lines {
			lines[i].Start, lines[i].End = lines[i].Start+from, lines[i].End+from
		}
		rows = append(rows, lines)
		from, first = to+1, last
	}
	return rows
}

// overlap is how many points a row may reach into the next one.
const overlap = 2

// inOrder returns the rows without those that are not below the row before them, and without
// that row: a word of one of them was found in another row.
func inOrder(rows []row) []row {
	wrong := make([]bool, len(rows))
	before := -1
	for i, r := range rows {
		if len(r) == 0 {
			continue
		}
		if before >= 0 && !isBelow(r, rows[before]) {
			wrong[before], wrong[i] = true, true
		}
		if r[0].Page != r[len(r)-1].Page || height(r) > tallest(r) {
			wrong[i] = true
		}
		before = i
	}
	kept := slices.Clone(rows)
	for i := range kept {
		if wrong[i] {
			kept[i] = nil
		}
	}
	return kept
}

// isBelow reports whether a row begins where another one has ended.
func isBelow(r, other row) bool {
	for _, l := range r {
		for _, o := range other {
			if l.Page < o.Page || l.Page == o.Page && l.Box.Y1 < o.Box.Y2-overlap {
				return false
			}
		}
	}
	return true
}

// height returns the height of a row in points.
func height(r row) float64 {
	box := r[0].Box
	for _, l := range r {
		box = box.Union(l.Box)
	}
	return box.Y2 - box.Y1
}

// tallest returns how high a row can be in points: its longest cell may have a line for each
// of the row's lines.
func tallest(r row) float64 {
	sum := 0.0
	for _, l := range r {
		sum += 2 * (l.Box.Y2 - l.Box.Y1)
	}
	return sum
}

// joined returns the lines of rows.
func joined(rows []row) knowledge.Lines {
	var lines knowledge.Lines
	for _, r := range rows {
		lines = append(lines, r...)
	}
	return lines
}

// needed returns how many of so many words must be found.
func needed(count int) int {
	if count <= short {
		return count
	}
	return int(minShare*float64(count) + .999)
}
