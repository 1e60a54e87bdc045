package odf

import (
	"strings"

	"github.com/cairn-rag/cairn/internal/extract/markup"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// slide adds a slide: its title as a heading with its number, its shapes in order,
// its notes and its comments.
func (r *reader) slide(n *markup.Node) error {
	r.slides++
	title := r.slideTitle(n)
	if r.depth == 0 {
		r.doc.Slide(r.slides, r.plain(title), r.styles.isHidden("drawing-page", n.Attr("style-name")))
	} else {
		r.doc.Add(knowledge.BlockParagraph, r.plain(title))
	}
	for _, c := range n.Nodes {
		var err error
		switch {
		case c == title, c.Attr("placeholder") == "true":
		case c.Name == "notes":
			r.doc.Notes(r.notesText(c))
		case c.Name == "forms":
			r.readControls(c)
		case isFooter(c):
			r.footers[c.Attr("class")+r.plain(c)] = r.plain(c)
		default:
			err = r.block(c)
		}
		if err != nil {
			return err
		}
	}
	return r.doc.Err()
}

// slideTitle returns the frame with the title of a slide, nil if it has none.
func (r *reader) slideTitle(n *markup.Node) *markup.Node {
	for _, c := range n.Nodes {
		if c.Attr("class") == "title" && strings.TrimSpace(r.plain(c)) != "" {
			return c
		}
	}
	return nil
}

func isFooter(n *markup.Node) bool {
	switch n.Attr("class") {
	case "header", "footer", "date-time", "page-number":
		return true
	}
	return false
}

// notesText returns the text on the page with the notes, without the picture of the
// slide and what stands on every page.
func (r *reader) notesText(n *markup.Node) string {
	var texts []string
	for _, c := range n.Nodes {
		if !isFooter(c) && c.Attr("placeholder") != "true" {
			texts = append(texts, r.plain(c))
		}
	}
	return strings.Join(texts, "\n")
}

// masterText adds the text on the master of slides that is not a placeholder.
func (r *reader) masterText(master *markup.Node) {
	for _, c := range master.Nodes {
		if c.Name == "notes" || c.Attr("class") != "" && !isFooter(c) || c.Attr("placeholder") == "true" {
			continue
		}
		text := r.plain(c)
		if strings.HasPrefix(text, "<") && strings.HasSuffix(text, ">") { // <number>, <date/time>
			continue
		}
		r.doc.Furniture(knowledge.BlockFooter, text)
	}
}
