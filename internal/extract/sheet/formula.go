package sheet

import (
	"bytes"
	"regexp"
	"time"

	"github.com/cairn-rag/cairn/internal/extract/container"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/xuri/excelize/v2"
)

const (
	// maxComputed is the number of formulas of a workbook that are computed, and
	// computing is the time for all of them.
	maxComputed = 10_000
	computing   = 10 * time.Second
	// maxNamed is the number of cells with formulas without a value that are known by
	// their name.
	maxNamed = 1_000_000
)

var (
	cellName   = regexp.MustCompile(`\sr=["']([A-Z]{1,3})(\d{1,7})["']`)
	textResult = regexp.MustCompile(`\st=["']str["']`)
)

// formulas finds the cells with a formula whose value the file does not have, as files
// that a library wrote and no spreadsheet program has opened.
type formulas struct {
	byRow map[int][]int // columns from 0 on
	count int

	cell       []byte // the tag of the open cell
	hasFormula bool
	hasValue   bool
	hasEmpty   bool // the cell has an element for its value, which may be empty
}

// add follows the tags of a sheet. piece is what ends with the tag.
func (f *formulas) add(piece, tag []byte) {
	name := localName(tag)
	switch {
	case len(name) != 1 && string(name) != "/c" && string(name) != "/v":
	case name[0] == 'c':
		f.cell, f.hasFormula, f.hasValue, f.hasEmpty = append(f.cell[:0], tag...), false, false, false
	case name[0] == 'f':
		f.hasFormula = true
	case name[0] == 'v':
		f.hasEmpty = true
	case string(name) == "/v":
		f.hasValue = f.hasValue || len(piece) > len(tag)
	case string(name) == "/c":
		emptyText := f.hasEmpty && textResult.Match(f.cell) // a result like any other
		if f.hasFormula && !f.hasValue && !emptyText {
			f.keep()
		}
	}
}

// localName returns the name of a tag without its namespace, with the slash of an end
// tag.
func localName(tag []byte) []byte {
	name := bytes.TrimPrefix(tag, []byte("<"))
	end := bytes.HasPrefix(name, []byte("/"))
	name = name[:max(bytes.IndexAny(name[min(1, len(name)):], " \t\r\n/>")+1, 0)]
	if colon := bytes.IndexByte(name, ':'); colon >= 0 {
		if name = name[colon+1:]; end {
			return append([]byte("/"), name...)
		}
	}
	return name
}

func (f *formulas) keep() {
	found := cellName.FindSubmatch(f.cell)
	if found == nil || f.count >= maxNamed {
		return
	}
	column, row, err := excelize.CellNameToCoordinates(string(found[1]) + string(found[2]))
	if err != nil {
		return
	}
	if f.byRow == nil {
		f.byRow = map[int][]int{}
	}
	f.byRow[row] = append(f.byRow[row], column-1)
	f.count++
}

// calculator computes formulas in a copy of the workbook of its own, because that
// reads whole sheets.
type calculator struct {
	open     func() (*excelize.File, error)
	file     *excelize.File
	computed int
	until    time.Time
	failed   int // formulas that have no value

	known  map[string]computed // by the sheet and the name of the cell
	broken []place             // cells whose formula the library cannot compute
}

// value returns the value of a formula as it is shown. If it cannot be computed, it
// returns the formula.
func (c *calculator) value(sheet string, column, row int) (string, error) {
	if c.file == nil {
		file, err := c.open()
		if err != nil {
			return "", container.Damaged(err)
		}
		c.file, c.until = file, time.Now().Add(computing)
	}
	cell, err := excelize.CoordinatesToCellName(column+1, row)
	if err != nil {
		return "", nil // no such cell
	}
	if result := c.compute(sheet, cell); result.ok && !c.restsOnBroken(sheet, cell) {
		return result.value, nil
	}
	c.failed++
	formula, err := c.file.GetCellFormula(sheet, cell)
	if err != nil || formula == "" {
		return "", nil // the warning counts it
	}
	return "=" + formula, nil
}

// computed is what came of a formula.
type computed struct {
	value string
	ok    bool // the library can compute it within the bounds, and all cells that it uses
}

// compute returns what comes of a formula.
func (c *calculator) compute(sheet, cell string) computed {
	key := sheet + "!" + cell
	if result, ok := c.known[key]; ok {
		return result
	}
	if c.computed >= maxComputed || time.Now().After(c.until) {
		return computed{}
	}
	c.computed++
	done := make(chan computed, 1)
	go func() { // one formula may take longer than all may
		defer func() {
			if recover() != nil { // a formula that the library does not expect
				done <- computed{}
			}
		}()
		value, err := c.file.CalcCellValue(sheet, cell)
		done <- computed{value, err == nil}
	}()
	timer := time.NewTimer(time.Until(c.until))
	defer timer.Stop()
	var result computed
	select {
	case result = <-done:
	case <-timer.C:
	}
	c.keep(sheet, cell, result)
	return result
}

// close closes the copy, and says in the layout what could not be computed.
func (c *calculator) close(layout *knowledge.Layout) {
	if c.file == nil {
		return
	}
	if time.Now().Before(c.until) { // else a formula may still be computed
		_ = c.file.Close() // it was only read
	}
	if c.failed > 0 {
		layout.Warn(knowledge.WarnFormulas, nil, "%d formulas of the workbook have no stored value and could not be computed, so that the formulas stand in the text; open the file in a spreadsheet program, save it, and send it again", c.failed)
	}
}
