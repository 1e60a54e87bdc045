package odf

import (
	"strings"

	"github.com/cairn-rag/cairn/internal/extract/markup"
	"github.com/cairn-rag/cairn/internal/extract/office"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// block adds an element of a text, a text box, or a cell that is not shown as one.
func (r *reader) block(n *markup.Node) error {
	switch n.Name {
	case "p":
		return r.paragraph(n, "", -1)
	case "h":
		return r.heading(n, "")
	case "list":
		return r.list(n, nil, 0)
	case "table":
		return r.table(n)
	case "section", "bibliography", "index-body", "numbered-paragraph", "text-box":
		return r.flow(n)
	case "table-of-content", "illustration-index", "table-index", "object-index", "alphabetical-index", "user-index":
		r.doc.Add(knowledge.BlockFurniture, r.plain(n.Child("index-body"))) // it repeats the text
	case "tracked-changes", "sequence-decls", "variable-decls", "user-field-decls":
	default:
		return r.graphic(n, "")
	}
	return r.doc.Err()
}

func (r *reader) flow(n *markup.Node) error {
	if n == nil {
		return nil
	}
	for _, c := range n.Nodes {
		if err := r.block(c); err != nil {
			return err
		}
	}
	return nil
}

// paragraph adds a paragraph, then what is anchored in it. depth is its depth in a
// list, -1 outside of lists.
func (r *reader) paragraph(n *markup.Node, mark string, depth int) error {
	style := n.Attr("style-name")
	i := inline{r: r, look: r.styles.look("paragraph", style, office.Look{}), isBold: true}
	i.walk(n)
	text := i.b.String()
	switch {
	case r.styles.is(style, "title"):
		r.doc.Add(knowledge.BlockTitle, text)
	case r.styles.is(style, "caption"):
		r.doc.Add(knowledge.BlockCaption, text)
	case r.styles.is(style, "preformatted text", "source code"):
		r.doc.Add(knowledge.BlockCode, text)
	case depth >= 0:
		r.doc.Item(depth, mark, text)
	default:
		r.doc.Paragraph(text, office.Look{Size: i.size, Bold: i.isBold})
	}
	return run(i.after)
}

func run(actions []func() error) error {
	for _, action := range actions {
		if err := action(); err != nil {
			return err
		}
	}
	return nil
}

// heading adds a heading with its number.
func (r *reader) heading(n *markup.Node, mark string) error {
	text, after := r.inline(n)
	at := office.Int(n.Attr("outline-level"), 1)
	if strings.TrimSpace(text) != "" && mark == "" && n.Attr("is-list-header") != "true" {
		mark = r.outline.next(r.styles.outline, at-1, n.Attr("start-value"))
	}
	if mark != "" && strings.TrimSpace(text) != "" {
		text = mark + " " + text
	}
	r.doc.Heading(at, text)
	return run(after)
}

// list adds the items of a list. outer is the list that it is in, nil if none.
func (r *reader) list(n *markup.Node, outer *openList, depth int) error {
	l := r.openList(n, outer)
	for _, item := range n.Nodes {
		if item.Name != "list-item" && item.Name != "list-header" {
			continue
		}
		isFirst := item.Name == "list-item"
		for _, c := range item.Nodes {
			mark, at := "", depth
			isText := (c.Name == "p" || c.Name == "h") && hasText(c)
			if isText && isFirst {
				mark = l.counters.next(l.levels, depth, item.Attr("start-value"))
				isFirst = false
			} else if c.Name == "p" {
				at = -1
			}
			var err error
			switch c.Name {
			case "p":
				err = r.paragraph(c, mark, at)
			case "h":
				err = r.heading(c, mark)
			case "list":
				err = r.list(c, l, depth+1)
			default:
				err = r.block(c)
			}
			if err != nil {
				return err
			}
		}
	}
	return r.doc.Err()
}

func hasText(n *markup.Node) bool { return strings.TrimSpace(n.Content()) != "" }

// openList is a list that is being read.
type openList struct {
	levels   map[int]level
	counters *counters
	style    string
}

// openList returns how a list is numbered: like the one it is in, or like the one
// that it continues, or from the beginning.
func (r *reader) openList(n *markup.Node, outer *openList) *openList {
	name := n.Attr("style-name")
	if outer != nil {
		if name == "" || name == outer.style {
			return outer
		}
		return &openList{r.styles.lists[name], outer.counters, name}
	}
	c := r.lists[n.Attr("continue-list")]
	if c == nil && n.Attr("continue-numbering") == "true" {
		c = r.newest[name]
	}
	if c == nil {
		c = &counters{}
	}
	if id := n.Attr("id"); id != "" {
		r.lists[id] = c
	}
	r.newest[name] = c
	return &openList{r.styles.lists[name], c, name}
}
