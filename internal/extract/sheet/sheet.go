// Package sheet reads Excel workbooks (XLSX): the cells of every sheet as they are
// shown, row by row, and the comments, text boxes, charts, pictures and embedded
// documents on the sheets.
package sheet

import (
	"errors"
	"fmt"
	"strings"

	"github.com/cairn-rag/cairn/internal/extract/container"
	"github.com/cairn-rag/cairn/internal/extract/format"
	"github.com/cairn-rag/cairn/internal/extract/markup"
	"github.com/cairn-rag/cairn/internal/extract/office"
	"github.com/cairn-rag/cairn/internal/extract/ooxml"
	"github.com/cairn-rag/cairn/internal/extract/table"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/xuri/excelize/v2"
)

// maxInMemory is the size in bytes above which a sheet is read from a temporary file.
const maxInMemory = 16 << 20

// ErrBinary is returned for a workbook whose cells are in a binary form (XLSB).
var ErrBinary = errors.New("the workbook is in a binary form")

// Read extracts a workbook. Errors for which the workbook is at fault are
// *knowledge.Error: corrupt, parse_limit or too_large. It returns ErrBinary for a
// workbook that it cannot read.
func Read(s format.Source) (format.Result, error) {
	zip, err := container.Open(s.Path)
	if err != nil {
		return format.Result{}, err
	}
	defer func() { _ = zip.Close() }() // it was only read
	doc := office.New(s)
	book, ok, err := ooxml.OpenWorkbook(zip, doc)
	if err != nil {
		return format.Result{}, err
	}
	if !ok {
		return format.Result{}, ErrBinary
	}
	file, err := open(s)
	if err != nil {
		return format.Result{}, container.Damaged(err)
	}
	defer func() { _ = file.Close() }() // it was only read
	r := reader{zip: zip, doc: doc, book: book, file: file, exact: s.Options.Exact, calculator: calculator{open: func() (*excelize.File, error) { return open(s) }}}
	if err := r.loadTexts(); err != nil {
		return format.Result{}, err
	}
	r.writeScripts()
	for _, sheet := range book.Sheets {
		if err := r.sheet(sheet); err != nil {
			return format.Result{}, err
		}
	}
	r.calculator.close(&doc.Result.Layout)
	title, err := book.Properties()
	if err != nil {
		return format.Result{}, err
	}
	return doc.Finish(title)
}

func open(s format.Source) (*excelize.File, error) {
	file, err := excelize.OpenFile(s.Path, excelize.Options{
		UnzipSizeLimit: container.MaxUnpacked, UnzipXMLSizeLimit: maxInMemory, TmpDir: s.Folder,
		// Dates in the form of the reader's country are written unambiguously.
		ShortDatePattern: "yyyy-mm-dd", LongDatePattern: "yyyy-mm-dd", LongTimePattern: "hh:mm:ss",
	})
	if err == nil {
		showAllDigits(file)
		showSigns(file)
	}
	return file, err
}

type reader struct {
	zip        *container.Container
	doc        *office.Document
	book       *ooxml.Workbook
	file       *excelize.File
	lacksTexts bool // the workbook has no texts for cells that name one by its number
	calculator calculator
	exact      bool // add the stored values of numbers that are shown rounded
}

// textsPart is where the library looks for the texts of cells, whatever the workbook says.
const textsPart = "xl/sharedStrings.xml"

// loadTexts puts the texts of cells where the library looks for them. Without them it would
// show the number of a text in its place.
func (r *reader) loadTexts() error {
	part := r.book.Texts()
	if part == "" || strings.EqualFold(part, textsPart) {
		r.lacksTexts = !r.zip.Has(textsPart)
		return nil
	}
	data, err := r.zip.Bytes(part, container.MaxUnpacked)
	if err != nil {
		return err
	}
	r.file.Pkg.Store(textsPart, data)
	return nil
}

