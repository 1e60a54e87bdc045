package hypertext

import (
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// maxFill is the largest ratio of the cells of a table after its rows are filled
// up and its spans expanded to the cells that it has. Every table may have
// minCells.
const maxFill = 8

const minCells = 4096

// reduce keeps a table from growing far beyond its source: spans are dropped if
// they cover too many cells, and a table with one row far wider than the others
// becomes text.
func reduce(n *html.Node) {
	s := size{left: len(rowsOf(n))}
	s.measure(n, true)
	if s.area > maxFill*s.cells+minCells {
		s = size{left: s.left}
		s.measure(n, false)
		dropSpans(n)
	}
	if s.width*len(s.rows) > maxFill*s.cells+minCells {
		n.Attr = append(n.Attr, html.Attribute{Key: "role", Val: "presentation"})
	}
}

// size measures a table without the tables inside it.
type size struct {
	cells, area, width int
	rows               []int // cells of each row, including those that span into it from above
	row                int   // index of the next row
	left               int   // rows of the table
}

func (s *size) measure(parent *html.Node, spans bool) {
	for n := parent.FirstChild; n != nil; n = n.NextSibling {
		switch n.DataAtom {
		case atom.Table:
		case atom.Td, atom.Th:
			if s.row > 0 {
				s.cell(n, spans)
			}
		case atom.Tr:
			s.add(s.row, 0)
			s.row++
			s.measure(n, spans)
		default:
			s.measure(n, spans)
		}
	}
}

func (s *size) cell(n *html.Node, spans bool) {
	columns, rows := 1, 1
	if spans {
		columns, rows = span(n, "colspan"), min(span(n, "rowspan"), max(s.left-s.row+1, 1))
	}
	s.cells++
	s.area += columns * rows
	for i := range rows {
		s.add(s.row-1+i, columns)
	}
}

func (s *size) add(row, columns int) {
	for len(s.rows) <= row {
		s.rows = append(s.rows, 0)
	}
	s.rows[row] += columns
	s.width = max(s.width, s.rows[row])
}

func dropSpans(parent *html.Node) {
	for n := parent.FirstChild; n != nil; n = n.NextSibling {
		dropSpan(n)
		if n.DataAtom != atom.Table {
			dropSpans(n)
		}
	}
}

func dropSpan(n *html.Node) {
	for i := range n.Attr {
		if key := n.Attr[i].Key; key == "colspan" || key == "rowspan" {
			n.Attr[i].Val = "1"
		}
	}
}
