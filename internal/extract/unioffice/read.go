//go:build unioffice

package unioffice

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/unidoc/unioffice/document"
	"github.com/unidoc/unioffice/presentation"
	"github.com/unidoc/unioffice/schema/soo/wml"
	"github.com/unidoc/unioffice/spreadsheet"
	"github.com/unidoc/unioffice/spreadsheet/reference"

	"github.com/cairn-rag/cairn/internal/extract/container"
	"github.com/cairn-rag/cairn/internal/extract/format"
	"github.com/cairn-rag/cairn/internal/extract/office"
	"github.com/cairn-rag/cairn/internal/extract/table"
)

// Read extracts a document of a kind, as ooxml.Kind names them, after SetLicense.
// Errors for which the document is at fault are *knowledge.Error: corrupt,
// parse_limit or too_large.
func Read(s format.Source, kind string) (format.Result, error) {
	zip, err := container.Open(s.Path) // which bounds what it unpacks to
	if err != nil {
		return format.Result{}, err
	}
	if err := zip.Close(); err != nil {
		return format.Result{}, fmt.Errorf("close document: %w", err)
	}
	doc := office.New(s)
	switch kind {
	case "word":
		err = readWord(s.Path, doc)
	case "ppt":
		err = readPresentation(s.Path, doc)
	case "xl":
		err = readWorkbook(s.Path, doc)
	default:
		err = fmt.Errorf("unioffice cannot read a document of the kind %q", kind)
	}
	if err != nil {
		return format.Result{}, err
	}
	return doc.Finish("")
}

func readWord(path string, doc *office.Document) error {
	file, err := document.Open(path)
	if err != nil {
		return container.Damaged(err)
	}
	defer func() { _ = file.Close() }() // it was only read
	addWord(doc, file)
	return doc.Err()
}

func readPresentation(path string, doc *office.Document) error {
	file, err := presentation.Open(path)
	if err != nil {
		return container.Damaged(err)
	}
	defer func() { _ = file.Close() }() // it was only read
	addPresentation(doc, file)
	return doc.Err()
}

func readWorkbook(path string, doc *office.Document) error {
	file, err := spreadsheet.Open(path)
	if err != nil {
		return container.Damaged(err)
	}
	defer func() { _ = file.Close() }() // it was only read
	return addWorkbook(doc, file)
}

func addWord(doc *office.Document, file *document.Document) {
	items := file.ExtractText().Items
	runs := make([]run, len(items))
	for i, item := range items {
		runs[i] = run{paragraph: item.Paragraph, text: item.Text, level: headingLevel(item.Paragraph)}
		if in := item.TableInfo; in != nil {
			runs[i].table, runs[i].row, runs[i].column = in.Table, in.RowIndex, in.ColIndex
		}
	}
	addRuns(doc, runs)
}

// headingLevel returns the level of a paragraph whose style is Word's own style for
// headings, else 0.
func headingLevel(p *wml.CT_P) int {
	if p == nil || p.PPr == nil || p.PPr.PStyle == nil {
		return 0
	}
	digits, ok := strings.CutPrefix(p.PPr.PStyle.ValAttr, "Heading")
	level, err := strconv.Atoi(digits)
	if !ok || err != nil {
		return 0
	}
	return level
}

func addPresentation(doc *office.Document, file *presentation.Presentation) {
	for i, slide := range file.ExtractText().Slides {
		doc.Slide(i+1, "", false)
		runs := make([]run, len(slide.Items))
		for i, item := range slide.Items {
			runs[i] = run{paragraph: item.Paragraph, text: item.Text}
			if in := item.TableInfo; in != nil {
				runs[i].table, runs[i].row, runs[i].column = in.Table, in.RowIndex, in.ColIndex
			}
		}
		addRuns(doc, runs)
	}
}

func addWorkbook(doc *office.Document, file *spreadsheet.Workbook) error {
	sheets := file.Sheets()
	for i, text := range file.ExtractText().Sheets {
		if i >= len(sheets) {
			break
		}
		out := doc.Sheet(sheets[i].Name(), false)
		var cells []table.Cell
		row := 0
		for _, c := range text.Cells {
			at, err := reference.ParseCellReference(c.Cell.Reference())
			if err != nil {
				continue // a cell without a place
			}
			if int(at.RowIdx) != row && row > 0 {
				if err := out.Row(row, cells); err != nil {
					return err
				}
				cells = nil
			}
			row = int(at.RowIdx)
			cells = withCell(cells, int(at.ColumnIdx), c.Text)
		}
		if err := out.Row(row, cells); err != nil {
			return err
		}
		if err := out.End(); err != nil {
			return err
		}
	}
	return doc.Err()
}
