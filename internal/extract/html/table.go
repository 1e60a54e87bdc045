package html

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/cairn-rag/cairn/internal/extract/charset"
	"github.com/cairn-rag/cairn/internal/extract/hypertext"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// takeTables takes the tables of data out of a page and leaves a mark at the place of
// each, because Markdown knows neither cells that cover others nor headers of several
// rows. It returns their blocks in order. Tables that only arrange text stay.
func takeTables(root *html.Node) ([][]knowledge.Block, error) {
	var found [][]knowledge.Block
	size := 0
	for _, n := range tablesIn(root, nil) {
		if n.Parent == nil {
			continue
		}
		blocks, ok := hypertext.Blocks(n)
		if !ok {
			n.Attr = append(n.Attr, html.Attribute{Key: "role", Val: "presentation"})
			continue
		}
		for _, b := range blocks {
			size += len(b.Text)
		}
		if size > 2*charset.MaxText {
			return nil, charset.TooLong()
		}
		p := &html.Node{Type: html.ElementNode, DataAtom: atom.P, Data: "p"}
		p.AppendChild(&html.Node{Type: html.TextNode, Data: fmt.Sprint(tableStart, len(found), markEnd)})
		n.Parent.InsertBefore(p, n)
		n.Parent.RemoveChild(n)
		found = append(found, blocks)
	}
	return found, nil
}

// tablesIn appends the tables of a page in its order.
func tablesIn(n *html.Node, found []*html.Node) []*html.Node {
	if n.DataAtom == atom.Table {
		found = append(found, n)
	}
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		found = tablesIn(c, found)
	}
	return found
}

// tableStart begins the mark of a table, as markStart begins one of furniture.
const tableStart = "\ue0f2"

var tableIn = regexp.MustCompile(tableStart + `(\d+)` + markEnd)

// putTables replaces the marks in blocks by the tables. A mark in a list or in a cell of
// a table that arranges text cuts the block in two.
func putTables(blocks []knowledge.Block, tables [][]knowledge.Block) []knowledge.Block {
	if len(tables) == 0 {
		return blocks
	}
	out := make([]knowledge.Block, 0, len(blocks)+len(tables))
	for _, b := range blocks {
		text, from := b.Text, 0
		add := func(part string) {
			if strings.Trim(part, " \n-|") == "" && (from > 0 || len(part) < len(text)) {
				return // only the mark of the item in which a table stood
			}
			b.Text = strings.Trim(part, "\n")
			out = append(out, b)
		}
		for _, mark := range tableIn.FindAllStringSubmatchIndex(text, -1) {
			add(strings.TrimRight(text[from:mark[0]], " \n"))
			from = mark[1]
			if i, err := strconv.Atoi(text[mark[2]:mark[3]]); err == nil && i < len(tables) {
				out = append(out, tables[i]...)
			}
		}
		add(text[from:])
	}
	return out
}
