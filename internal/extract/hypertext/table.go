package hypertext

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/cairn-rag/cairn/internal/extract/table"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// Blocks returns the blocks of a table, its caption first. ok is false if the table
// only arranges text: it says so, holds another table, or a cell of it holds as much
// text as a section.
func Blocks(n *html.Node) (blocks []knowledge.Block, ok bool) {
	reduce(n)
	rows := rowsOf(n)
	if role := attribute(n, "role"); role == "presentation" || role == "none" || !holdsData(n, rows) {
		return nil, false
	}
	grid := make([][]table.Cell, len(rows))
	for i, row := range rows {
		for cell := range cells(row) {
			grid[i] = append(grid[i], table.Cell{Text: Text(cell), Rows: span(cell, "rowspan"), Columns: span(cell, "colspan")})
		}
	}
	headers := headerRows(rows)
	t := table.Table{HasHeader: headers > 0}
	for i, row := range table.Grid(grid) {
		t.Add(table.Row{Cells: row, IsHeader: i < headers})
	}
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		if text := strings.Join(strings.Fields(Text(c)), " "); c.DataAtom == atom.Caption && text != "" {
			blocks = append(blocks, knowledge.Block{Kind: knowledge.BlockCaption, Text: text})
		}
	}
	return append(blocks, t.Blocks()...), true
}

// rowsOf returns the rows of a table, without the rows of tables in it. The foot of a table stands
// at its end, as browsers show it.
func rowsOf(parent *html.Node) []*html.Node {
	var rows, foot []*html.Node
	for n := parent.FirstChild; n != nil; n = n.NextSibling {
		switch n.DataAtom {
		case atom.Tr:
			rows = append(rows, n)
		case atom.Thead, atom.Tbody:
			rows = append(rows, rowsOf(n)...)
		case atom.Tfoot:
			foot = append(foot, rowsOf(n)...)
		}
	}
	return append(rows, foot...)
}

func cells(row *html.Node) func(yield func(*html.Node) bool) {
	return func(yield func(*html.Node) bool) {
		for n := row.FirstChild; n != nil; n = n.NextSibling {
			if (n.DataAtom == atom.Td || n.DataAtom == atom.Th) && !yield(n) {
				return
			}
		}
	}
}

// headerRows returns how many of the first rows the file states to name the columns:
// those in the head of the table, else those whose cells with text are header cells. A
// header cell alone in its row names the rows below it.
func headerRows(rows []*html.Node) int {
	if len(rows) == 0 {
		return 0
	}
	hasHead := rows[0].Parent.DataAtom == atom.Thead
	n := slices.IndexFunc(rows, func(row *html.Node) bool {
		if hasHead {
			return row.Parent.DataAtom != atom.Thead
		}
		texts := 0
		for cell := range cells(row) {
			if hasText(cell) {
				if texts++; cell.DataAtom == atom.Td {
					return true
				}
			}
		}
		return texts == 1 && row != rows[0]
	})
	if n < 0 {
		return len(rows)
	}
	return n
}

const (
	// A cell with more text than maxCell code points that holds lists or headings is a
	// part of a page.
	maxCell = 600
	// maxSpan bounds the columns and rows that a cell states to cover, as browsers do.
	maxSpan = 1000
)

// holdsData reports whether a table is not a means of layout.
func holdsData(n *html.Node, rows []*html.Node) bool {
	hasParts := false
	for d := range n.Descendants() {
		switch d.DataAtom {
		case atom.Table:
			return false
		case atom.Ul, atom.Ol, atom.Blockquote, atom.Hr, atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
			hasParts = true
		}
	}
	if !hasParts {
		return len(rows) > 0
	}
	several := 0 // rows of several cells
	for _, row := range rows {
		count := 0
		for cell := range cells(row) {
			if utf8.RuneCountInString(Text(cell)) > maxCell {
				return false
			}
			count++
		}
		if count > 1 {
			several++
		}
	}
	return several > 1
}

// span returns how many columns or rows a cell covers.
func span(n *html.Node, key string) int {
	value, err := strconv.Atoi(attribute(n, key))
	if err != nil {
		return 1
	}
	if value == 0 && key == "rowspan" { // all rows below
		return maxSpan
	}
	return min(max(value, 1), maxSpan)
}

func attribute(n *html.Node, key string) string {
	for _, a := range n.Attr {
		if a.Key == key {
			return strings.ToLower(strings.TrimSpace(a.Val))
		}
	}
	return ""
}
