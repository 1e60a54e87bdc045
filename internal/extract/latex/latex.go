package latex

import (
	"strings"

	"github.com/cairn-rag/cairn/internal/extract/format"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// maxDepth bounds how deep arguments and environments are nested.
const maxDepth = 100

// Read reads a text.
func Read(s string) format.MarkedText {
	s = withoutComments(strings.ReplaceAll(s, "\r\n", "\n"))
	r := &reader{document: &format.MarkedText{}}
	preamble, body, found := strings.Cut(s, `\begin{document}`)
	if !found {
		preamble, body = "", s
	}
	body, _, _ = strings.Cut(body, `\end{document}`)
	m := &macros{defined: map[string]macro{}}
	preamble, body = m.expand(preamble, 0), m.expand(body, 0)
	r.preamble(preamble)
	r.read(body)
	r.closeLists()
	return *r.document
}

// reader reads a text, or the text of a cell or of an item.
type reader struct {
	document *format.MarkedText
	text     strings.Builder // of the paragraph
	lists    []list
	items    []string
	depth    int
	isInline bool // tables are text, as in a cell
}

// list is a list that is open.
type list struct {
	kind   string // environment
	number int
}

// preamble reads the title and the author that stand before the text.
func (r *reader) preamble(s string) {
	for _, name := range []string{"title", "author"} {
		if at := strings.Index(s, `\`+name+`{`); at >= 0 {
			c := &scanner{s: s, at: at + 1}
			c.command()
			r.names(name, c.argument())
		}
	}
}

func (r *reader) names(name, text string) {
	separator := " "
	if name == "author" {
		separator = ", "
		text = strings.ReplaceAll(text, `\and`, `\\ `)
	}
	text = strings.Join(strings.Fields(strings.ReplaceAll(r.inline(text), "\n", separator)), " ")
	switch {
	case name == "title" && r.document.Title == "":
		r.document.Title = text
	case name == "author" && r.document.Author == "":
		r.document.Author = text
	}
}

func (r *reader) add(kind knowledge.BlockKind, level int, text string) {
	if strings.TrimSpace(text) != "" {
		r.document.Blocks = append(r.document.Blocks, knowledge.Block{Kind: kind, Level: level, Text: text})
	}
}

// end ends the paragraph. Inside a list it is a part of an item.
func (r *reader) end() {
	text := tidy(r.text.String())
	r.text.Reset()
	if text == "" {
		return
	}
	if len(r.lists) == 0 {
		r.add(knowledge.BlockParagraph, 0, text)
		return
	}
	inside := strings.Repeat("  ", min(len(r.lists)-1, maxDepth))
	text = strings.ReplaceAll(text, "\n", "\n"+inside+"  ")
	if l := &r.lists[len(r.lists)-1]; l.number < 0 { // the mark of the item stands already
		l.number = -l.number
		r.items[len(r.items)-1] += text
	} else {
		r.items = append(r.items, inside+"  "+text)
	}
}

// tidy returns text on one line, but for the line ends that it states.
func tidy(s string) string {
	lines := strings.Split(s, hardBreak)
	for i, line := range lines {
		lines[i] = strings.Join(strings.FieldsFunc(line, func(c rune) bool { return c == ' ' || c == '\n' || c == '\t' }), " ")
	}
	return strings.Trim(strings.Join(lines, "\n"), "\n ")
}

// hardBreak stands for \\ until a paragraph ends.
const hardBreak = "\x00"

// read reads a text into blocks.
func (r *reader) read(s string) {
	if r.depth++; r.depth > maxDepth {
		return
	}
	defer func() { r.depth-- }()
	c := &scanner{s: s}
	for !c.done() {
		switch b := c.s[c.at]; {
		case b == '\\':
			c.at++
			r.command(c)
		case b == '\n' && isBlank(c.rest()[1:]):
			r.end()
			c.at++
		default:
			r.char(c)
		}
	}
}

// isBlank reports whether a text begins with an empty line.
func isBlank(s string) bool {
	s = strings.TrimLeft(s, " \t")
	return strings.HasPrefix(s, "\n")
}

// char reads a character, or a formula.
func (r *reader) char(c *scanner) {
	switch rest := c.rest(); {
	case strings.HasPrefix(rest, "$$"):
		c.at += 2
		r.formula(c.until("$$"))
	case rest[0] == '$':
		c.at++
		r.dollar(c)
	case rest[0] == '{', rest[0] == '}':
		c.at++
	case rest[0] == '~':
		c.at++
		r.text.WriteString(" ")
	case strings.HasPrefix(rest, "---"), strings.HasPrefix(rest, "--"), strings.HasPrefix(rest, "``"), strings.HasPrefix(rest, "''"):
		mark := rest[:2]
		if strings.HasPrefix(rest, "---") {
			mark = "---"
		}
		c.at += len(mark)
		r.text.WriteString(map[string]string{"---": "—", "--": "–", "``": "“", "''": "”"}[mark])
	default:
		r.text.WriteByte(rest[0])
		c.at++
	}
}

// dollar reads a formula in a line. A dollar without a partner in its paragraph is a sign.
func (r *reader) dollar(c *scanner) {
	rest := c.rest()
	rest = rest[:min(len(rest), maxArgument)]
	rest, _, _ = strings.Cut(rest, "\n\n")
	if !strings.Contains(rest, "$") {
		r.text.WriteString("$")
		return
	}
	r.text.WriteString(Formula(c.until("$")))
}

// formula adds a formula that stands on lines of its own.
func (r *reader) formula(s string) {
	r.end()
	r.text.WriteString(Formula(s))
	r.end()
}

// inline returns a text without blocks on one line.
func (r *reader) inline(s string) string {
	inner := &reader{document: &format.MarkedText{}, depth: r.depth, isInline: true}
	inner.read(s)
	inner.closeLists()
	r.document.Includes += inner.document.Includes
	var texts []string
	for _, b := range inner.document.Blocks {
		texts = append(texts, b.Text)
	}
	return strings.Join(texts, "\n")
}
