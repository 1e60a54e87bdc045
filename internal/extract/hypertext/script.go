package hypertext

import (
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
		switch {
		case n.DataAtom == atom.Sup || n.DataAtom == atom.Sub:
			WriteScripts(n)
			text = Script(n.Data, flat(n))
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
