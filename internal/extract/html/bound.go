package html

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/cairn-rag/cairn/internal/extract/htmltable"
	"github.com/cairn-rag/cairn/internal/extract/markdown"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// escape returns text as Markdown that renders as that text. The converter has
// its own escaping, but that searches the whole text for the end of each
// bracket.
func escape(s string) string {
	if !strings.ContainsAny(s, escaped+".)") {
		return s
	}
	var b strings.Builder
	b.Grow(len(s) + len(s)/8)
	for i := range len(s) {
		c := s[i]
		// A full stop or bracket after a number would begin a list.
		if strings.IndexByte(escaped, c) >= 0 || (c == '.' || c == ')') && i > 0 && s[i-1] >= '0' && s[i-1] <= '9' {
			b.WriteByte('\\')
		}
		b.WriteByte(c)
	}
	return b.String()
}

// escaped are the characters that can be Markdown syntax. The converter itself
// writes < and > as character references.
const escaped = "\\`*_[]#+-=~|&"

// rootTag matches the start tag of an html or body element. The HTML parser
// merges the attributes of each with the attributes of all before it.
var rootTag = regexp.MustCompile(`(?i)<(?:html|body)[\s/][^>]*`)

// maxMerge bounds that merging. It is the sum, over all such elements, of the
// bytes of the element and of those before it.
const maxMerge = 256 << 20

func checkRoots(page string) error {
	bytes, merged := 0, 0
	for rest := page; ; {
		at := rootTag.FindStringIndex(rest)
		if at == nil {
			return nil
		}
		bytes += at[1] - at[0]
		merged += bytes
		if merged > maxMerge {
			return knowledge.Errorf(knowledge.CodeParseLimit, "the page has too many html or body elements with attributes; split it")
		}
		rest = rest[at[1]:]
	}
}

// maxNesting is the deepest nesting of lists and quotes. The converter copies
// the lines of each of them once per level.
const maxNesting = 20

// reduceNesting turns lists and quotes that are nested deeper than maxNesting
// into plain text.
func reduceNesting(n *html.Node, depth int) {
	switch n.DataAtom {
	case atom.Ul, atom.Ol, atom.Blockquote:
		depth++
	}
	if depth > maxNesting {
		switch n.DataAtom {
		case atom.Ul, atom.Ol, atom.Li, atom.Blockquote:
			n.DataAtom, n.Data = atom.Div, "div"
		}
	}
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		reduceNesting(c, depth)
	}
}

// maxFill is the largest ratio of the cells of a table after its rows are filled
// up and its spans expanded to the cells that it has. Every table may have
// markdown.MinCells.
const maxFill = 8

// reduceTable keeps a table from growing far beyond its source: spans are dropped if
// they cover too many cells, and a table with one row far wider than the others
// becomes text.
func reduceTable(n *html.Node) {
	s := size{left: len(htmltable.Rows(n))}
	s.measure(n, true)
	if s.area > maxFill*s.cells+markdown.MinCells {
		s = size{left: s.left}
		s.measure(n, false)
		dropSpans(n)
	}
	if s.width*len(s.rows) > maxFill*s.cells+markdown.MinCells {
		n.Attr = append(n.Attr, html.Attribute{Key: "role", Val: "presentation"})
	}
}

// size measures a table without the tables inside it.
type size struct {
	cells, area, width int
	rows               []int // cells of each row, including those that span into it from above
	row                int   // index of the next row
	left               int   // rows of the table
}

func (s *size) measure(parent *html.Node, spans bool) {
	for n := parent.FirstChild; n != nil; n = n.NextSibling {
		switch n.DataAtom {
		case atom.Table:
		case atom.Td, atom.Th:
			if s.row > 0 {
				s.cell(n, spans)
			}
		case atom.Tr:
			s.add(s.row, 0)
			s.row++
			s.measure(n, spans)
		default:
			s.measure(n, spans)
		}
	}
}

func (s *size) cell(n *html.Node, spans bool) {
	columns, rows := 1, 1
	if spans {
		columns, rows = span(n, "colspan"), min(span(n, "rowspan"), max(s.left-s.row+1, 1))
	}
	s.cells++
	s.area += columns * rows
	for i := range rows {
		s.add(s.row-1+i, columns)
	}
}

func (s *size) add(row, columns int) {
	for len(s.rows) <= row {
		s.rows = append(s.rows, 0)
	}
	s.rows[row] += columns
	s.width = max(s.width, s.rows[row])
}

// span reads a span attribute. removeHidden has left at most three digits in it.
func span(n *html.Node, key string) int {
	value, err := strconv.Atoi(attr(n, key))
	if err != nil {
		return 1
	}
	return max(value, 1)
}

func dropSpans(parent *html.Node) {
	for n := parent.FirstChild; n != nil; n = n.NextSibling {
		dropSpan(n)
		if n.DataAtom != atom.Table {
			dropSpans(n)
		}
	}
}

func dropSpan(n *html.Node) {
	for i := range n.Attr {
		if key := n.Attr[i].Key; key == "colspan" || key == "rowspan" {
			n.Attr[i].Val = "1"
		}
	}
}
