package extract

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/cairn-rag/cairn/internal/extract/align"
	"github.com/cairn-rag/cairn/internal/extract/container"
	"github.com/cairn-rag/cairn/internal/extract/format"
	"github.com/cairn-rag/cairn/internal/extract/libreoffice"
	"github.com/cairn-rag/cairn/internal/extract/odf"
	"github.com/cairn-rag/cairn/internal/extract/ole"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// The values of Layout.Reader of office documents: which programs read them.
const (
	readByOwn         = "own"
	readByUnioffice   = "unioffice"
	readByLibreOffice = "libreoffice" // converted it, for Cairn's reader

	// withPages follows the reader of the text if the pages come from LibreOffice.
	withPages = "+libreoffice"
)

// OfficePackages are the Debian packages of LibreOffice that conversions need.
const OfficePackages = "libreoffice-writer libreoffice-calc libreoffice-impress"

// pagesTimeout bounds the conversion for the pages of a document whose text is read
// already. Without it a document that LibreOffice chokes on would have no text.
const pagesTimeout = 20 * time.Second

// PagesAsset is the name of the asset that shows the pages of an office document: the
// PDF to which its boxes belong.
const PagesAsset = "pages.pdf"

// conversion is how LibreOffice converts a format: into an OpenDocument format, for
// the text, and into PDF, for the pages. Spreadsheets have no pages: their sheets are
// tables.
type conversion struct {
	source string // extension of the format
	text   string // filter
	pdf    string // filter, "" = no pages
}

var conversions = map[string]conversion{
	TypeDOC:     {"doc", libreoffice.FilterODT, libreoffice.FilterTextPDF},
	TypeRTF:     {"rtf", libreoffice.FilterODT, libreoffice.FilterTextPDF},
	TypeDOCX:    {"docx", libreoffice.FilterODT, libreoffice.FilterTextPDF},
	TypeODT:     {"odt", libreoffice.FilterODT, libreoffice.FilterTextPDF},
	TypePPT:     {"ppt", libreoffice.FilterODP, libreoffice.FilterSlidesPDF},
	TypePPTX:    {"pptx", libreoffice.FilterODP, libreoffice.FilterSlidesPDF},
	TypeODP:     {"odp", libreoffice.FilterODP, libreoffice.FilterSlidesPDF},
	TypeKeynote: {"key", libreoffice.FilterODP, libreoffice.FilterSlidesPDF},
	TypeXLS:     {"xls", libreoffice.FilterODS, ""},
	TypeXLSX:    {"xlsx", libreoffice.FilterODS, ""},
	TypeODS:     {"ods", libreoffice.FilterODS, ""},
}

// readByConversion reads a document of a format that only LibreOffice reads.
func readByConversion(ctx context.Context, p *parser, s format.Source) (format.Result, error) {
	if isMessage(s) {
		s.MediaType = TypeMSG
		r, err := readMSG(ctx, p, s)
		r.Layout.MediaType = TypeMSG
		return r, err
	}
	if s.Tools.LibreOffice == "" {
		return format.Result{}, s.Tools.Missing(s.Kind, "LibreOffice", OfficePackages)
	}
	folder, err := p.workFolder()
	if err != nil {
		return format.Result{}, err
	}
	defer func() { _ = os.RemoveAll(folder) }() // a leftover goes with the child
	c := conversions[s.MediaType]
	text := filepath.Join(folder, "text")
	targets := []libreoffice.Target{{Filter: c.text, Path: text}}
	pages := filepath.Join(folder, PagesAsset)
	if c.pdf != "" {
		targets = append(targets, libreoffice.Target{Filter: c.pdf, Path: pages})
	}
	if err := p.convert(ctx, s, folder, targets); err != nil {
		return format.Result{}, unreadable(s, err)
	}
	converted := s
	converted.Path = text
	result, err := odf.Read(converted)
	if knowledge.IsCode(err, knowledge.CodeEncrypted) && s.Options.Password != "" {
		// LibreOffice encrypts what it makes of a document for which it was given a
		// password, even if the document is not encrypted.
		result, err = readDecrypted(converted)
	}
	if err != nil {
		return format.Result{}, err
	}
	result.Layout.Reader = readByLibreOffice
	if c.pdf != "" {
		noteMissing(p.align(ctx, s, pages, &result))
	}
	return result, nil
}

// noteMissing logs why a document whose text is read has no pages.
func noteMissing(err error) {
	if err != nil {
		fmt.Fprintf(os.Stderr, "no pages of an office document: %v\n", err)
	}
}

