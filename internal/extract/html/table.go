package html

import (
	"slices"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// prepareTables moves the caption of each table above it, because the converter writes
// it below, and leaves a header cell only where it names a column: the converter
// takes the first row with one for the header.
func prepareTables(root *html.Node) {
	for n := root.FirstChild; n != nil; n = n.NextSibling {
		prepareTables(n)
	}
	if root.DataAtom != atom.Table {
		return
	}
	rows := ownRows(root)
	if first := slices.IndexFunc(rows, hasText); first >= 0 && !isHeader(rows[first]) {
		for _, row := range rows {
			dropHeaderCells(row)
		}
	}
	if c := child(root, atom.Caption); c != nil && root.Parent != nil {
		root.RemoveChild(c)
		c.DataAtom, c.Data = atom.P, "p"
		root.Parent.InsertBefore(c, root)
	}
}

// ownRows returns the rows of a table, without the rows of tables in it.
func ownRows(parent *html.Node) []*html.Node {
	var rows []*html.Node
	for n := parent.FirstChild; n != nil; n = n.NextSibling {
		switch n.DataAtom {
		case atom.Tr:
			rows = append(rows, n)
		case atom.Thead, atom.Tbody, atom.Tfoot:
			rows = append(rows, ownRows(n)...)
		}
	}
	return rows
}

// isHeader reports whether the file states that a row names the columns: it is in the
// head of the table, or all of its cells with text are header cells.
func isHeader(row *html.Node) bool {
	if row.Parent.DataAtom == atom.Thead {
		return true
	}
	for n := row.FirstChild; n != nil; n = n.NextSibling {
		if n.DataAtom == atom.Td && hasText(n) {
			return false
		}
	}
	return true
}

func dropHeaderCells(row *html.Node) {
	for n := row.FirstChild; n != nil; n = n.NextSibling {
		if n.DataAtom == atom.Th {
			n.DataAtom, n.Data = atom.Td, "td"
		}
	}
}

// fillSpans replaces the spans of a table by empty cells, because the converter puts
// the cells of a row with several spans into other columns.
func fillSpans(n *html.Node) {
	var open []int // by column, how many rows below a cell covers
	rows := ownRows(n)
	for i, row := range rows {
		column := 0
		fill := func(before *html.Node) {
			for ; column < len(open) && open[column] > 0; column++ {
				open[column]--
				row.InsertBefore(emptyCell(), before)
			}
		}
		for cell := row.FirstChild; cell != nil; {
			next := cell.NextSibling
			if cell.DataAtom == atom.Td || cell.DataAtom == atom.Th {
				fill(cell)
				columns, below := span(cell, "colspan"), min(span(cell, "rowspan"), len(rows)-i)-1
				dropSpan(cell)
				open = cover(open, column, columns, below)
				column += columns
				for range columns - 1 {
					row.InsertBefore(emptyCell(), next)
				}
			}
			cell = next
		}
		fill(nil)
	}
}

// cover sets how many rows below some columns are covered.
func cover(open []int, first, columns, below int) []int {
	for len(open) < first+columns {
		open = append(open, 0)
	}
	for i := range columns {
		open[first+i] = below
	}
	return open
}

func emptyCell() *html.Node {
	return &html.Node{Type: html.ElementNode, DataAtom: atom.Td, Data: "td"}
}

func child(n *html.Node, name atom.Atom) *html.Node {
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		if c.DataAtom == name {
			return c
		}
	}
	return nil
}

func hasText(n *html.Node) bool {
	if n.Type == html.TextNode {
		return strings.TrimSpace(n.Data) != ""
	}
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		if hasText(c) {
			return true
		}
	}
	return false
}
