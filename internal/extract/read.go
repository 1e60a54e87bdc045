package extract

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/cairn-rag/cairn/internal/extract/charset"
	"github.com/cairn-rag/cairn/internal/extract/html"
	"github.com/cairn-rag/cairn/internal/extract/markdown"
	"github.com/cairn-rag/cairn/internal/extract/pdf"
	"github.com/cairn-rag/cairn/internal/extract/table"
	"github.com/cairn-rag/cairn/internal/extract/text"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// maxPDF is the largest PDF in bytes; pdfium keeps the whole file in memory.
const maxPDF = 256 << 20

// parser reads one file after another inside the child. It starts pdfium with
// the first PDF, so that text files do not wait for it.
type parser struct {
	cacheDir string
	starting func(start func() error) error // runs start, which loads pdfium
	pdfs     *pdf.Reader
}

// close frees pdfium if it was started.
func (p *parser) close(ctx context.Context) error {
	if p.pdfs == nil {
		return nil
	}
	return p.pdfs.Close(ctx)
}

// read extracts one file. Errors that clients may see are *knowledge.Error.
func (p *parser) read(ctx context.Context, in Input) (knowledge.Layout, error) {
	data, mediaType, err := open(in)
	if err != nil {
		return knowledge.Layout{}, err
	}
	kind, _, _ := strings.Cut(mediaType, ";")
	layout, err := p.parse(ctx, data, kind, charset.Declared(mediaType))
	if err != nil {
		return knowledge.Layout{}, err
	}
	layout.MediaType = kind
	tidy(&layout)
	return layout, check(layout)
}

// open reads the file and detects its media type.
func open(in Input) (data []byte, mediaType string, err error) {
	f, err := os.Open(in.Path)
	if err != nil {
		return nil, "", fmt.Errorf("open document: %w", err)
	}
	defer f.Close()
	head := make([]byte, HeadBytes)
	n, err := io.ReadFull(f, head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, "", fmt.Errorf("read document: %w", err)
	}
	mediaType, err = Sniff(in.Name, in.MediaType, head[:n])
	if err != nil {
		return nil, "", err
	}
	info, err := f.Stat()
	if err != nil {
		return nil, "", fmt.Errorf("stat document: %w", err)
	}
	if err := checkSize(info.Size(), mediaType, head[:n]); err != nil {
		return nil, "", err
	}
	data = make([]byte, info.Size())
	if _, err := f.ReadAt(data, 0); err != nil && err != io.EOF {
		return nil, "", fmt.Errorf("read document: %w", err)
	}
	return data, mediaType, nil
}

func checkSize(size int64, mediaType string, head []byte) error {
	limit := int64(charset.MaxText)
	switch {
	case mediaType == TypePDF:
		if size > maxPDF {
			return knowledge.Errorf(knowledge.CodeTooLarge, "the PDF is larger than %d MB; split it", maxPDF>>20)
		}
		return nil
	case strings.HasPrefix(string(head), "\xff\xfe"), strings.HasPrefix(string(head), "\xfe\xff"):
		limit *= 2
	}
	if size > limit {
		return charset.TooLong()
	}
	return nil
}

func (p *parser) parse(ctx context.Context, data []byte, mediaType, declared string) (knowledge.Layout, error) {
	switch mediaType {
	case TypePDF:
		if p.pdfs == nil {
			err := p.starting(func() (err error) {
				p.pdfs, err = pdf.New(ctx, pdf.Config{CacheDir: p.cacheDir})
				return err
			})
			if err != nil {
				return knowledge.Layout{}, fmt.Errorf("start pdfium: %w", err)
			}
		}
		return p.pdfs.Read(ctx, data)
	case TypeHTML:
		title, blocks, err := html.Read(data, declared)
		return knowledge.Layout{Title: title, Blocks: blocks}, err
	}
	s, err := charset.Decode(data, declared)
	if err != nil {
		return knowledge.Layout{}, err
	}
	return parseText(s, mediaType)
}

func parseText(s, mediaType string) (layout knowledge.Layout, err error) {
	switch mediaType {
	case TypeMarkdown:
		layout.Title, layout.Blocks = markdown.Read(s)
	case TypeCSV:
		layout.Blocks = table.Read(s, 0)
	case TypeTSV:
		layout.Blocks = table.Read(s, '\t')
	case TypeJSON:
		layout.Blocks, err = text.JSON(s)
	case TypeNDJSON:
		layout.Blocks, err = text.Lines(s)
	case TypeText:
		layout.Blocks = text.Plain(s)
	default:
		layout.Blocks = text.Code(s)
	}
	return layout, err
}

// tidy cleans text that the file wrote as character references: the file's own
// characters were cleaned before it was parsed. The lines of PDF pages are left
// as they are, because they were cleaned letter by letter and have character
// offsets.
func tidy(layout *knowledge.Layout) {
	layout.Title = charset.Clean(layout.Title)
	kept := layout.Blocks[:0]
	for _, b := range layout.Blocks {
		if len(b.Lines) == 0 {
			b.Text, b.Header = charset.Clean(b.Text), charset.Clean(b.Header)
		}
		if strings.TrimSpace(b.Text) != "" {
			kept = append(kept, b)
		}
	}
	layout.Blocks = kept
}

// check reports a layout with no text or with too much text as an error.
func check(layout knowledge.Layout) error {
	total := 0
	for _, b := range layout.Blocks {
		total += len(b.Text) + len(knowledge.BlockSeparator)
	}
	switch {
	case len(layout.Blocks) == 0:
		return knowledge.Errorf(knowledge.CodeEmpty, "there is no text in the document; send one with text in it")
	case total > charset.MaxText+charset.MaxText/4: // block and cell separators add to the text
		return charset.TooLong()
	}
	return nil
}
