package xml

import (
	"encoding/xml"
	"errors"
	"html"
	"io"
	"maps"
	"regexp"
	"strings"

	"github.com/cairn-rag/cairn/internal/extract/charset"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

const (
	maxDepth = 400       // of elements
	maxNodes = 1_000_000 // a node takes some 200 bytes
)

// node is an element, or a piece of text if its name is "".
type node struct {
	name        string // without its namespace
	space       string // namespace
	attributes  []xml.Attr
	nodes       []*node
	text        string
	first, last int // lines of the file
}

// elements returns the elements in an element.
func (n *node) elements() (found []*node) {
	for _, c := range n.nodes {
		if c.name != "" {
			found = append(found, c)
		}
	}
	return found
}

// isLeaf reports whether an element holds no other.
func (n *node) isLeaf() bool { return len(n.elements()) == 0 }

// isMixed reports whether an element holds text beside other elements.
func (n *node) isMixed() bool {
	for _, c := range n.nodes {
		if c.name == "" && strings.TrimSpace(c.text) != "" {
			return true
		}
	}
	return false
}

// child returns the first element in an element with one of these names, nil if there
// is none.
func (n *node) child(names ...string) *node {
	for _, c := range n.nodes {
		for _, name := range names {
			if c.name == name {
				return c
			}
		}
	}
	return nil
}

// attribute returns the first of these attributes that an element has, else "".
func (n *node) attribute(names ...string) string {
	for _, name := range names {
		for _, a := range n.attributes {
			if a.Name.Local == name && a.Value != "" {
				return a.Value
			}
		}
	}
	return ""
}

// content returns the text in an element, with its line ends. Elements that stand
// without text between them are separated.
func (n *node) content() string {
	if n == nil {
		return ""
	}
	var b strings.Builder
	n.write(&b)
	return strings.TrimSpace(b.String())
}

func (n *node) write(b *strings.Builder) {
	b.WriteString(n.text)
	mixed := n.isMixed()
	for _, c := range n.nodes {
		c.write(b)
		if !mixed && c.name != "" {
			b.WriteByte(' ')
		}
	}
}

// line returns the text in an element on one line.
func (n *node) line() string { return strings.Join(strings.Fields(n.content()), " ") }

var (
	entity = regexp.MustCompile(`<!ENTITY\s+([\w.-]+)\s+(?:"((?:[^"&%<]|&#\w+;)*)"|'((?:[^'&%<]|&#\w+;)*)')\s*>`)

	errEntity = knowledge.Errorf(knowledge.CodeParseLimit,
		"the document has entities that are made of others or stand in another file, which are not read; write their text out")
	errDeep = knowledge.Errorf(knowledge.CodeParseLimit, "the elements of the document are nested too deep, or are too many; make it simpler or split it")
)

// parse returns the root element of a document. Errors are *knowledge.Error.
func parse(text string) (*node, error) {
	p := parser{source: text, decoder: xml.NewDecoder(strings.NewReader(text)), stack: []*node{{}}}
	p.decoder.CharsetReader = func(_ string, in io.Reader) (io.Reader, error) { return in, nil } // it is UTF-8 by now
	p.decoder.Entity = maps.Clone(xml.HTMLEntity)
	for {
		token, err := p.decoder.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil {
			err = p.take(token)
		}
		if err != nil {
			return nil, p.failed(err)
		}
	}
	root := p.stack[0].elements()
	if len(root) == 0 {
		return nil, knowledge.Errorf(knowledge.CodeEmpty, "there is no element in the document")
	}
	return root[0], nil
}

type parser struct {
	source      string
	decoder     *xml.Decoder
	stack       []*node // open elements, below a node that holds the root
	nodes       int
	text        int // bytes
	hasEntities bool
}

func (p *parser) take(token xml.Token) error {
	top := p.stack[len(p.stack)-1]
	line, _ := p.decoder.InputPos()
	switch t := token.(type) {
	case xml.StartElement:
		n := &node{name: t.Name.Local, space: t.Name.Space, attributes: t.Attr, first: line, last: line}
		top.nodes = append(top.nodes, n)
		p.stack = append(p.stack, n)
		p.nodes++
	case xml.EndElement:
		top.last = line
		p.stack = p.stack[:len(p.stack)-1]
	case xml.CharData:
		top.nodes = append(top.nodes, &node{text: string(t)})
		p.text += len(t)
		p.nodes++
	case xml.Directive:
		return p.declare(string(t))
	}
	switch {
	case p.nodes > maxNodes, len(p.stack) > maxDepth:
		return errDeep
	case p.text > charset.MaxText:
		return charset.TooLong()
	}
	return nil
}

// maxEntities is the most entities that a document may declare as plain text.
const maxEntities = 1000

// declare adds the entities that are plain text to the entities of HTML. It bounds the text
// that the document makes of them.
func (p *parser) declare(directive string) error {
	p.hasEntities = p.hasEntities || strings.Contains(directive, "<!ENTITY")
	declared := entity.FindAllStringSubmatch(directive, -1)
	if len(declared) > maxEntities {
		return errEntity
	}
	for _, found := range declared {
		text := html.UnescapeString(found[2] + found[3])
		p.decoder.Entity[found[1]] = text
		if p.text += len(text) * strings.Count(p.source, "&"+found[1]+";"); p.text > charset.MaxText {
			return charset.TooLong()
		}
	}
	return nil
}

func (p *parser) failed(err error) error {
	if _, ok := errors.AsType[*knowledge.Error](err); ok {
		return err
	}
	if p.hasEntities && strings.Contains(err.Error(), "character entity") {
		return errEntity
	}
	return knowledge.Errorf(knowledge.CodeCorrupt, "the document is not well-formed XML; correct it and send it again").WithCause(err)
}
