package hypertext

import (
	"strings"
	"unicode/utf8"

	"github.com/cairn-rag/cairn/internal/extract/script"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// maxScript is the length in code points of raised or lowered text. A longer one is
// small text.
const maxScript = 40

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

// Script returns a text that an element sup or sub raises or lowers. Long text, and a
// number in square brackets, which is the mark of a note, stay as they are.
func Script(element, text string) string {
	trimmed := strings.TrimSpace(text)
	isMark := strings.HasPrefix(trimmed, "[") && strings.HasSuffix(trimmed, "]")
	switch {
	case isMark || strings.HasPrefix(trimmed, "^") || utf8.RuneCountInString(trimmed) > maxScript:
		return text
	case element == "sub":
		return script.Sub(text)
	}
	return script.Super(text)
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
