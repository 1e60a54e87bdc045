package extract

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/cairn-rag/cairn/internal/extract/format"
	"github.com/cairn-rag/cairn/internal/extract/libreoffice"
	"github.com/cairn-rag/cairn/internal/extract/ooxml"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// makeTimeout bounds the conversion of a document for somebody who waits for its pages.
const makeTimeout = 40 * time.Second

// MakesPages reports whether LibreOffice makes pages of documents of a media type.
func MakesPages(mediaType string) bool { return pagesFilter(mediaType) != "" }

// IsWorkbook reports whether a media type is a kind of spreadsheet.
func IsWorkbook(mediaType string) bool {
	return pagesFilter(mediaType) == libreoffice.FilterWorkbooksPDF
}

// pagesFilter returns the filter with which LibreOffice makes a PDF of a format, "" = it
// makes none.
func pagesFilter(mediaType string) string {
	c, ok := conversions[mediaType]
	if ok && c.pdf == "" {
		return libreoffice.FilterWorkbooksPDF
	}
	return c.pdf
}

// MakePages has LibreOffice make a PDF of an office document, of the name PagesAsset in the
// folder of the input, and returns the layout of that PDF. It blocks until a child is free.
// Errors for which the document is at fault are those of Extract; needs_component means
// that LibreOffice is not installed, and parse_limit that the conversion took too long.
func (p *Pool) MakePages(ctx context.Context, in Input) (knowledge.Layout, error) {
	if in.Folder == "" {
		return knowledge.Layout{}, errors.New("extract: Input.Folder is empty")
	}
	result, err := p.run(ctx, request{Input: in, MakePages: true})
	return result.Layout, err
}

// makePages makes the pages of one file.
func (p *parser) makePages(ctx context.Context, in Input) (format.Result, error) {
	s, f, err := p.open(in)
	if err != nil {
		return format.Result{}, err
	}
	if !MakesPages(s.MediaType) {
		return format.Result{}, knowledge.Errorf(knowledge.CodeNotFound, "there are no pages of %s", f.Name)
	}
	if s.Tools.LibreOffice == "" {
		return format.Result{}, s.Tools.Missing(s.Kind, "LibreOffice", OfficePackages)
	}
	isOld, err := isOldOffice(s.Path)
	if err != nil {
		return format.Result{}, err
	}
	if !isOld {
		plain, remove, err := decrypted(s)
		if err != nil {
			return format.Result{}, err
		}
		defer remove()
		s = plain
		s.MediaType = officeKind(s)
	}
	pages, remove, err := p.convertToPages(ctx, s)
	if err != nil {
		return format.Result{}, err
	}
	defer remove()
	size, err := sizeOf(pages)
	if err != nil {
		return format.Result{}, err
	}
	// A page without text has no words to find, and is a page all the same.
	result, err := readPDF(ctx, p, format.Source{Path: pages, Size: size, MediaType: TypePDF, MoreTime: s.MoreTime, Pages: s.Pages, Options: format.Options{Describe: true}})
	if err != nil {
		return format.Result{}, err
	}
	if err := os.Rename(pages, filepath.Join(s.Folder, PagesAsset)); err != nil {
		return format.Result{}, fmt.Errorf("keep the pages: %w", err)
	}
	return format.Result{Layout: result.Layout}, nil
}

// convertToPages converts a document into a PDF in a folder that remove removes.
func (p *parser) convertToPages(ctx context.Context, s format.Source) (pages string, remove func(), err error) {
	folder, err := p.workFolder()
	if err != nil {
		return "", nil, err
	}
	remove = func() { _ = os.RemoveAll(folder) } // a leftover goes with the child
	pages = filepath.Join(folder, PagesAsset)
	if err = p.startOffice(ctx, s); err == nil {
		limited, cancel := context.WithTimeout(ctx, makeTimeout)
		defer cancel()
		err = p.convert(limited, s, folder, []libreoffice.Target{{Filter: pagesFilter(s.MediaType), Path: pages}})
	}
	if err == nil {
		return pages, remove, nil
	}
	remove()
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		return "", nil, knowledge.Errorf(knowledge.CodeParseLimit, "LibreOffice did not convert the document within %s; split it or make it simpler", makeTimeout).WithCause(err)
	}
	return "", nil, unreadable(s, err)
}

// officeKind returns the media type of an office document: of those of Microsoft Office
// since 2007 the content decides, not the name.
func officeKind(s format.Source) string {
	kind, err := ooxml.Kind(s.Path)
	if err != nil {
		return s.MediaType // it is of another kind, or LibreOffice reports what is wrong
	}
	switch kind {
	case "word":
		return TypeDOCX
	case "ppt":
		return TypePPTX
	case "xl":
		return TypeXLSX
	}
	return s.MediaType
}
