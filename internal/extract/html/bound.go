package html

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/cairn-rag/cairn/internal/extract/markdown"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// escape makes Markdown of text that says the same. The converter can do that
// itself, but seeks the end of each bracket through all of the text.
func escape(s string) string {
	if !strings.ContainsAny(s, escaped+".)") {
		return s
	}
	var b strings.Builder
	b.Grow(len(s) + len(s)/8)
	for i := range len(s) {
		c := s[i]
		// A full stop or bracket makes a list of a number.
		if strings.IndexByte(escaped, c) >= 0 || (c == '.' || c == ')') && i > 0 && s[i-1] >= '0' && s[i-1] <= '9' {
			b.WriteByte('\\')
		}
		b.WriteByte(c)
	}
	return b.String()
}

// escaped are the characters that may be marks of Markdown. The converter
// writes < and > as references.
const escaped = "\\`*_[]#+-=~|&"

// rootTag is an html or body element. The attributes of each are merged with
// those of all before it.
var rootTag = regexp.MustCompile(`(?i)<(?:html|body)[\s/][^>]*`)

// maxMerge bounds merging: for each such element the bytes of it and of all
// before it, together.
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

// maxNesting is how deep lists and quotes may lie in each other: the converter
// writes the lines of each again for those around it.
const maxNesting = 20

// reduceNesting keeps lists and quotes that lie too deep as text.
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

// maxFill is how many times the cells that a table has it may have with its rows
// filled up, and with what a cell spans. Any table may have markdown.MinCells.
const maxFill = 8

// reduceTables keeps tables from becoming far larger than they are: cells that
// span too much together span nothing, and a table with some row far wider than
// the others becomes text.
func reduceTables(root *html.Node) {
	if root.DataAtom == atom.Table {
		reduceTable(root)
	}
	for n := root.FirstChild; n != nil; n = n.NextSibling {
		reduceTables(n)
	}
}

func reduceTable(n *html.Node) {
	var s size
	s.measure(n, true)
	if s.area > maxFill*s.cells+markdown.MinCells {
		s = size{}
		s.measure(n, false)
		dropSpans(n)
	}
	if s.width*len(s.rows) > maxFill*s.cells+markdown.MinCells {
		// The converter takes it for layout then.
		n.Attr = append(n.Attr, html.Attribute{Key: "role", Val: "presentation"})
	}
}

// size measures a table without those inside of it.
type size struct {
	cells, area, width int
	rows               []int // cells of each, with those that span it from above
	row                int   // the next
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
		columns, rows = span(n, "colspan"), span(n, "rowspan")
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

// span reads an attribute of at most two digits, as removeHidden leaves it.
func span(n *html.Node, key string) int {
	value, err := strconv.Atoi(attr(n, key))
	if err != nil {
		return 1
	}
	return max(value, 1)
}

func dropSpans(parent *html.Node) {
	for n := parent.FirstChild; n != nil; n = n.NextSibling {
		for i := range n.Attr {
			if key := n.Attr[i].Key; key == "colspan" || key == "rowspan" {
				n.Attr[i].Val = "1"
			}
		}
		if n.DataAtom != atom.Table {
			dropSpans(n)
		}
	}
}