// sheet adds a sheet: its rows, then what is on it.
func (r *reader) sheet(s ooxml.WorkbookSheet) error {
	if s.Part == "" {
		r.doc.Heading(1, s.Name+" (missing sheet)")
		return nil
	}
	out := r.doc.Sheet(s.Name, s.IsHidden)
	var headerFooter *markup.Node
	if !s.IsChart {
		rest, err := r.readRest(s.Part)
		if err != nil {
			return err
		}
		if rest.hasTexts && r.lacksTexts {
			return container.Damaged(errors.New("the texts of its cells are missing"))
		}
		if err := r.rows(out, s.Name, rest); err != nil {
			return err
		}
		headerFooter = rest.headerFooter
	}
	comments, err := r.book.Comments(s.Part)
	if err != nil {
		return err
	}
	for _, c := range comments {
		if column, row, err := excelize.CellNameToCoordinates(c.Cell); err == nil {
			out.Note(column-1, row, c.Author, c.Text)
		}
	}
	if err := out.End(); err != nil {
		return err
	}
	ooxml.AddHeaderFooter(r.doc, headerFooter)
	return r.book.AddDrawings(s.Part)
}

// rows adds the rows of a sheet. The library ends at a place that it cannot parse as
// if the sheet ended there, so the number of the last row tells whether it has read
// all of them.
func (r *reader) rows(out *office.Sheet, name string, rest rest) error {
	rows, err := r.file.Rows(name)
	if err != nil {
		return container.Damaged(fmt.Errorf("open sheet: %w", err))
	}
	defer func() { _ = rows.Close() }() // it was only read
	stored, err := r.stored(name)
	if err != nil {
		return err
	}
	defer stored.close()
	number := 0
	for rows.Next() {
		if number++; number > excelize.TotalRows {
			return tooManyRows()
		}
		texts, err := rows.Columns()
		if err != nil {
			return container.Damaged(fmt.Errorf("read row %d: %w", number, err))
		}
		if texts, err = r.computed(name, number, texts, rest.formulas.byRow[number]); err != nil {
			return err
		}
		cells := rest.cells(number, texts)
		if err := stored.addTo(cells); err != nil {
			return err
		}
		if len(texts) == 0 {
			continue
		}
		if err := out.Row(number, cells); err != nil {
			return err
		}
	}
	if rows.Error() != nil {
		return tooManyRows()
	}
	if number < rest.lastRow {
		return container.Damaged(fmt.Errorf("the sheet ends at row %d of %d", number, rest.lastRow))
	}
	return nil
}

// computed returns the texts of a row with the values of the formulas in some columns.
func (r *reader) computed(sheet string, row int, texts []string, columns []int) ([]string, error) {
	for _, column := range columns {
		value, err := r.calculator.value(sheet, column, row)
		if err != nil {
			return nil, err
		}
		for value != "" && len(texts) <= column {
			texts = append(texts, "")
		}
		if value != "" {
			texts[column] = value
		}
	}
	return texts, nil
}

func tooManyRows() error {
	return knowledge.Errorf(knowledge.CodeParseLimit, "a sheet has more than %d rows; split it", excelize.TotalRows)
}

// maxCovered is the number of columns up to which a row is filled up with cells that
// others cover.
const maxCovered = 256

// cells returns the cells of a row with the ranges that are merged.
func (r *rest) cells(number int, texts []string) []table.Cell {
	cells := make([]table.Cell, len(texts))
	for i, text := range texts {
		cells[i].Text = withDigits(text)
	}
	merges := r.mergedAt(number)
	for _, m := range merges { // a cell that is covered from above may be the last one
		for m.top < number && m.top < m.bottom && m.first >= len(cells) && len(cells) < maxCovered {
			cells = append(cells, table.Cell{})
		}
	}
	for _, m := range merges {
		for column := m.first; column <= m.last && column < len(cells); column++ {
			cells[column].Covered = true
		}
		if m.top == number && m.first < len(cells) {
			cells[m.first].Covered = false
			cells[m.first].Rows, cells[m.first].Columns = m.bottom-m.top+1, m.last-m.first+1
		}
	}
	return cells
}
