package html

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// keepTables keeps or drops each table of data whole: a value means nothing without the
// name of its column. Tables of links, and those in the navigation of the page, are kept
// if the evidence is for a part of their text.
func keepTables(units []unit, found []bool) {
	table := tableAround()
	for first := 0; first < len(units); {
		t, last := table(units[first].parent), first+1
		for t != nil && last < len(units) && table(units[last].parent) == t {
			last++
		}
		if t != nil {
			isKept := keepsTable(units[first:last], found[first:last], t)
			for i := first; i < last; i++ {
				found[i] = isKept
			}
		}
		first = last
	}
}

const (
	// tableShare is the share of the text of a table from which evidence for it is
	// evidence for the table.
	tableShare = 0.3
	// linkShare is the share of the text of a table that is in links from which it is
	// navigation.
	linkShare = 0.5
)

func keepsTable(units []unit, found []bool, table *html.Node) bool {
	size, main, linked := 0, 0, 0
	for i, u := range units {
		size, linked = size+u.size, linked+u.linked
		if found[i] {
			main += u.size
		}
	}
	if float64(main) > tableShare*float64(size) {
		return true
	}
	return float64(linked) < linkShare*float64(size) && !inLandmark(table) && !inNotice(table)
}

// tableAround returns a function that returns the table of data around an element, nil
// if there is none.
func tableAround() func(*html.Node) *html.Node {
	known := map[*html.Node]bool{}
	return func(n *html.Node) *html.Node {
		for ; n != nil; n = n.Parent {
			if n.DataAtom != atom.Table {
				continue
			}
			isData, ok := known[n]
			if !ok {
				isData = holdsData(n)
				known[n] = isData
			}
			if isData {
				return n
			}
			return nil
		}
		return nil
	}
}

// holdsData reports whether a table is not a means of layout: it has several rows of
// several cells, no table inside it, and no cell with most of its text.
func holdsData(table *html.Node) bool {
	rows, total, longest := 0, 0, 0
	for n := range table.Descendants() {
		if n.DataAtom == atom.Table {
			return false
		}
		if n.DataAtom != atom.Tr {
			continue
		}
		cells := 0
		for cell := n.FirstChild; cell != nil; cell = cell.NextSibling {
			if cell.DataAtom != atom.Td && cell.DataAtom != atom.Th {
				continue
			}
			var b strings.Builder
			writeText(&b, cell, false)
			total, longest = total+b.Len(), max(longest, b.Len())
			cells++
		}
		if cells > 1 {
			rows++
		}
	}
	return rows > 1 && longest*2 < total
}

const (
	// A page of shortUnits units or less, or with less than longProse characters in long
	// paragraphs, or with a table that is not much shorter than these, is no article: it
	// is a data sheet, a receipt or a form, of which each line counts.
	shortUnits = 60
	longProse  = 500
	tableProse = 4
)

// isShort reports whether a page is no article.
func isShort(units []unit, found []bool, all []evidence) bool {
	prose, data := 0, 0
	table := tableAround()
	for i, u := range units {
		switch {
		case !found[i]:
		case table(u.parent) != nil:
			data += u.size
		case all[i][isLong] > 0:
			prose += u.size
		}
	}
	return len(units) <= shortUnits || prose < longProse || data*tableProse > prose
}

// keepPlain keeps the units without any sign of furniture that stand beside main text,
// such as a date alone in its line.
func keepPlain(units []unit, found []bool, all []evidence) {
	isPlain := func(i int) bool {
		return !all[i].hasSigns() && all[i][isLinked] < linkShare && all[i][hasCopyright] == 0
	}
	for i := 1; i < len(units); i++ {
		found[i] = found[i] || found[i-1] && isPlain(i)
	}
	for i := len(units) - 2; i >= 0; i-- {
		found[i] = found[i] || found[i+1] && isPlain(i)
	}
}

// unwrapCells replaces the tables of one cell within the cells of other tables by
// what is in them: they only draw a frame.
func unwrapCells(root *html.Node) {
	for _, n := range tablesIn(root, nil) {
		if !inside(n, atom.Td, atom.Th) || n.Parent == nil {
			continue
		}
		var cell *html.Node
		cells := 0
		for d := range n.Descendants() {
			if d.DataAtom == atom.Td || d.DataAtom == atom.Th {
				cell = d
				cells++
			}
		}
		if cells != 1 {
			continue
		}
		n.Parent.InsertBefore(div(cell), n)
		n.Parent.RemoveChild(n)
	}
}

// div moves what is in an element into another one.
func div(from *html.Node) *html.Node {
	to := &html.Node{Type: html.ElementNode, DataAtom: atom.Div, Data: "div"}
	for c := from.FirstChild; c != nil; c = from.FirstChild {
		from.RemoveChild(c)
		to.AppendChild(c)
	}
	return to
}
