package markdown

import (
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// Some marks make the parser search a whole block backwards or forwards, so a
// text that consists of such marks takes quadratic time. Each such mark is
// charged the steps that it may cause. A text has a budget of freeSteps plus
// stepsPerByte for each of its bytes, many times what real texts need. When the
// budget is spent, the parser leaves later marks in the text.
const (
	freeSteps    = 8 << 20
	stepsPerByte = 16
)

// maxNesting is the deepest nesting of lists and quotes. The marks of deeper
// ones stay in the text.
const maxNesting = 64

// newParser returns a parser for one text of length bytes.
func newParser(length int) parser.Parser {
	b := &budget{steps: freeSteps + stepsPerByte*length}
	emphasis := &marks{budget: b}
	return parser.NewParser(
		parser.WithBlockParsers(
			util.Prioritized(parser.NewSetextHeadingParser(), 100),
			util.Prioritized(parser.NewThematicBreakParser(), 200),
			util.Prioritized(nested{parser.NewListParser()}, 300),
			util.Prioritized(parser.NewListItemParser(), 400),
			util.Prioritized(parser.NewCodeBlockParser(), 500),
			util.Prioritized(parser.NewATXHeadingParser(), 600),
			util.Prioritized(parser.NewFencedCodeBlockParser(), 700),
			util.Prioritized(nested{parser.NewBlockquoteParser()}, 800),
			util.Prioritized(parser.NewHTMLBlockParser(), 900),
			util.Prioritized(parser.NewParagraphParser(), 1000),
		),
		parser.WithInlineParsers(
			util.Prioritized(extension.NewTaskCheckBoxParser(), 0),
			util.Prioritized(codeSpans{parser.NewCodeSpanParser(), b}, 100),
			util.Prioritized(&links{InlineParser: parser.NewLinkParser(), budget: b}, 200),
			util.Prioritized(parser.NewAutoLinkParser(), 300),
			util.Prioritized(parser.NewRawHTMLParser(), 400),
			util.Prioritized(counted{parser.NewEmphasisParser(), emphasis}, 500),
			util.Prioritized(counted{extension.NewStrikethroughParser(), emphasis}, 500),
		),
		parser.WithParagraphTransformers(
			util.Prioritized(definitions{parser.LinkReferenceParagraphTransformer, b}, 100),
			util.Prioritized(tables{extension.NewTableParagraphTransformer(), b}, 200),
		),
	)
}

// budget counts the steps that are left for one text.
type budget struct{ steps int }

// spend takes n steps from the budget and reports whether there were enough.
func (b *budget) spend(n int) bool {
	if n > b.steps {
		return false
	}
	b.steps -= n
	return true
}

// nested opens a quote or a list unless it would be nested deeper than
// maxNesting.
type nested struct{ parser.BlockParser }

func (p nested) Open(parent ast.Node, reader text.Reader, pc parser.Context) (ast.Node, parser.State) {
	depth := 0
	for n := parent; n != nil; n = n.Parent() {
		if n.Kind() == ast.KindList || n.Kind() == ast.KindBlockquote {
			depth++
		}
	}
	if depth >= maxNesting {
		return nil, parser.NoChildren
	}
	return p.BlockParser.Open(parent, reader, pc)
}

// marks counts the emphasis marks in a block: the parser compares each closing
// mark with all before it.
type marks struct {
	budget *budget
	block  ast.Node
	count  int
}

// counted parses emphasis marks and charges them to the budget.
type counted struct {
	parser.InlineParser
	marks *marks
}

func (p counted) Parse(parent ast.Node, block text.Reader, pc parser.Context) ast.Node {
	m := p.marks
	if m.block != parent {
		m.block, m.count = parent, 0
	}
	if m.count++; !m.budget.spend(m.count) {
		return nil
	}
	return p.InlineParser.Parse(parent, block, pc)
}

// codeSpans parses code between backticks. For backticks without an end the
// parser searches the rest of the block, which is charged to the budget.
type codeSpans struct {
	parser.InlineParser
	budget *budget
}

func (p codeSpans) Parse(parent ast.Node, block text.Reader, pc parser.Context) ast.Node {
	if p.budget.steps <= 0 {
		return nil
	}
	rest := unreadBytes(parent, block)
	n := p.InlineParser.Parse(parent, block, pc)
	if _, ok := n.(*ast.CodeSpan); !ok {
		p.budget.steps -= rest
	}
	return n
}

// links parses links and pictures. At a closing bracket the parser reads
// everything after the opening one and searches its line; for a link without an
// end it searches the rest of the block. Both are charged to the budget.
type links struct {
	parser.InlineParser
	budget *budget
	block  ast.Node
	open   []int // offsets of the brackets that are still open
}

func (p *links) Parse(parent ast.Node, block text.Reader, pc parser.Context) ast.Node {
	if p.budget.steps <= 0 {
		return nil
	}
	if p.block != parent {
		p.block, p.open = parent, p.open[:0]
	}
	line, at := block.PeekLine()
	if line[0] != ']' {
		n := p.InlineParser.Parse(parent, block, pc)
		if n != nil {
			p.open = append(p.open, at.Start)
		}
		return n
	}
	if last := len(p.open) - 1; last >= 0 {
		p.budget.steps -= at.Start - p.open[last] + parent.Lines().Len()
		p.open = p.open[:last]
	}
	rest := unreadBytes(parent, block)
	n := p.InlineParser.Parse(parent, block, pc)
	if n == nil && len(line) > 1 && (line[1] == '(' || line[1] == '[') {
		p.budget.steps -= rest
	}
	return n
}

// CloseBlock lets the parser end the brackets that are still open.
func (p *links) CloseBlock(parent ast.Node, block text.Reader, pc parser.Context) {
	if c, ok := p.InlineParser.(parser.CloseBlocker); ok {
		c.CloseBlock(parent, block, pc)
	}
}

// unreadBytes returns how many bytes of a block are not read yet.
func unreadBytes(parent ast.Node, block text.Reader) int {
	lines := parent.Lines()
	if lines.Len() == 0 {
		return 0
	}
	_, at := block.Position()
	return max(lines.At(lines.Len()-1).Stop-at.Start, 0)
}

// definitions removes link definitions from a paragraph. The parser copies the
// paragraph's lines for each of them.
type definitions struct {
	parser.ParagraphTransformer
	budget *budget
}

func (t definitions) Transform(node *ast.Paragraph, reader text.Reader, pc parser.Context) {
	n := node.Lines().Len()
	length := node.Lines().At(n-1).Stop - node.Lines().At(0).Start
	if t.budget.spend(n * length / 64) {
		t.ParagraphTransformer.Transform(node, reader, pc)
	}
}

// tables turns paragraphs into tables. The parser fills each row up to the width
// of the table, so a wide table with many rows of one cell would become far
// larger than its text.
type tables struct {
	parser.ParagraphTransformer
	budget *budget
}

func (t tables) Transform(node *ast.Paragraph, reader text.Reader, pc parser.Context) {
	lines, source := node.Lines(), reader.Source()
	width, length := 0, 0
	for i := range lines.Len() {
		line := lines.At(i)
		width = max(width, delimiterCells(line.Value(source)))
		length += line.Len()
	}
	if width > 0 && width*lines.Len() <= length+MinCells && t.budget.spend(length) {
		t.ParagraphTransformer.Transform(node, reader, pc)
	}
}

// MinCells is the number of cells that every table may have.
const MinCells = 4096

// delimiterCells returns the number of cells in a delimiter row, 0 if line is
// not one.
func delimiterCells(line []byte) int {
	cells, dashes := 1, 0
	for _, c := range line {
		switch c {
		case '|':
			cells++
		case '-':
			dashes++
		case ':', ' ', '\t', '\n', '\r':
		default:
			return 0
		}
	}
	if dashes == 0 {
		return 0
	}
	return cells
}
