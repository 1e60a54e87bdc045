package hypertext

import (
	"regexp"
	"strings"

	"github.com/cairn-rag/cairn/internal/extract/script"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// WriteScripts makes plain text of the raised and lowered text and of the formulas in
// an element: 10⁶, H₂O, (a+b)/c.
func WriteScripts(root *html.Node) {
	for n := root.FirstChild; n != nil; {
		next := n.NextSibling
		text, ok := "", false
		switch name := element(n); {
		case name != "":
			WriteScripts(n)
			text = Script(name, flat(n))
			ok = text != ""
		case n.Data == "math" && n.Type == html.ElementNode:
			text, ok = Formula(n), true
		default:
			WriteScripts(n)
		}
		if ok {
			root.InsertBefore(&html.Node{Type: html.TextNode, Data: text}, n)
			root.RemoveChild(n)
		}
		n = next
	}
}

// raisedBy matches the style that raises or lowers text.
var raisedBy = regexp.MustCompile(`(?i)(?:^|;)\s*vertical-align\s*:\s*(super|sub)\b`)

// element returns sup or sub for an element that raises or lowers its text, by its name or its
// style, else "".
func element(n *html.Node) string {
	switch n.DataAtom {
	case atom.Sup, atom.Sub:
		return n.Data
	case atom.Span, atom.Font, atom.Small:
		for _, a := range n.Attr {
			if a.Key != "style" {
				continue
			}
			if found := raisedBy.FindStringSubmatch(a.Val); found != nil {
				return map[string]string{"super": "sup", "sub": "sub"}[strings.ToLower(found[1])]
			}
		}
	}
	return ""
}

// Script returns a text that an element sup or sub raises or lowers.
func Script(element, text string) string {
	if element == "sub" {
		return script.Write(script.Lowered, text)
	}
	return script.Write(script.Raised, text)
}

func flat(n *html.Node) string {
	var b strings.Builder
	for d := range n.Descendants() {
		if d.Type == html.TextNode {
			b.WriteString(d.Data)
		}
	}
	return strings.Join(strings.Fields(b.String()), " ")
}
