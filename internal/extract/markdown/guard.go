package markdown

import (
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// Some marks make the parser look back or ahead over all of a block, so that a
// text of nothing but marks takes it time by the square of its length. Each such
// mark pays here with the steps that it may cause. A text has stepsPerByte for
// each of its bytes and freeSteps besides, many times what real ones need; when
// they are spent, the marks that follow stay in the text as they are.
const (
	freeSteps    = 8 << 20
	stepsPerByte = 16
)

// maxNesting is how deep lists and quotes may lie in each other. The marks of
// deeper ones stay in the text as they are.
const maxNesting = 64

// newParser gives a parser for one text of so many bytes.
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

// budget is what is left to one text.
type budget struct{ steps int }

// spend takes steps, if there are as many.
func (b *budget) spend(n int) bool {
	if n > b.steps {
		return false
	}
	b.steps -= n
	return true
}

// nested opens a quote or a list unless it would lie too deep.
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

// marks counts the marks of emphasis in a block: one that closes is compared
// with those before it.
type marks struct {
	budget *budget
	block  ast.Node
	count  int
}

// counted parses marks of emphasis.
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

// codeSpans parses code between backticks. What has no end is sought through
// the rest of the block.
type codeSpans struct {
	parser.InlineParser
	budget *budget
}

func (p codeSpans) Parse(parent ast.Node, block text.Reader, pc parser.Context) ast.Node {
	if p.budget.steps <= 0 {
		return nil
	}
	rest := remaining(parent, block)
	n := p.InlineParser.Parse(parent, block, pc)
	if _, ok := n.(*ast.CodeSpan); !ok {
		p.budget.steps -= rest
	}
	return n
}

// links parses links and pictures. For a bracket that closes, all that stands
// behind the one that opened is looked at, and the line of that one is sought; a
// link that does not end is sought through the rest of the block.
type links struct {
	parser.InlineParser
	budget *budget
	block  ast.Node
	open   []int // where the brackets stand that were not closed yet
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
	rest := remaining(parent, block)
	n := p.InlineParser.Parse(parent, block, pc)
	if n == nil && len(line) > 1 && (line[1] == '(' || line[1] == '[') {
		p.budget.steps -= rest
	}
	return n
}

// CloseBlock lets the parser end its brackets that nothing closed.
func (p *links) CloseBlock(parent ast.Node, block text.Reader, pc parser.Context) {
	if c, ok := p.InlineParser.(parser.CloseBlocker); ok {
		c.CloseBlock(parent, block, pc)
	}
}

// remaining is how many bytes of a block are not read yet.
func remaining(parent ast.Node, block text.Reader) int {
	lines := parent.Lines()
	if lines.Len() == 0 {
		return 0
	}
	_, at := block.Position()
	return max(lines.At(lines.Len()-1).Stop-at.Start, 0)
}

// definitions takes the definitions of links out of a paragraph; each is cut
// out of all of its lines.
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

// tables makes tables of paragraphs. A row is filled up to the width of the
// table, so that a wide one with many rows of one cell would be far larger than
// its text.
type tables struct {
	parser.ParagraphTransformer
	budget *budget
}

func (t tables) Transform(node *ast.Paragraph, reader text.Reader, pc parser.Context) {
	lines, source := node.Lines(), reader.Source()
	width, length := 0, 0
	for i := range lines.Len() {
		line := lines.At(i)
		width = max(width, delimiters(line.Value(source)))
		length += line.Len()
	}
	if width > 0 && width*lines.Len() <= length+MinCells && t.budget.spend(length) {
		t.ParagraphTransformer.Transform(node, reader, pc)
	}
}

// MinCells is how many cells any table may have.
const MinCells = 4096

// delimiters is how many cells a row of dashes has, 0 if a line is none.
func delimiters(line []byte) int {
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
