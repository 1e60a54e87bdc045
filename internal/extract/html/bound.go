package html

import (
	"regexp"
	"strings"

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
