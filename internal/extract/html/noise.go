package html

import (
	"slices"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// hiddenElements lists the elements that contain no text for readers.
var hiddenElements = []atom.Atom{
	atom.Script, atom.Style, atom.Noscript, atom.Template, atom.Svg, atom.Iframe, atom.Object, atom.Embed,
	atom.Canvas, atom.Audio, atom.Video, atom.Head, atom.Input, atom.Select, atom.Button, atom.Textarea,
}

func pageTitle(root *html.Node) string {
	for n := range root.Descendants() {
		if n.Type == html.ElementNode && n.DataAtom == atom.Title && n.Namespace == "" && n.FirstChild != nil {
			return strings.Join(strings.Fields(n.FirstChild.Data), " ")
		}
	}
	return ""
}

// removeHidden removes everything that a browser does not show as text.
func removeHidden(root *html.Node) {
	removeWhere(root, func(n *html.Node) bool {
		if n.Type == html.CommentNode {
			return true
		}
		return n.Type == html.ElementNode && (slices.Contains(hiddenElements, n.DataAtom) || hasAttribute(n, "hidden") || attr(n, "aria-hidden") == "true" || hiddenByStyle(n))
	})
	for n := range root.Descendants() {
		n.Attr = slices.DeleteFunc(n.Attr, func(a html.Attribute) bool { return !keepsAttribute(a) })
	}
}

// hiddenByStyle reports whether the style attribute of an element hides it. It
// ignores the styles of html and body: a script shows a page that they hide.
func hiddenByStyle(n *html.Node) bool {
	if n.DataAtom == atom.Body || n.DataAtom == atom.Html {
		return false
	}
	declared := map[string]string{}
	for declaration := range strings.SplitSeq(attr(n, "style"), ";") {
		property, value, _ := strings.Cut(declaration, ":")
		value, _, _ = strings.Cut(value, "!") // important
		declared[strings.TrimSpace(property)] = strings.TrimSpace(value)
	}
	return declared["display"] == "none" || declared["visibility"] == "hidden" || declared["visibility"] == "collapse"
}

// keepsAttribute reports whether an attribute is needed for the text. Inlined
// pictures are not. Spans of four digits are dropped: browsers do not take
// them either.
func keepsAttribute(a html.Attribute) bool {
	switch a.Key {
	case "src", "href":
		return len(a.Val) < 2048 && !strings.HasPrefix(a.Val, "data:")
	case "colspan", "rowspan":
		return len(a.Val) <= 3
	default:
		return true
	}
}

func removeWhere(root *html.Node, unwanted func(*html.Node) bool) {
	var found []*html.Node
	for n := range root.Descendants() {
		if unwanted(n) {
			found = append(found, n)
		}
	}
	for _, n := range found {
		if n.Parent != nil {
			n.Parent.RemoveChild(n)
		}
	}
}

func inside(n *html.Node, atoms ...atom.Atom) bool {
	for p := range n.Ancestors() {
		if slices.Contains(atoms, p.DataAtom) {
			return true
		}
	}
	return false
}

func hasAttribute(n *html.Node, key string) bool {
	return slices.ContainsFunc(n.Attr, func(a html.Attribute) bool { return a.Key == key })
}

// attr returns an attribute in lower case.
func attr(n *html.Node, key string) string { return strings.ToLower(content(n, key)) }
