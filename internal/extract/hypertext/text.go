package hypertext

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// Text returns the text of an element, in which block elements and line breaks end a
// line, and a semicolon stands between the items of a list.
func Text(n *html.Node) string {
	var b strings.Builder
	WriteText(&b, n)
	return strings.TrimSpace(b.String())
}

// WriteText writes the text of a node as Text returns it, with the white space around it.
func WriteText(b *strings.Builder, n *html.Node) {
	switch n.Type {
	case html.TextNode:
		b.WriteString(n.Data)
		return
	case html.CommentNode, html.DoctypeNode:
		return
	}
	switch n.DataAtom {
	case atom.Br:
		b.WriteByte('\n')
	case atom.Td, atom.Th:
		b.WriteByte(' ')
	case atom.Img:
		b.WriteString(alternative(n))
	case atom.Script, atom.Style, atom.Template, atom.Svg, atom.Noscript:
		return
	}
	breaks := endsLine(n.DataAtom)
	if breaks {
		b.WriteByte('\n')
	}
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		WriteText(b, c)
	}
	if n.DataAtom == atom.Li && hasText(n) && hasItemBehind(n) {
		b.WriteByte(';')
	}
	if breaks {
		b.WriteByte('\n')
	}
}

func alternative(n *html.Node) string {
	for _, a := range n.Attr {
		if a.Key == "alt" {
			return a.Val
		}
	}
	return ""
}

// endsLine reports whether an element begins and ends a line.
func endsLine(name atom.Atom) bool {
	switch name {
	case atom.P, atom.Div, atom.Li, atom.Ul, atom.Ol, atom.Dl, atom.Dt, atom.Dd, atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6,
		atom.Pre, atom.Blockquote, atom.Summary, atom.Details, atom.Legend, atom.Center, atom.Figcaption, atom.Figure, atom.Hr,
		atom.Section, atom.Article, atom.Address, atom.Table, atom.Tr:
		return true
	}
	return false
}

func hasItemBehind(n *html.Node) bool {
	for s := n.NextSibling; s != nil; s = s.NextSibling {
		if s.DataAtom == atom.Li && hasText(s) {
			return true
		}
	}
	return false
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
