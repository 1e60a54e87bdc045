package chunk

import (
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// Text returns the text of a document: the texts of its blocks, separated by
// knowledge.BlockSeparator.
func Text(layout knowledge.Layout) string {
	texts := make([]string, len(layout.Blocks))
	for i, b := range layout.Blocks {
		texts[i] = b.Text
	}
	return strings.Join(texts, knowledge.BlockSeparator)
}

// Split cuts a layout into chunks of at most ChunkSize code points. Every
// character that is not white space is in at least one chunk. The heading path
// and the table header of a chunk have at most a quarter of ChunkSize each.
// Split returns no chunks for a layout without text, and a CodeInvalid error
// for a splitter that is not valid.
func Split(layout knowledge.Layout, splitter knowledge.Splitter, ref knowledge.VersionRef) ([]knowledge.Chunk, error) {
	splitter = splitter.WithDefaults()
	if fields := splitter.Fields("textSplitter"); len(fields) > 0 {
		e := knowledge.Errorf(knowledge.CodeInvalid, "the splitter is not valid: %s %s", fields[0].Location, fields[0].Message)
		e.Fields = fields
		return nil, e
	}
	d := newDocument(layout, splitter.ChunkSize/contextShare)
	var spans []knowledge.Span
	if splitter.Strategy == "fixed" {
		spans = fixed(d, splitter)
	} else {
		spans = structure(d, splitter)
	}
	spans = d.tidy(spans)
	chunks := make([]knowledge.Chunk, 0, len(spans))
	for _, span := range spans {
		chunks = append(chunks, d.chunk(span, ref, len(chunks)))
	}
	return chunks, nil
}

// document is a layout as one sequence of code points.
type document struct {
	runes  []rune
	blocks []block
	lines  []knowledge.Line // of the whole document, in order
	pages  map[int]knowledge.PageSize
	ends   lineEndCount
}

// block is a block without its text, which is in the document. A document may
// have millions.
type block struct {
	kind   knowledge.BlockKind
	header string
	span   knowledge.Span
	origin knowledge.Origin
	ends   int      // line ends in the document before it
	dashes bool     // its second line is a row of dashes that the file does not have
	path   []string // headings above it, including itself if it is a heading
}

func newDocument(layout knowledge.Layout, context int) *document {
	size := 0
	for _, b := range layout.Blocks {
		size += utf8.RuneCountInString(b.Text) + len(knowledge.BlockSeparator)
	}
	d := &document{
		runes: make([]rune, 0, size), blocks: make([]block, 0, len(layout.Blocks)), pages: map[int]knowledge.PageSize{},
	}
	for _, p := range layout.Pages {
		d.pages[p.Page] = p
	}
	separator := []rune(knowledge.BlockSeparator)
	var path headings
	ends := 0
	for i, b := range layout.Blocks {
		if i > 0 {
			d.runes = append(d.runes, separator...)
			ends += strings.Count(knowledge.BlockSeparator, "\n")
		}
		start := len(d.runes)
		d.runes = append(d.runes, []rune(b.Text)...)
		if b.Kind == knowledge.BlockHeading {
			path.enter(b)
		}
		d.blocks = append(d.blocks, block{
			kind: b.Kind, header: knowledge.HeaderWithin(b.Header, context),
			span: knowledge.Span{Start: start, End: len(d.runes)}, origin: b.Origin, ends: ends, path: path.within(context),
		})
		added := strings.Count(b.Text, "\n")
		ends += added
		d.blocks[i].dashes = b.Header != "" && added == b.Origin.Last-b.Origin.First+1
		for _, l := range b.Lines {
			l.Start, l.End = l.Start+start, l.End+start
			d.lines = append(d.lines, l)
		}
	}
	return d
}

// tidy trims white space from the spans and removes those that are empty or lie
// within a neighbour: where an overlap falls into white space, two spans begin
// or end at the same character.
func (d *document) tidy(spans []knowledge.Span) []knowledge.Span {
	tidied := spans[:0]
	for _, span := range spans {
		span = d.trim(span)
		n := len(tidied)
		switch {
		case span.Start == span.End || n > 0 && span.End <= tidied[n-1].End:
		case n > 0 && span.Start == tidied[n-1].Start:
			tidied[n-1] = span
		default:
			tidied = append(tidied, span)
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

// chunk returns the chunk of a trimmed span.
func (d *document) chunk(span knowledge.Span, ref knowledge.VersionRef, ordinal int) knowledge.Chunk {
	c := knowledge.Chunk{
		ID:         knowledge.ChunkID(ref.Document, ref.Version, ordinal),
		DocumentID: ref.Document, Version: ref.Version, Ordinal: ordinal,
		Text: string(d.runes[span.Start:span.End]), Span: span,
	}
	if b := d.blockAt(span.Start); b != nil {
		c.HeadingPath = d.pathOf(span)
		// The first part of a table contains its header.
		if b.header != "" && !knowledge.HasHeader(c.Text, b.header) {
			c.Header = b.header
		}
	}
	c.Origin = d.originOf(span)
	c.Lines = d.linesIn(span)
	for i, l := range c.Lines {
		if size, ok := d.pages[l.Page]; ok && (i == 0 || c.Lines[i-1].Page != l.Page) {
			c.Pages = append(c.Pages, size)
		}
	}
	return c
}

// blockAt returns the block that contains the code point at, or nil between two
// blocks.
func (d *document) blockAt(at int) *block {
	i := sort.Search(len(d.blocks), func(i int) bool { return d.blocks[i].span.End > at })
	if i == len(d.blocks) || d.blocks[i].span.Start > at {
		return nil
	}
	return &d.blocks[i]
}

// pathOf returns the headings that are common to all blocks of a span.
func (d *document) pathOf(span knowledge.Span) []string {
	i := sort.Search(len(d.blocks), func(i int) bool { return d.blocks[i].span.End > span.Start })
	path := d.blocks[i].path
	for ; i < len(d.blocks) && d.blocks[i].span.Start < span.End; i++ {
		n := 0
		for n < min(len(path), len(d.blocks[i].path)) && path[n] == d.blocks[i].path[n] {
			n++
		}
		path = path[:n:n]
	}
	return path
}

// linesIn returns the lines of a span, cut to it, with offsets from its start.
func (d *document) linesIn(span knowledge.Span) []knowledge.Line {
	i := sort.Search(len(d.lines), func(i int) bool { return d.lines[i].End > span.Start })
	var lines []knowledge.Line
	for ; i < len(d.lines) && d.lines[i].Start < span.End; i++ {
		l := d.lines[i]
		start, end := max(l.Start, span.Start), min(l.End, span.End)
		if start >= end {
			continue
		}
		box := l.Box
		if start != l.Start || end != l.End {
			box = l.Part(start, end)
		}
		lines = append(lines, knowledge.Line{
			Start: start - span.Start, End: end - span.Start, Page: l.Page, Box: box, Hyphen: l.Hyphen && end == l.End,
		})
	}
	return lines
}
