package xml

import (
	"strings"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// writer makes blocks of elements.
type writer struct {
	layout  knowledge.Layout
	isProse bool
	fields  []string         // lines of a paragraph that is open: "name: value"
	origin  knowledge.Origin // of these
}

// document writes a document of an unknown vocabulary.
func (w *writer) document(root *node) {
	w.layout.Title = root.child("title", "Title").line()
	if w.layout.Title == "" {
		if info := root.child("info", "head", "front", "teiHeader", "bookinfo", "articleinfo", "prolog"); info != nil {
			w.layout.Title = find(info, "title", "article-title").line()
		}
	}
	w.metadata(root)
	w.element(root, 0)
}

// dublinCore names the metadata that elements of Dublin Core have.
var dublinCore = map[string]string{
	"creator": "author", "date": "created", "created": "created", "modified": "modified", "description": "description",
	"publisher": "publisher", "language": "language", "rights": "rights",
}

// metadata adds what a document says of itself in elements of Dublin Core.
func (w *writer) metadata(root *node) {
	for _, n := range root.elements() {
		key := dublinCore[n.name]
		if key == "" || !strings.HasPrefix(n.space, "http://purl.org/dc/") || n.line() == "" {
			continue
		}
		if w.layout.Metadata == nil {
			w.layout.Metadata = map[string]string{}
		}
		if w.layout.Metadata[key] == "" {
			w.layout.Metadata[key] = n.line()
		}
	}
}

// find returns the first element with one of these names at or below a node, nil if
// there is none.
func find(n *node, names ...string) *node {
	if found := n.child(names...); found != nil {
		return found
	}
	for _, c := range n.elements() {
		if found := find(c, names...); found != nil {
			return found
		}
	}
	return nil
}

// add ends the open paragraph and adds a block.
func (w *writer) add(b knowledge.Block, n *node) {
	w.flush()
	if strings.TrimSpace(b.Text) == "" {
		return
	}
	if b.Origin.First == 0 {
		b.Origin = knowledge.Origin{First: n.first, Last: n.last}
		b.Origin.LineByLine = strings.Count(b.Text, "\n") == n.last-n.first
	}
	w.layout.Blocks = append(w.layout.Blocks, b)
}

// heading adds a heading. level 0 is the root's.
func (w *writer) heading(text string, level int, n *node) {
	w.add(knowledge.Block{Kind: knowledge.BlockHeading, Level: min(level+1, 6), Text: text}, n)
}

// field adds a line to the open paragraph.
func (w *writer) field(name, value string, n *node) {
	if value == "" {
		return
	}
	if len(w.fields) == 0 {
		w.origin.First = n.first
	}
	w.origin.Last = n.last
	w.fields = append(w.fields, name+": "+value)
}

// flush ends the open paragraph.
func (w *writer) flush() {
	if len(w.fields) == 0 {
		return
	}
	w.origin.LineByLine = len(w.fields) == w.origin.Last-w.origin.First+1
	w.layout.Blocks = append(w.layout.Blocks, knowledge.Block{Kind: knowledge.BlockParagraph, Text: strings.Join(w.fields, "\n"), Origin: w.origin})
	w.fields, w.origin = nil, knowledge.Origin{}
}
