package xml

import "github.com/cairn-rag/cairn/internal/knowledge"

// drawing adds the texts of a drawing (SVG) in the order of the file.
func (w *writer) drawing(n *node) {
	for _, c := range n.elements() {
		switch c.name {
		case "title":
			if w.layout.Title == "" {
				w.layout.Title = c.line()
			}
			w.add(knowledge.Block{Kind: knowledge.BlockParagraph, Text: c.line()}, c)
		case "text", "desc", "foreignObject":
			w.add(knowledge.Block{Kind: knowledge.BlockParagraph, Text: c.line()}, c)
		case "style", "script", "metadata":
		default:
			w.drawing(c)
		}
	}
}
