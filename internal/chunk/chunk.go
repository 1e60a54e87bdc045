package chunk

import (
	"context"
	"errors"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// Input is a document that Split cuts.
type Input struct {
	Layout   knowledge.Layout
	Name     string // of the document
	Splitter knowledge.Splitter
	Ref      knowledge.VersionRef
	// MaxTokens bounds the embedding text of a chunk, in tokens of cl100k_base. 0
	// sets no bound.
	MaxTokens int
	// Embed returns one vector for each text, in their order. Only the semantic
	// strategy calls it, once for each maxGroups groups of sentences.
	Embed func(ctx context.Context, texts []string) ([][]float32, error)
}

// Split cuts a layout into chunks of at most ChunkSize code points, whose
// EmbeddingText has at most MaxTokens tokens. Every character of the document's
// text that is not white space is in at least one chunk. The heading path and the
// table header of a chunk have at most a quarter of ChunkSize each. Split returns
// no chunks for a layout without text, a CodeInvalid error for a splitter that is
// not valid, and the errors of Embed.
func Split(ctx context.Context, in Input) ([]knowledge.Chunk, error) {
	in.Splitter = in.Splitter.WithDefaults()
	if fields := in.Splitter.Fields("textSplitter"); len(fields) > 0 {
		e := knowledge.Errorf(knowledge.CodeInvalid, "the splitter is not valid: %s %s", fields[0].Location, fields[0].Message)
		e.Fields = fields
		return nil, e
	}
	d := newDocument(in)
	pieces, err := newCutter(d, in.Splitter).pieces(ctx, in)
	if err != nil {
		return nil, err
	}
	return d.chunks(d.tidy(pieces), in.Ref), nil
}

// piece is the span of a chunk. parent is the span of the parent that it is cut
// from; the zero Span means that it has none.
type piece struct {
	knowledge.Span
	parent knowledge.Span
}

// cutter cuts blocks of a document.
type cutter struct {
	*document
	size       int // of a span, in code points
	longest    int // part of a block that is kept whole although it is longer than size
	overlap    int
	separators []string
}

func newCutter(d *document, s knowledge.Splitter) cutter {
	return cutter{document: d, size: s.ChunkSize, longest: s.ChunkSize, overlap: *s.ChunkOverlap, separators: s.Separators}
}

// pieces cuts the document by the strategy of the input. White space may still be
// around the pieces.
func (c cutter) pieces(ctx context.Context, in Input) ([]piece, error) {
	var spans []knowledge.Span
	switch in.Splitter.Strategy {
	case knowledge.SplitHierarchical:
		return c.hierarchical(), nil
	case knowledge.SplitSemantic:
		if in.Embed == nil {
			return nil, errors.New("the semantic strategy needs a model for embeddings")
		}
		var err error
		if spans, err = c.semantic(ctx, in.Embed); err != nil {
			return nil, err
		}
	case knowledge.SplitStructure:
		spans = c.structure(c.blocks)
	default:
		for section := range c.sections() {
			switch in.Splitter.Strategy {
			case knowledge.SplitFixed:
				spans = append(spans, c.windows(spanOf(section))...)
			case knowledge.SplitSliding:
				spans = append(spans, c.sliding(section)...)
			case knowledge.SplitDynamic:
				spans = append(spans, c.dynamic(section)...)
			}
		}
	}
	pieces := make([]piece, len(spans))
	for i, span := range spans {
		pieces[i].Span = span
	}
	return pieces, nil
}

// chunks returns the chunks of tidy pieces. A piece whose embedding text would have
// too many tokens is cut further.
func (d *document) chunks(pieces []piece, ref knowledge.VersionRef) []knowledge.Chunk {
	chunks := make([]knowledge.Chunk, 0, len(pieces))
	for _, p := range pieces {
		// A piece that begins before a part of the one before it does not overlap it.
		if n := len(chunks); n > 0 && p.Start <= chunks[n-1].Span.Start {
			p.Start = chunks[n-1].Span.End
			p.Span = d.trim(p.Span)
		}
		c := d.chunk(p, ref, len(chunks))
		if d.limit.allows(c) {
			chunks = append(chunks, c)
			continue
		}
		if n := len(chunks); n > 0 {
			p.Start = max(p.Start, chunks[n-1].Span.End)
		}
		chunks = d.appendParts(chunks, p, ref)
	}
	d.joinParents(chunks)
	return chunks
}

// appendParts appends the chunks of a piece, which it halves until each has few
// enough tokens.
func (d *document) appendParts(chunks []knowledge.Chunk, p piece, ref knowledge.VersionRef) []knowledge.Chunk {
	p.Span = d.trim(p.Span)
	size := p.End - p.Start
	if size == 0 {
		return chunks
	}
	c := d.chunk(p, ref, len(chunks))
	if size == 1 || d.limit.allows(c) {
		return append(chunks, c)
	}
	half := cutter{document: d, size: (size + 1) / 2, longest: size - 1}
	for _, span := range half.structure(d.clip(p.Span)) {
		chunks = d.appendParts(chunks, piece{span, p.parent}, ref)
	}
	return chunks
}

// chunk returns the chunk of a trimmed piece.
func (d *document) chunk(p piece, ref knowledge.VersionRef, ordinal int) knowledge.Chunk {
	span := p.Span
	c := knowledge.Chunk{
		ID:         knowledge.ChunkID(ref.Document, ref.Version, ordinal),
		DocumentID: ref.Document, Version: ref.Version, Ordinal: ordinal,
		Text: string(d.runes[span.Start:span.End]), Span: span, Parent: p.parent, Modality: d.modality,
	}
	if b := d.blockAt(span.Start); b != nil {
		c.HeadingPath = d.pathOf(span)
		c.Header = b.headerFor(c)
	}
	c.Title = d.names.of(c.HeadingPath)
	c.Origin = d.originOf(span)
	c.Lines = d.linesIn(span)
	for i, l := range c.Lines {
		if size, ok := d.pages[l.Page]; ok && (i == 0 || c.Lines[i-1].Page != l.Page) {
			c.Pages = append(c.Pages, size)
		}
	}
	if d.detailed {
		d.addDetails(&c)
	}
	return c
}