// unreadable returns the error of a document that LibreOffice cannot convert.
func unreadable(s format.Source, err error) error {
	switch {
	case !errors.Is(err, libreoffice.ErrUnreadable):
		return container.Damaged(err)
	case s.Options.Password != "":
		return knowledge.Errorf(knowledge.CodeEncrypted,
			"the document is damaged, or it cannot be opened with this password; send it with the right override.password, or without a password").WithCause(err)
	case ole.IsProtected(s.Path):
		return knowledge.Errorf(knowledge.CodeEncrypted, "the document asks for a password; send it with override.password, or without a password")
	}
	return container.Damaged(err)
}

// addPages adds pages and line boxes to the result of a document whose text is read.
// It adds none if LibreOffice is not installed or cannot convert the document in time.
func (p *parser) addPages(ctx context.Context, s format.Source, kind string, result *format.Result) error {
	c := conversions[kind]
	if s.Tools.LibreOffice == "" || c.pdf == "" {
		return nil
	}
	folder, err := p.workFolder()
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(folder) }() // a leftover goes with the child
	pages := filepath.Join(folder, PagesAsset)
	if err := p.startOffice(ctx, s); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, pagesTimeout)
	defer cancel()
	s.MediaType = kind
	if err := p.convert(ctx, s, folder, []libreoffice.Target{{Filter: c.pdf, Path: pages}}); err != nil {
		noteMissing(err)
		return nil
	}
	result.Layout.Reader += withPages
	noteMissing(p.align(ctx, s, pages, result))
	return nil
}

// align adds the pages and line boxes of a PDF of the same document to a result, and
// keeps the PDF as an asset.
func (p *parser) align(ctx context.Context, s format.Source, pages string, result *format.Result) error {
	size, err := sizeOf(pages)
	if err != nil {
		return err
	}
	read, err := readPDF(ctx, p, format.Source{Path: pages, Size: size, MediaType: TypePDF, MoreTime: s.MoreTime, Pages: s.Pages, Options: format.Options{Describe: s.Options.Describe}})
	switch {
	case knowledge.IsCode(err, knowledge.CodeEmpty): // pictures only
		return nil
	case err != nil:
		return err
	}
	if !slices.ContainsFunc(result.Layout.Blocks, func(b knowledge.Block) bool { return b.Text != "" }) {
		// The text is in drawings of a kind that is not read.
		result.Layout.Blocks = append(result.Layout.Blocks, read.Layout.Blocks...)
		result.Layout.Pages = read.Layout.Pages
	} else {
		align.Align(&result.Layout, read.Layout)
	}
	if s.Folder == "" {
		return nil
	}
	if err := os.Rename(pages, filepath.Join(s.Folder, PagesAsset)); err != nil {
		return fmt.Errorf("keep the pages: %w", err)
	}
	result.Assets = append(result.Assets, format.File{Name: PagesAsset, MediaType: TypePDF, File: PagesAsset})
	return nil
}

// convert converts a document, which LibreOffice sees under a name of its kind.
func (p *parser) convert(ctx context.Context, s format.Source, folder string, targets []libreoffice.Target) error {
	if err := p.startOffice(ctx, s); err != nil {
		return err
	}
	link := filepath.Join(folder, "source."+conversions[s.MediaType].source)
	path, err := filepath.Abs(s.Path)
	if err == nil {
		err = os.Symlink(path, link)
	}
	if err != nil {
		return fmt.Errorf("name the document: %w", err)
	}
	return p.office.Convert(ctx, libreoffice.Job{Path: link, Password: s.Options.Password, Targets: targets})
}

// startOffice starts LibreOffice with the first document that needs it. The time that
// this takes does not count against the document.
func (p *parser) startOffice(ctx context.Context, s format.Source) error {
	if p.office == nil {
		folder, err := p.workFolder()
		if err != nil {
			return err
		}
		p.office = libreoffice.New(s.Tools.LibreOffice, folder, s.Tools.Confined)
	}
	if p.office.IsRunning() {
		return nil
	}
	s.MoreTime()
	if err := p.office.Start(ctx); err != nil {
		return fmt.Errorf("start LibreOffice: %w", err)
	}
	s.MoreTime()
	return nil
}

// workFolder returns a new folder for files that are not of the result.
func (p *parser) workFolder() (string, error) {
	folder, err := os.MkdirTemp(p.scratch, "")
	if err != nil {
		return "", fmt.Errorf("make a folder for a conversion: %w", err)
	}
	return folder, nil
}

// sizeOf returns the size of a file that a program has made.
func sizeOf(path string) (int64, error) {
	info, err := os.Stat(path)
	if err != nil {
		return 0, fmt.Errorf("stat a converted file: %w", err)
	}
	return info.Size(), nil
}
