package extract

import (
	"context"

	"github.com/cairn-rag/cairn/internal/extract/asciidoc"
	"github.com/cairn-rag/cairn/internal/extract/audio"
	"github.com/cairn-rag/cairn/internal/extract/format"
	"github.com/cairn-rag/cairn/internal/extract/html"
	"github.com/cairn-rag/cairn/internal/extract/image"
	"github.com/cairn-rag/cairn/internal/extract/latex"
	"github.com/cairn-rag/cairn/internal/extract/mail"
	"github.com/cairn-rag/cairn/internal/extract/markdown"
	"github.com/cairn-rag/cairn/internal/extract/outlook"
	"github.com/cairn-rag/cairn/internal/extract/subtitle"
	"github.com/cairn-rag/cairn/internal/extract/table"
	"github.com/cairn-rag/cairn/internal/extract/text"
	"github.com/cairn-rag/cairn/internal/extract/xml"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// The functions in this file connect the table of formats with the readers.

func readPlain(_ context.Context, _ *parser, s format.Source) (r format.Result, err error) {
	return blocks(s, func(t string) ([]knowledge.Block, error) { return text.Plain(t), nil })
}

func readCode(_ context.Context, _ *parser, s format.Source) (r format.Result, err error) {
	return blocks(s, func(t string) ([]knowledge.Block, error) { return text.Code(t), nil })
}

func readJSON(_ context.Context, _ *parser, s format.Source) (format.Result, error) {
	return blocks(s, text.JSON)
}

func readJSONLines(_ context.Context, _ *parser, s format.Source) (format.Result, error) {
	return blocks(s, text.Lines)
}

func readTable(comma rune) func(context.Context, *parser, format.Source) (format.Result, error) {
	return func(_ context.Context, _ *parser, s format.Source) (format.Result, error) {
		return blocks(s, func(t string) ([]knowledge.Block, error) { return table.Read(t, comma), nil })
	}
}

// blocks returns the result of a reader that needs only the text.
func blocks(s format.Source, read func(string) ([]knowledge.Block, error)) (r format.Result, err error) {
	t, err := s.Text()
	if err == nil {
		r.Layout.Blocks, err = read(t)
	}
	return r, err
}

func readMarkdown(_ context.Context, _ *parser, s format.Source) (r format.Result, err error) {
	t, err := s.Text()
	if err == nil {
		r.Layout.Title, r.Layout.Blocks = markdown.Read(t)
	}
	return r, err
}

func readAsciiDoc(_ context.Context, _ *parser, s format.Source) (format.Result, error) {
	return marked(s, asciidoc.Read)
}

func readLaTeX(_ context.Context, _ *parser, s format.Source) (format.Result, error) {
	return marked(s, latex.Read)
}

// marked returns the result of a reader of a text with marks, with the warning of one that
// includes other files.
func marked(s format.Source, read func(string) format.MarkedText) (r format.Result, err error) {
	t, err := s.Text()
	if err != nil {
		return r, err
	}
	d := read(t)
	r.Layout.Title, r.Layout.Blocks = d.Title, d.Blocks
	if d.Author != "" {
		r.Layout.Metadata = map[string]string{"author": d.Author}
	}
	if d.Includes > 0 {
		r.Layout.Warn(knowledge.WarnIncludes, nil, "the text includes %d other files, which were not read; send them too", d.Includes)
	}
	return r, nil
}

func readHTML(_ context.Context, _ *parser, s format.Source) (r format.Result, err error) {
	data, err := s.Bytes()
	if err == nil {
		var page html.Page
		page, err = html.ReadPage(data, s.Charset)
		r.Layout.Title, r.Layout.Metadata, r.Layout.Blocks = page.Title, page.Metadata, page.Blocks
	}
	return r, err
}

func readXML(_ context.Context, _ *parser, s format.Source) (r format.Result, err error) {
	data, err := s.Bytes()
	if err == nil {
		r.Layout, err = xml.Read(data, s.Charset)
	}
	return r, err
}

func readSubtitles(_ context.Context, _ *parser, s format.Source) (r format.Result, err error) {
	t, err := s.Text()
	if err == nil {
		r.Layout, err = subtitle.Read(t)
	}
	return r, err
}

func readMail(_ context.Context, _ *parser, s format.Source) (format.Result, error) {
	return mail.Read(s)
}

func readMSG(_ context.Context, _ *parser, s format.Source) (format.Result, error) {
	return outlook.Read(s)
}

func readMHT(_ context.Context, _ *parser, s format.Source) (format.Result, error) {
	return mail.ReadPage(s)
}

func readPDF(ctx context.Context, p *parser, s format.Source) (r format.Result, err error) {
	if err := p.startPDF(ctx); err != nil {
		return r, err
	}
	return p.pdfs.Read(ctx, s)
}

func readRecording(ctx context.Context, _ *parser, s format.Source) (format.Result, error) {
	return audio.Cut(ctx, s)
}

func readImage(ctx context.Context, _ *parser, s format.Source) (format.Result, error) {
	return image.Read(ctx, s)
}
