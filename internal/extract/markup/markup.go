// Package markup reads the XML of office documents: as a tree, or one element after
// another for documents that are too large for that. Elements are known by their
// local names, because documents of the same kind use several namespaces.
package markup

import (
	"bufio"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/unicode"
)

const (
	maxDepth = 400       // of elements
	maxNodes = 2_000_000 // in one tree; a node takes some 200 bytes
)

// Node is an element, or a piece of text if Name is "".
type Node struct {
	Name  string
	Space string // namespace of the element
	Attrs []xml.Attr
	Nodes []*Node
	Text  string
}

// Attr returns the value of an attribute by its local name, "" if there is none. A
// nil node has no attributes.
func (n *Node) Attr(name string) string {
	if n == nil {
		return ""
	}
	for _, a := range n.Attrs {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

// Reference returns the value of an attribute that names a relationship, as r:id
// does beside id.
func (n *Node) Reference(name string) string {
	for _, a := range n.Attrs {
		if a.Name.Local == name && strings.HasSuffix(a.Name.Space, "/relationships") {
			return a.Value
		}
	}
	return ""
}

// Child returns the first child at the end of a path of names, nil if there is
// none. A nil node has no children.
func (n *Node) Child(path ...string) *Node {
	for _, name := range path {
		if n == nil {
			return nil
		}
		n = n.child(name)
	}
	return n
}

func (n *Node) child(name string) *Node {
	for _, c := range n.Nodes {
		if c.Name == name {
			return c
		}
	}
	return nil
}

// Children returns the children with a name.
func (n *Node) Children(name string) []*Node {
	if n == nil {
		return nil
	}
	var found []*Node
	for _, c := range n.Nodes {
		if c.Name == name {
			found = append(found, c)
		}
	}
	return found
}

// All calls visit with the elements below the node that have a name, in order. It
// does not look into those that it has found.
func (n *Node) All(name string, visit func(*Node)) {
	if n == nil {
		return
	}
	for _, c := range n.Nodes {
		if c.Name == name {
			visit(c)
		} else {
			c.All(name, visit)
		}
	}
}

// First returns the first element below the node with a name, nil if there is none.
func (n *Node) First(name string) *Node {
	if n == nil {
		return nil
	}
	for _, c := range n.Nodes {
		if c.Name == name {
			return c
		}
		if found := c.First(name); found != nil {
			return found
		}
	}
	return nil
}

// Content returns all text in the node.
func (n *Node) Content() string {
	if n == nil {
		return ""
	}
	var b strings.Builder
	n.write(&b)
	return b.String()
}

func (n *Node) write(b *strings.Builder) {
	b.WriteString(n.Text)
	for _, c := range n.Nodes {
		c.write(b)
	}
}

// Parse returns the root element of an XML document. Errors are *knowledge.Error:
// corrupt or parse_limit, or errors of the reader.
func Parse(r io.Reader) (*Node, error) {
	var root *Node
	err := Each(r, func(*Node) bool { return false }, func(n *Node) error {
		root = n
		return nil
	})
	if err == nil && root == nil {
		err = damaged(io.ErrUnexpectedEOF)
	}
	return root, err
}

// Root returns the root element of an XML document without its content.
func Root(r io.Reader) (*Node, error) {
	d := newDecoder(r)
	for {
		token, err := d.Token()
		if err != nil {
			return nil, failed(err)
		}
		if start, ok := token.(xml.StartElement); ok {
			return newNode(start), nil
		}
	}
}

// Each reads an XML document element by element. It calls open with the start of
// each element, whose content is not yet read. If open returns true, Each continues
// with the children of the element. Otherwise it calls visit with the element and
// its content. The nodes may be kept. It returns the errors of Parse and of visit.
func Each(r io.Reader, open func(*Node) bool, visit func(*Node) error) error {
	d := newDecoder(r)
	for {
		token, err := d.Token()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return failed(err)
		}
		start, ok := token.(xml.StartElement)
		if !ok {
			continue
		}
		n := newNode(start)
		if open(n) {
			continue
		}
		if err := fill(d, n); err != nil {
			return failed(err)
		}
		if err := visit(n); err != nil {
			return err
		}
	}
}

func newNode(start xml.StartElement) *Node {
	return &Node{Name: start.Name.Local, Space: start.Name.Space, Attrs: start.Attr}
}

var errLimit = knowledge.Errorf(knowledge.CodeParseLimit, "the document is nested too deep or has too many elements; make it simpler or split it")

// fill reads the content of an element up to its end.
func fill(d *xml.Decoder, n *Node) error {
	stack := []*Node{n}
	for nodes := 0; len(stack) > 0; nodes++ {
		if nodes > maxNodes || len(stack) > maxDepth {
			return errLimit
		}
		token, err := d.Token()
		if err != nil {
			return err
		}
		top := stack[len(stack)-1]
		switch t := token.(type) {
		case xml.StartElement:
			child := newNode(t)
			top.Nodes = append(top.Nodes, child)
			stack = append(stack, child)
		case xml.EndElement:
			stack = stack[:len(stack)-1]
		case xml.CharData:
			top.Nodes = append(top.Nodes, &Node{Text: string(t)})
		}
	}
	return nil
}

// failed makes a syntax error the error of a document. It keeps other errors, which
// come from the reader.
func failed(err error) error {
	if _, ok := errors.AsType[*knowledge.Error](err); ok {
		return err
	}
	return damaged(err)
}

func damaged(cause error) error {
	return knowledge.Errorf(knowledge.CodeCorrupt,
		"the document is damaged and cannot be parsed; open it in its program, save it again and send the new file").WithCause(cause)
}

func newDecoder(r io.Reader) *xml.Decoder {
	buffered := bufio.NewReaderSize(r, 64<<10)
	d := xml.NewDecoder(buffered)
	mark, _ := buffered.Peek(2) // a shorter document fails in the decoder
	if m := string(mark); m == "\xff\xfe" || m == "\xfe\xff" {
		d = xml.NewDecoder(unicode.UTF16(unicode.LittleEndian, unicode.UseBOM).NewDecoder().Reader(buffered))
		d.CharsetReader = func(_ string, in io.Reader) (io.Reader, error) { return in, nil }
		return d
	}
	d.CharsetReader = func(label string, in io.Reader) (io.Reader, error) {
		enc, err := htmlindex.Get(label)
		if err != nil {
			return nil, fmt.Errorf("character set %q: %w", label, err)
		}
		return enc.NewDecoder().Reader(in), nil
	}
	return d
}
