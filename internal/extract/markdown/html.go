package markdown

import (
	"bytes"
	"strings"

	"github.com/cairn-rag/cairn/internal/extract/hypertext"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/yuin/goldmark/ast"
	xhtml "golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// hypertext adds HTML that holds a table, from a node on, and returns the last node
// that belongs to it: a blank line within a table begins another node.
func (r *reader) hypertext(n ast.Node) ast.Node {
	start, stop := r.extent(n)
	last := n
	for open := openTables(r.source[start:stop]); !r.unclosed && open > 0; {
		next := last.NextSibling()
		if next == nil {
			r.unclosed = true // no later table has an end either
			_, stop = r.extent(n)
			last = n
			break
		}
		last = next
		if _, end := r.extent(next); end > stop {
			open += openTables(r.source[stop:end])
			stop = end
		}
	}
	origin := r.origin(n, "")
	if r.position != nil {
		origin = knowledge.Origin{First: r.lineAt(start), Last: r.lineAt(max(start, stop-1))}
	}
	for _, b := range htmlBlocks(string(r.source[start:stop])) {
		b.Origin = origin
		r.blocks = append(r.blocks, b)
	}
	return last
}

// openTables returns how many tables begin in a text and do not end in it.
func openTables(text []byte) int {
	lower := bytes.ToLower(text)
	return bytes.Count(lower, []byte("<table")) - bytes.Count(lower, []byte("</table"))
}

// holdsTable reports whether a node is HTML in which a table begins.
func (r *reader) holdsTable(n ast.Node) bool {
	switch n.(type) {
	case *ast.HTMLBlock, *ast.Paragraph:
		start, stop := r.extent(n)
		text := r.source[start:stop]
		isMarked := bytes.IndexByte(text, '<') >= 0 && bytes.Contains(bytes.ToLower(text), []byte("<table"))
		return isMarked && (n.Kind() == ast.KindHTMLBlock || r.hasTag(n, "<table"))
	}
	return false
}

// hasTag reports whether a paragraph holds an HTML tag.
func (r *reader) hasTag(n ast.Node, tag string) bool {
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		if raw, ok := c.(*ast.RawHTML); ok && strings.HasPrefix(strings.ToLower(string(raw.Segments.Value(r.source))), tag) {
			return true
		}
	}
	return false
}

// htmlBlocks returns the tables and the text of a piece of HTML.
func htmlBlocks(s string) []knowledge.Block {
	body := &xhtml.Node{Type: xhtml.ElementNode, DataAtom: atom.Body, Data: "body"}
	nodes, err := xhtml.ParseFragment(strings.NewReader(s), body)
	if err != nil { // elements are nested too deep
		return appendText(nil, htmlText(s))
	}
	for _, n := range nodes {
		body.AppendChild(n)
	}
	hypertext.WriteScripts(body)
	c := collector{}
	c.children(body)
	c.flush()
	return c.blocks
}

func appendText(blocks []knowledge.Block, text string) []knowledge.Block {
	if text == "" {
		return blocks
	}
	return append(blocks, knowledge.Block{Kind: knowledge.BlockParagraph, Text: text})
}

// collector collects the blocks of HTML.
type collector struct {
	blocks []knowledge.Block
	text   strings.Builder // before the next table
}

func (c *collector) children(parent *xhtml.Node) {
	for n := parent.FirstChild; n != nil; n = n.NextSibling {
		if n.DataAtom == atom.Table {
			if blocks, ok := hypertext.Blocks(n); ok {
				c.flush()
				c.blocks = append(c.blocks, blocks...)
				continue
			}
		}
		if hasTable(n) {
			c.children(n)
			c.text.WriteByte('\n')
		} else {
			hypertext.WriteText(&c.text, n)
		}
	}
}

func hasTable(n *xhtml.Node) bool {
	for d := range n.Descendants() {
		if d.DataAtom == atom.Table {
			return true
		}
	}
	return false
}

func (c *collector) flush() {
	c.blocks = appendText(c.blocks, nonEmptyLines(c.text.String()))
	c.text.Reset()
}

// scriptEnd returns the node that ends the raised or lowered text which a node begins,
// nil if it begins none.
func (r *reader) scriptEnd(n ast.Node) ast.Node {
	tag := r.scriptTag(n)
	if tag == "" || tag[0] == '/' {
		return nil
	}
	const most = 20 // nodes in such a text
	for i, end := 0, n.NextSibling(); i < most && end != nil; i, end = i+1, end.NextSibling() {
		if r.scriptTag(end) == "/"+tag {
			return end
		}
	}
	return nil
}

// scriptTag returns sup, /sup, sub or /sub for the tag of such an element, "" for other
// nodes.
func (r *reader) scriptTag(n ast.Node) string {
	raw, ok := n.(*ast.RawHTML)
	if !ok {
		return ""
	}
	tag := strings.ToLower(strings.Trim(string(raw.Segments.Value(r.source)), "<> "))
	tag, _, _ = strings.Cut(tag, " ")
	switch tag {
	case "sup", "sub", "/sup", "/sub":
		return tag
	}
	return ""
}

// writeScript writes the raised or lowered text between two tags.
func (r *reader) writeScript(b *strings.Builder, n, end ast.Node) {
	var text strings.Builder
	for c := n.NextSibling(); c != nil && c != end; c = c.NextSibling() {
		r.writeNode(&text, c)
	}
	b.WriteString(hypertext.Script(r.scriptTag(n), text.String()))
}

// htmlText returns the text of a piece of HTML without scripts, styles and
// comments. Block elements end a line.
func htmlText(s string) string {
	z := xhtml.NewTokenizer(strings.NewReader(s))
	var b bytes.Buffer
	skip, scripts := "", 0 // and where the text begins that is raised or lowered
	for {
		switch z.Next() {
		case xhtml.ErrorToken:
			return strings.TrimSpace(nonEmptyLines(b.String()))
		case xhtml.TextToken:
			if skip == "" {
				b.WriteString(string(z.Text()))
			}
		case xhtml.StartTagToken:
			name, _ := z.TagName()
			switch tag := string(name); tag {
			case "script", "style", "template", "svg":
				skip = tag
			case "td", "th":
				b.WriteString(" ")
			case "sup", "sub":
				scripts = b.Len()
			case "br":
				b.WriteByte('\n')
			default:
				endLine(&b, tag)
			}
		case xhtml.EndTagToken:
			name, _ := z.TagName()
			tag := string(name)
			if tag == skip {
				skip = ""
			}
			if tag == "sup" || tag == "sub" {
				text := string(b.Bytes()[min(scripts, b.Len()):])
				b.Truncate(b.Len() - len(text))
				b.WriteString(hypertext.Script(tag, text))
				scripts = b.Len()
			}
			endLine(&b, tag)
		case xhtml.SelfClosingTagToken:
			if name, _ := z.TagName(); string(name) == "br" {
				b.WriteByte('\n')
			}
		}
	}
}

// endLine ends a line if tag is a block element.
func endLine(b *bytes.Buffer, tag string) {
	switch tag {
	case "p", "div", "li", "tr", "h1", "h2", "h3", "h4", "h5", "h6", "table", "ul", "ol", "pre", "summary", "details",
		"dt", "dd", "legend", "center", "figcaption", "blockquote":
		b.WriteByte('\n')
	}
}

func nonEmptyLines(s string) string {
	var lines []string
	for line := range strings.Lines(s) {
		if line = oneLine(line); line != "" {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n")
}
