package html

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// unit is a piece of text of a page that is shown without a break: a paragraph, a
// cell, an item of a list, or text between two such elements.
type unit struct {
	text   string
	tight  string       // the text without white space
	size   int          // of the tight text, in characters
	linked int          // how many of them are in links
	nodes  []*html.Node // that the unit consists of: neighbours in one element
	parent *html.Node   // that element
}

// inlineElements lists the elements that do not break a text.
var inlineElements = []atom.Atom{
	atom.A, atom.Abbr, atom.Acronym, atom.B, atom.Bdi, atom.Bdo, atom.Big, atom.Cite, atom.Code, atom.Data, atom.Del, atom.Dfn,
	atom.Em, atom.Font, atom.I, atom.Img, atom.Ins, atom.Kbd, atom.Label, atom.Mark, atom.Nobr, atom.Q, atom.S, atom.Samp,
	atom.Small, atom.Span, atom.Strike, atom.Strong, atom.Sub, atom.Sup, atom.Time, atom.Tt, atom.U, atom.Var, atom.Wbr, atom.Br,
}

// unitsOf returns the units of a page in the order of the page.
func unitsOf(root *html.Node) []unit {
	var w unitWalk
	w.children(root)
	return w.units
}

type unitWalk struct {
	units  []unit
	nodes  []*html.Node // of the unit that is open
	inLink bool
}

// children adds the units of an element that breaks texts.
func (w *unitWalk) children(parent *html.Node) {
	for n := parent.FirstChild; n != nil; n = n.NextSibling {
		if isInline(n) {
			w.nodes = append(w.nodes, n)
			continue
		}
		w.end(parent)
		outer := w.inLink
		w.inLink = outer || n.DataAtom == atom.A
		w.children(n)
		w.inLink = outer
	}
	w.end(parent)
}

// isInline reports whether a node is text, or an element around text without a break.
func isInline(n *html.Node) bool {
	if n.Type != html.ElementNode {
		return n.Type == html.TextNode
	}
	if !slices.Contains(inlineElements, n.DataAtom) {
		return false
	}
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		if !isInline(c) {
			return false
		}
	}
	return true
}

func (w *unitWalk) end(parent *html.Node) {
	if len(w.nodes) == 0 {
		return
	}
	u := unit{nodes: w.nodes, parent: parent}
	w.nodes = nil
	var b strings.Builder
	for _, n := range u.nodes {
		u.linked += writeText(&b, n, w.inLink)
	}
	u.text = strings.Join(strings.Fields(b.String()), " ")
	u.tight = withoutSpace(u.text)
	if u.size = utf8.RuneCountInString(u.tight); u.size > 0 {
		w.units = append(w.units, u)
	}
}

// writeText writes the text of a node and returns how many characters of it, other
// than white space, are in links.
func writeText(b *strings.Builder, n *html.Node, inLink bool) (linked int) {
	switch {
	case n.Type == html.TextNode:
		b.WriteString(n.Data)
		if inLink {
			return utf8.RuneCountInString(withoutSpace(n.Data))
		}
	case n.DataAtom == atom.Br:
		b.WriteByte('\n')
	}
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		linked += writeText(b, c, inLink || n.DataAtom == atom.A)
	}
	return linked
}

func withoutSpace(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return -1
		}
		return r
	}, s)
}
