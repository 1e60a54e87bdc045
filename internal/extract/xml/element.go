package xml

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// The names of elements that mean the same in the vocabularies of documents, such as
// DocBook, DITA, JATS and TEI.
var (
	titleNames     = []string{"title", "Title", "head", "heading", "subtitle", "article-title"}
	paragraphNames = []string{"p", "para", "simpara", "formalpara", "paragraph", "ab", "l", "line", "abstract", "note", "quote", "blockquote"}
	codeNames      = []string{"programlisting", "screen", "codeblock", "code", "pre", "literallayout", "preformat", "synopsis"}
	listNames      = []string{"itemizedlist", "orderedlist", "simplelist", "list", "ul", "ol", "steps"}
	tableNames     = []string{"table", "informaltable", "tgroup", "simpletable"}
	rowNames       = []string{"row", "tr", "strow", "sthead"}
)

// isProse reports whether a document has paragraphs, or titles below its root. Other
// documents are records, in which the names of elements say what the text is.
func isProse(root *node) bool {
	for _, n := range root.elements() {
		if slices.Contains(paragraphNames, n.name) {
			return true
		}
		for _, c := range n.elements() {
			if slices.Contains(titleNames, c.name) || slices.Contains(paragraphNames, c.name) || !c.isLeaf() && isProse(c) {
				return true
			}
		}
	}
	return false
}

// element adds an element and those in it. level is how many titled elements are
// around it.
func (w *writer) element(n *node, level int) {
	switch {
	case slices.Contains(titleNames, n.name):
		w.heading(n.line(), level-1, n)
	case slices.Contains(codeNames, n.name):
		w.add(knowledge.Block{Kind: knowledge.BlockCode, Text: trimLines(n.content())}, n)
	case slices.Contains(listNames, n.name) && !n.isLeaf():
		w.list(n)
	case slices.Contains(tableNames, n.name) && len(rowsOf(n)) > 0:
		w.grid(n)
	case slices.Contains(paragraphNames, n.name) && (n.isLeaf() || n.isMixed()), n.isMixed() && !n.isLeaf():
		w.add(knowledge.Block{Kind: knowledge.BlockParagraph, Text: n.line()}, n)
	case n.isLeaf():
		w.leaf(n)
	default:
		w.container(n, level)
	}
}

// longValue is the size of a value in bytes from which on it is text of its own.
const longValue = 300

// leaf adds an element without others.
func (w *writer) leaf(n *node) {
	value := n.line()
	if len(value) >= longValue {
		w.add(knowledge.Block{Kind: knowledge.BlockParagraph, Text: value}, n)
		return
	}
	var attributes []string
	for _, a := range n.attributes {
		if isData(a) {
			attributes = append(attributes, a.Name.Local+" "+strings.Join(strings.Fields(a.Value), " "))
		}
	}
	switch {
	case len(attributes) == 0:
		w.field(n.name, value, n)
	case value == "":
		w.field(n.name, strings.Join(attributes, ", "), n)
	default:
		w.field(fmt.Sprintf("%s (%s)", n.name, strings.Join(attributes, ", ")), value, n)
	}
}

// container adds an element that holds only elements.
func (w *writer) container(n *node, level int) {
	w.flush()
	elements := n.elements()
	inner := level
	if slices.ContainsFunc(elements, func(c *node) bool { return slices.Contains(titleNames, c.name) }) {
		inner++
	} else if level > 0 && !w.isProse {
		w.heading(label(n), level-1, n.start())
		inner++
	} else if level == 0 && !w.isProse {
		inner++ // the root of records has no heading
	}
	for len(elements) > 0 {
		same := 1
		for same < len(elements) && elements[same].name == elements[0].name {
			same++
		}
		if records, ok := newRecords(elements[:same]); ok {
			w.records(records)
		} else {
			for _, c := range elements[:same] {
				w.element(c, inner)
			}
		}
		elements = elements[same:]
	}
	w.flush()
}

// label returns the name of an element, and of the thing that it describes.
func label(n *node) string {
	name := n.attribute("name", "title", "id", "key", "code")
	if name == "" {
		if c := n.child("name", "label", "id", "key", "code"); c != nil && c.isLeaf() {
			name = c.line()
		}
	}
	if name == "" || len(name) > longValue {
		return n.name
	}
	return n.name + " " + name
}

// start returns the first line of an element, as one without content.
func (n *node) start() *node { return &node{first: n.first, last: n.first} }

// list adds a list. The text of each item is on one line.
func (w *writer) list(n *node) {
	var lines []string
	for _, item := range n.elements() {
		if text := item.line(); text != "" {
			lines = append(lines, "- "+text)
		}
	}
	w.add(knowledge.Block{Kind: knowledge.BlockList, Text: strings.Join(lines, "\n")}, n)
}

// trimLines removes white space at the ends of lines.
func trimLines(s string) string {
	lines := strings.Split(s, "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRight(line, " \t")
	}
	return strings.Join(lines, "\n")
}
