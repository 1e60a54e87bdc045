package extract

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/net/html"

	"github.com/cairn-rag/cairn/internal/extract/charset"
	"github.com/cairn-rag/cairn/internal/extract/format"
	"github.com/cairn-rag/cairn/internal/extract/libreoffice"
	"github.com/cairn-rag/cairn/internal/extract/pdf"
	"github.com/cairn-rag/cairn/internal/extract/text"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// SecondReaderKey is the key of Layout.Metadata that names the second reader of a
// document, whose first reader had a fault: "poppler", "libreoffice" or "text".
const SecondReaderKey = "second_reader"

// errNoSecond means that a format has no second reader, or that its program is missing.
var errNoSecond = errors.New("there is no second reader")

// readSecond reads a document whose reader had a fault in a simpler way, so that its words
// are not lost: with poppler, or as text without marks.
func (p *parser) readSecond(ctx context.Context, in Input) (format.Result, error) {
	source, f, err := p.open(in)
	if err != nil {
		return format.Result{}, err
	}
	assumed := ""
	source.Assumed = &assumed
	result, name, err := p.secondReader(ctx, source, f)
	if err != nil {
		return format.Result{}, err
	}
	if result.Layout.Metadata == nil {
		result.Layout.Metadata = map[string]string{}
	}
	result.Layout.Metadata[SecondReaderKey] = name
	result.Layout.Warn(knowledge.WarnSecondReader, nil, "Cairn failed to read this document as usual because of a defect of its own, and read it in a simpler way (%s): headings and tables may be missing", name)
	result.Layout.Metadata = charset.Note(result.Layout.Metadata, assumed)
	result.Layout.MediaType = source.MediaType
	tidy(&result.Layout)
	return result, check(result, in.Options.Describe)
}

func (p *parser) secondReader(ctx context.Context, s format.Source, f Format) (result format.Result, name string, err error) {
	_, isOffice := conversions[f.MediaType]
	switch {
	case f.MediaType == TypePDF:
		result, err = readWithPoppler(ctx, s)
		return result, "poppler", err
	case isOffice:
		result, err = p.readConverted(ctx, s)
		return result, "libreoffice", err
	case f.MediaType == TypeHTML, f.MediaType == TypeXML, f.MediaType == TypeSVG:
		t, err := s.Text()
		result.Layout.Blocks = text.Plain(withoutTags(t))
		return result, "text", err
	case f.IsText:
		result, err = readPlain(ctx, p, s)
		return result, "text", err
	}
	return result, "", errNoSecond
}

func readWithPoppler(ctx context.Context, s format.Source) (format.Result, error) {
	if s.Tools.PDFToText == "" {
		return format.Result{}, errNoSecond
	}
	return pdf.ReadWithPoppler(ctx, s)
}

// readConverted has LibreOffice make a PDF of an office document and reads that with
// poppler.
func (p *parser) readConverted(ctx context.Context, s format.Source) (format.Result, error) {
	if s.Tools.LibreOffice == "" {
		return format.Result{}, errNoSecond
	}
	folder, err := p.workFolder()
	if err != nil {
		return format.Result{}, err
	}
	defer func() { _ = os.RemoveAll(folder) }() // a leftover goes with the child
	filter := conversions[s.MediaType].pdf
	if filter == "" {
		filter = libreoffice.FilterWorkbooksPDF
	}
	pages := filepath.Join(folder, PagesAsset)
	if err := p.convert(ctx, s, folder, []libreoffice.Target{{Filter: filter, Path: pages}}); err != nil {
		return format.Result{}, err
	}
	converted := s
	converted.Path, converted.MediaType = pages, TypePDF
	if converted.Size, err = sizeOf(pages); err != nil {
		return format.Result{}, err
	}
	return readWithPoppler(ctx, converted)
}

// withoutTags returns the words of a page or of an XML document, a line for each text
// between two tags, without scripts and styles.
func withoutTags(page string) string {
	var words strings.Builder
	skipped := ""
	for z := html.NewTokenizer(strings.NewReader(page)); ; {
		switch z.Next() {
		case html.ErrorToken:
			return words.String()
		case html.StartTagToken:
			if name, _ := z.TagName(); string(name) == "script" || string(name) == "style" {
				skipped = string(name)
			}
		case html.EndTagToken:
			if name, _ := z.TagName(); string(name) == skipped {
				skipped = ""
			}
		case html.TextToken:
			if line := strings.TrimSpace(string(z.Text())); line != "" && skipped == "" {
				words.WriteString(html.UnescapeString(line) + "\n\n")
			}
		}
	}
}
