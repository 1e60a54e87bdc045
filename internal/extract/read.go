package extract

import (
	"context"
	"fmt"
	"strings"

	"github.com/cairn-rag/cairn/internal/extract/charset"
	"github.com/cairn-rag/cairn/internal/extract/format"
	"github.com/cairn-rag/cairn/internal/extract/libreoffice"
	"github.com/cairn-rag/cairn/internal/extract/pdf"
	"github.com/cairn-rag/cairn/internal/extract/table"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// parser reads one file after another inside the child. It starts pdfium with
// the first PDF, so that text files do not wait for it.
type parser struct {
	cacheDir    string
	scratch     string // folder for files that are not of a result; it goes with the child
	tools       format.Tools
	isUnioffice bool                           // it reads DOCX, PPTX and XLSX
	starting    func(start func() error) error // runs start, which loads pdfium
	working     func()                         // starts the time limit again
	pages       func(read, all int)            // tells how many pages were read
	pdfs        *pdf.Reader
	office      *libreoffice.Office
}

// close frees pdfium and LibreOffice if they were started.
func (p *parser) close(ctx context.Context) error {
	if p.office != nil {
		p.office.Close()
	}
	if p.pdfs == nil {
		return nil
	}
	return p.pdfs.Close(ctx)
}

// startPDF starts pdfium with the first PDF, so that other files do not wait for it.
func (p *parser) startPDF(ctx context.Context) error {
	if p.pdfs != nil {
		return nil
	}
	err := p.starting(func() (err error) {
		if p.pdfs, err = pdf.New(ctx, pdf.Config{CacheDir: p.cacheDir}); err != nil && p.cacheDir != "" {
			p.pdfs, err = pdf.New(ctx, pdf.Config{}) // the cache lacks it, and this child may not write there
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("start pdfium: %w", err)
	}
	return nil
}

// read extracts one file. Errors that clients may see are *knowledge.Error.
func (p *parser) read(ctx context.Context, in Input) (format.Result, error) {
	source, f, err := p.open(in)
	if err != nil {
		return format.Result{}, err
	}
	assumed := ""
	source.Assumed = &assumed
	result, err := f.read(ctx, p, source)
	if err != nil {
		return format.Result{}, err
	}
	result.Layout.Metadata = charset.Note(result.Layout.Metadata, assumed)
	if result.Layout.MediaType == "" {
		result.Layout.MediaType = source.MediaType
	}
	tidy(&result.Layout)
	return result, check(result, in.Options.Describe)
}

// open detects the format of a file and checks its size.
func (p *parser) open(in Input) (format.Source, Format, error) {
	head, size, err := in.head()
	if err != nil {
		return format.Source{}, Format{}, err
	}
	mediaType, err := Sniff(in.Name, in.MediaType, head)
	if err != nil {
		return format.Source{}, Format{}, err
	}
	kind, _, _ := strings.Cut(mediaType, ";")
	source := format.Source{
		Name: in.Name, MediaType: kind, Kind: nameOf(kind), Charset: charset.Declared(mediaType), Path: in.Path, Data: in.Data, Size: size,
		Folder: in.Folder, Options: in.Options, Tools: p.tools, MoreTime: p.working, Pages: p.pages,
	}
	f, _ := FormatOf(kind) // Sniff returned it
	return source, f, checkSize(size, f, head)
}

func checkSize(size int64, f Format, head []byte) error {
	limit := int64(charset.MaxText)
	switch {
	case !f.IsText:
		if f.MaxBytes > 0 && size > f.MaxBytes {
			return knowledge.Errorf(knowledge.CodeTooLarge, "%s may have %d MB at most; split it", f.Name, f.MaxBytes>>20)
		}
		return nil
	case strings.HasPrefix(string(head), "\xff\xfe"), strings.HasPrefix(string(head), "\xfe\xff"):
		limit *= 2 // UTF-16
	}
	if size > limit {
		return charset.TooLong()
	}
	return nil
}

// tidy cleans text that the file wrote as character references: the file's own
// characters were cleaned before it was parsed. The lines of PDF pages are left
// as they are, because they were cleaned letter by letter and have character
// offsets. It then marks the captions of tables.
func tidy(layout *knowledge.Layout) {
	layout.Title = charset.Clean(layout.Title)
	kept := layout.Blocks[:0]
	for _, b := range layout.Blocks {
		if len(b.Lines) == 0 {
			b.Text, b.Header = charset.Clean(b.Text), charset.Clean(b.Header)
		}
		for i := range b.Cells {
			b.Cells[i].Text = charset.Clean(b.Cells[i].Text)
		}
		if strings.TrimSpace(b.Text) != "" || b.Figure != "" {
			kept = append(kept, b)
		}
	}
	table.MarkCaptions(kept)
	layout.Blocks = kept
}

// check reports a result with no text or with too much text as an error. A file
// without text of its own may have pictures or attachments with text, or pages that a
// model looks at.
func check(result format.Result, describe bool) error {
	total := 0
	for _, b := range result.Layout.Blocks {
		total += len(b.Text) + len(knowledge.BlockSeparator)
	}
	switch {
	case len(result.Layout.Blocks) == 0 && len(result.Assets) == 0 && len(result.Children) == 0 && (!describe || len(result.Layout.Pages) == 0):
		return knowledge.Errorf(knowledge.CodeEmpty, "there is no text in the document; send one with text in it")
	case total > charset.MaxText+charset.MaxText/4: // block and cell separators add to the text
		return charset.TooLong()
	}
	return nil
}
