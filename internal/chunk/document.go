package chunk

import (
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// Text returns the text of a document: the texts of its blocks, separated by
// knowledge.BlockSeparator. Furniture and blocks without text are not part of it.
// All offsets of chunks count in this text.
func Text(layout knowledge.Layout) string {
	texts := make([]string, 0, len(layout.Blocks))
	for _, b := range layout.Blocks {
		if hasText(b) {
			texts = append(texts, b.Text)
		}
	}
	return strings.Join(texts, knowledge.BlockSeparator)
}

func hasText(b knowledge.Block) bool { return b.Text != "" && !b.Kind.IsFurniture() }

// document is the text of a layout as one sequence of code points.
type document struct {
	runes    []rune
	blocks   []block
	lines    []knowledge.Line // of the whole document, in order
	pages    map[int]knowledge.PageSize
	modality knowledge.Modality
	names    names
	limit    limit
	ends     lineEndCount
	detailed bool // a block has details
}

// block is a block without its text, which is in the document. A document may
// have millions.
type block struct {
	kind    knowledge.BlockKind
	header  string
	caption *caption // of a table, nil for most
	span    knowledge.Span
	origin  knowledge.Origin
	ends    int      // line ends in the document before it
	dashes  bool     // its second line is a row of dashes that the file does not have
	alone   bool     // it and its captions are a chunk of their own
	joined  bool     // it stays together with the next block: one is the caption of the other
	path    []string // headings above it, including itself if it is a heading
	details *details // nil for most
}

func newDocument(in Input) *document {
	layout := in.Layout
	size, count := 0, 0
	for _, b := range layout.Blocks {
		if hasText(b) {
			size += utf8.RuneCountInString(b.Text) + len(knowledge.BlockSeparator)
			count++
		}
	}
	d := &document{
		runes: make([]rune, 0, size), blocks: make([]block, 0, count), pages: map[int]knowledge.PageSize{},
		modality: layout.Modality, limit: newLimit(in.MaxTokens),
	}
	d.names = newNames(in.Name, layout.Title, d.limit)
	for _, p := range layout.Pages {
		d.pages[p.Page] = p
	}
	context := newContexts(in.Splitter.ChunkSize, d.limit)
	var figures []string // of blocks without text: they belong to the caption behind them, else to the text before them
	ends := 0
	for _, b := range layout.Blocks {
		if !hasText(b) {
			if b.Figure != "" && !b.Kind.IsFurniture() {
				figures = append(figures, b.Figure)
			}
			continue
		}
		if len(d.blocks) > 0 && b.Kind != knowledge.BlockCaption {
			d.show(figures)
			figures = nil
		}
		ends += d.add(b, context, ends)
		d.describe(b, figures)
		figures = nil
	}
	d.show(figures)
	d.joinCaptions(context.size)
	return d
}

// add appends a block, before which the document has so many line ends. It returns
// how many line ends it added.
func (d *document) add(b knowledge.Block, context *contexts, ends int) int {
	added := 0
	if len(d.blocks) > 0 {
		d.runes = append(d.runes, []rune(knowledge.BlockSeparator)...)
		added += strings.Count(knowledge.BlockSeparator, "\n")
	}
	start := len(d.runes)
	for _, r := range b.Text {
		d.runes = append(d.runes, r)
	}
	if b.Kind == knowledge.BlockHeading {
		context.enter(b)
	}
	own := strings.Count(b.Text, "\n")
	d.blocks = append(d.blocks, block{
		kind: b.Kind, header: context.header(b.Header), path: context.path,
		span: knowledge.Span{Start: start, End: len(d.runes)}, origin: b.Origin, ends: ends + added,
		dashes: b.Header != "" && own == b.Origin.Last-b.Origin.First+1, alone: b.Described,
	})
	for _, l := range b.Lines {
		l.Start, l.End = l.Start+start, l.End+start
		d.lines = append(d.lines, l)
	}
	return added + own
}

// tidy trims white space from the pieces and removes those that are empty or lie
// within a neighbour: where an overlap falls into white space, two pieces begin
// or end at the same character.
func (d *document) tidy(pieces []piece) []piece {
	tidied := pieces[:0]
	for _, p := range pieces {
		p.Span = d.trim(p.Span)
		n := len(tidied)
		switch {
		case p.Start == p.End || n > 0 && p.End <= tidied[n-1].End:
		case n > 0 && p.Start == tidied[n-1].Start:
			tidied[n-1] = p
		default:
			tidied = append(tidied, p)
		}
	}
	return tidied
}

// trim removes white space from both ends of a span.
func (d *document) trim(s knowledge.Span) knowledge.Span {
	for s.Start < s.End && unicode.IsSpace(d.runes[s.Start]) {
		s.Start++
	}
	for s.End > s.Start && unicode.IsSpace(d.runes[s.End-1]) {
		s.End--
	}
	return s
}

// blockFrom returns the index of the first block that ends after a code point.
func (d *document) blockFrom(at int) int {
	return sort.Search(len(d.blocks), func(i int) bool { return d.blocks[i].span.End > at })
}

// blockAt returns the block that contains the code point at, or nil between two
// blocks.
func (d *document) blockAt(at int) *block {
	i := d.blockFrom(at)
	if i == len(d.blocks) || d.blocks[i].span.Start > at {
		return nil
	}
	return &d.blocks[i]
}

// within returns the blocks that a span overlaps.
func (d *document) within(span knowledge.Span) []block {
	first := d.blockFrom(span.Start)
	last := first
	for last < len(d.blocks) && d.blocks[last].span.Start < span.End {
		last++
	}
	return d.blocks[first:last]
}

// clip returns the blocks of a span, cut to it.
func (d *document) clip(span knowledge.Span) []block {
	clipped := append([]block(nil), d.within(span)...)
	for i := range clipped {
		s := &clipped[i].span
		s.Start, s.End = max(s.Start, span.Start), min(s.End, span.End)
	}
	return clipped
}

// pathOf returns the headings that are common to all blocks of a span.
func (d *document) pathOf(span knowledge.Span) []string {
	blocks := d.within(span)
	path := blocks[0].path
	for _, b := range blocks {
		n := 0
		for n < min(len(path), len(b.path)) && path[n] == b.path[n] {
			n++
		}
		path = path[:n:n]
	}
	return path
}

// linesIn returns the lines of a span, cut to it, with offsets from its start.
func (d *document) linesIn(span knowledge.Span) []knowledge.Line { return LinesIn(d.lines, span) }
