package markdown

import (
	"strconv"
	"strings"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/yuin/goldmark/ast"
	extast "github.com/yuin/goldmark/extension/ast"
)

// list renders a list with one line per item; nested lists are indented.
func (r *reader) list(n *ast.List, indent string) string {
	var lines []string
	number := n.Start
	for item := n.FirstChild(); item != nil; item = item.NextSibling() {
		mark := "- "
		if n.IsOrdered() {
			mark = strconv.Itoa(number) + ". "
			number++
		}
		for i, part := range r.itemParts(item, indent+"  ") {
			switch {
			case part.nested:
				lines = append(lines, part.text)
			case i == 0:
				lines = append(lines, indent+mark+indented(part.text, indent+"  "))
			default:
				lines = append(lines, indent+"  "+indented(part.text, indent+"  "))
			}
		}
	}
	return strings.Join(lines, "\n")
}

type itemPart struct {
	text   string
	nested bool // a list that is indented already
}

func (r *reader) itemParts(item ast.Node, indent string) []itemPart {
	var parts []itemPart
	for n := item.FirstChild(); n != nil; n = n.NextSibling() {
		p := itemPart{}
		switch n := n.(type) {
		case *ast.List:
			p = itemPart{r.list(n, indent), true}
		case *ast.FencedCodeBlock, *ast.CodeBlock:
			p.text = r.lines(n)
		case *ast.HTMLBlock:
			if p.text = htmlText(r.html(n)); r.holdsTable(n) {
				p.text = textsOf(htmlBlocks(r.html(n)))
			}
		case *ast.Paragraph, *ast.TextBlock, *ast.Heading:
			p.text = strings.TrimSpace(r.inline(n))
		default:
			p.text = r.asText(n)
		}
		if strings.TrimSpace(p.text) != "" {
			parts = append(parts, p)
		}
	}
	return parts
}

// asText returns the blocks inside a node, such as a quote in a list, as lines.
func (r *reader) asText(n ast.Node) string {
	inner := reader{source: r.source}
	if _, ok := n.(*extast.Table); ok {
		inner.block(n)
	} else {
		inner.children(n)
	}
	return textsOf(inner.blocks)
}

func textsOf(blocks []knowledge.Block) string {
	var texts []string
	for _, b := range blocks {
		texts = append(texts, b.Text)
	}
	return strings.Join(texts, "\n")
}

func indented(s, indent string) string { return strings.ReplaceAll(s, "\n", "\n"+indent) }
