package markdown

import (
	"regexp"
	"strings"

	"github.com/cairn-rag/cairn/internal/extract/table"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/yuin/goldmark/ast"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/text"
)

// Read returns the title and the blocks of a Markdown text. The title is the one
// in the front matter, else the first heading of level 1, else "".
func Read(s string) (title string, blocks []knowledge.Block) {
	matter, title, rest := frontMatter(s)
	r := reader{source: []byte(rest), position: &position{line: 1 + strings.Count(s[:len(s)-len(rest)], "\n")}}
	if matter != "" {
		r.add(knowledge.BlockParagraph, matter)
		r.blocks[0].Origin = knowledge.Origin{First: 2, Last: 2 + strings.Count(matter, "\n"), LineByLine: true}
	}
	r.children(newParser(len(r.source)).Parse(text.NewReader(r.source)))
	for _, b := range r.blocks {
		if title == "" && b.Kind == knowledge.BlockHeading && b.Level == 1 {
			title = b.Text
		}
	}
	return title, r.blocks
}

// frontMatter cuts off the metadata that a file may begin with, between two
// lines of --- or +++.
func frontMatter(s string) (matter, title, rest string) {
	for _, fence := range []string{"---", "+++"} {
		body, ok := strings.CutPrefix(s, fence+"\n")
		if !ok {
			continue
		}
		matter, rest, ok = strings.Cut(body, "\n"+fence+"\n")
		if !ok || len(matter) > 16<<10 || !strings.ContainsAny(matter, ":=") || strings.Contains(matter, "\n\n") {
			continue
		}
		for line := range strings.Lines(matter) {
			for _, mark := range []string{"title:", "title ="} {
				if v, ok := strings.CutPrefix(line, mark); ok {
					title = strings.Trim(strings.TrimSpace(v), `"'`)
				}
			}
		}
		return matter, title, rest
	}
	return "", "", s
}

// headingAttributes matches the attributes that name a heading for links. They
// are not part of its text.
var headingAttributes = regexp.MustCompile(` ?\{[#.][\w:.# -]*\}$`)

// reader collects the blocks of one document from its syntax tree.
type reader struct {
	source   []byte
	blocks   []knowledge.Block
	position *position // nil: the blocks are joined to others, and have no origin
	inCell   bool      // inside a table cell, where bars are escaped even in code
	unclosed bool      // a table in HTML has no end
}

func (r *reader) add(kind knowledge.BlockKind, s string) {
	if strings.TrimSpace(s) != "" {
		r.blocks = append(r.blocks, knowledge.Block{Kind: kind, Text: strings.Trim(s, "\n")})
	}
}

func (r *reader) children(parent ast.Node) {
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		if r.holdsTable(n) {
			n = r.hypertext(n)
			continue
		}
		r.block(n)
	}
}

func (r *reader) block(n ast.Node) {
	done := len(r.blocks)
	switch n := n.(type) {
	case *ast.Heading:
		if s := headingAttributes.ReplaceAllString(oneLine(r.inline(n)), ""); s != "" {
			r.blocks = append(r.blocks, knowledge.Block{Kind: knowledge.BlockHeading, Level: n.Level, Text: s})
		}
	case *ast.Paragraph, *ast.TextBlock:
		r.add(knowledge.BlockParagraph, strings.TrimSpace(r.inline(n)))
	case *ast.FencedCodeBlock, *ast.CodeBlock:
		r.add(knowledge.BlockCode, r.lines(n))
	case *ast.List:
		r.add(knowledge.BlockList, r.list(n, ""))
	case *extast.Table:
		r.table(n)
	case *ast.HTMLBlock:
		r.add(knowledge.BlockParagraph, htmlText(r.html(n)))
	case *ast.ThematicBreak, *ast.LinkReferenceDefinition:
	default: // a quote, or a node of an extension
		r.children(n)
	}
	for i := done; i < len(r.blocks); i++ {
		if b := &r.blocks[i]; b.Origin.First == 0 {
			b.Origin = r.origin(n, b.Text)
		}
	}
}

func (r *reader) lines(n ast.Node) string {
	var b strings.Builder
	for i := range n.Lines().Len() {
		segment := n.Lines().At(i)
		b.Write(segment.Value(r.source))
	}
	return strings.TrimRight(b.String(), " \t\n")
}

func (r *reader) html(n *ast.HTMLBlock) string {
	s := r.lines(n)
	if n.HasClosure() {
		s += "\n" + string(n.ClosureLine.Value(r.source))
	}
	return s
}

func (r *reader) table(n *extast.Table) {
	stated := strings.TrimSpace(r.inline(n.FirstChild())) != "" // a page may have no header, and a Markdown table always has one
	t := table.Table{HasHeader: stated, HasDashes: stated}
	for row := n.FirstChild(); row != nil; row = row.NextSibling() {
		var cells []table.Cell
		var texts []string
		for c := row.FirstChild(); c != nil; c = c.NextSibling() {
			texts = append(texts, r.cell(c))
			cells = append(cells, table.Cell{Text: texts[len(texts)-1]})
		}
		t.Add(table.Row{Cells: cells, Origin: r.origin(row, strings.Join(texts, knowledge.CellSeparator))})
	}
	r.blocks = append(r.blocks, t.Blocks()...)
}

func (r *reader) cell(n ast.Node) string {
	r.inCell = true
	defer func() { r.inCell = false }()
	return oneLine(r.inline(n))
}
