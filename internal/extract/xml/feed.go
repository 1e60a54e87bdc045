package xml

import (
	"strings"

	"github.com/cairn-rag/cairn/internal/extract/html"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// feed adds a feed of news: RSS, with its items in a channel or beside it, or Atom.
func (w *writer) feed(root *node) {
	channel := root.child("channel")
	if channel == nil {
		channel = root
	}
	items := itemsOf(channel)
	if channel != root {
		items = append(items, itemsOf(root)...)
	}
	if len(items) == 0 { // RDF of another kind
		w.document(root)
		return
	}
	w.layout.Title = channel.child("title").line()
	w.text(channel.child("description", "subtitle", "tagline"), 1)
	for _, item := range items {
		w.item(item)
	}
}

func itemsOf(n *node) (items []*node) {
	for _, c := range n.elements() {
		if c.name == "item" || c.name == "entry" {
			items = append(items, c)
		}
	}
	return items
}

// item adds an item of a feed: its title as a heading, what is known about it, and its
// text, or its summary if it has no text.
func (w *writer) item(n *node) {
	if title := n.child("title"); title.line() != "" {
		w.heading(plain(title.content()), 0, title)
	}
	for _, name := range []string{"author", "creator", "pubDate", "published", "date", "updated", "link"} {
		c := n.child(name)
		if c == nil {
			continue
		}
		value := c.line()
		if value == "" {
			value = c.attribute("href")
		}
		w.field(name, value, c)
	}
	var categories []string
	at := n
	for _, c := range n.elements() {
		if c.name == "category" {
			at = c
			categories = append(categories, strings.TrimSpace(c.line()+" "+c.attribute("label", "term")))
		}
	}
	if len(categories) > 0 {
		w.field("category", strings.Join(categories, ", "), at)
	}
	body := n.child("encoded", "content")
	if body.content() == "" {
		body = n.child("description", "summary")
	}
	w.text(body, 1)
}

// text adds a text that may be HTML. The levels of its headings begin below level.
func (w *writer) text(n *node, level int) {
	w.flush()
	if n == nil {
		return
	}
	if !n.isLeaf() { // HTML as elements
		for _, c := range n.elements() {
			w.element(c, level+1)
		}
		return
	}
	_, blocks, err := html.Read([]byte(n.content()), "utf-8")
	if err != nil {
		blocks = []knowledge.Block{{Kind: knowledge.BlockParagraph, Text: n.line()}}
	}
	for _, b := range blocks {
		if b.Kind == knowledge.BlockHeading {
			b.Level = min(b.Level+level, 6)
		}
		w.add(b, n)
	}
}

// plain returns a title without the HTML that it may have.
func plain(s string) string {
	_, blocks, err := html.Read([]byte(s), "utf-8")
	if err != nil || len(blocks) == 0 {
		return s
	}
	return strings.Join(strings.Fields(blocks[0].Text), " ")
}
