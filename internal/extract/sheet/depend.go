package sheet

import (
	"regexp"
	"strings"
	"time"

	"github.com/xuri/excelize/v2"
)

var (
	quotedText = regexp.MustCompile(`"[^"]*"`)
	// reference is a cell or a range of cells in a formula, perhaps of another sheet.
	reference = regexp.MustCompile(`(?:('(?:[^']|'')+'|[\p{L}\p{N}_.]+)!)?\$?\b([A-Z]{1,3})\$?(\d{1,7})(?::\$?([A-Z]{1,3})\$?(\d{1,7}))?\b`)
)

// place is a cell of a workbook, from 1 on.
type place struct {
	sheet       string
	column, row int
}

// keep remembers what came of a formula.
func (c *calculator) keep(sheet, cell string, result computed) {
	if c.known == nil {
		c.known = map[string]computed{}
	}
	c.known[sheet+"!"+cell] = result
	if column, row, err := excelize.CellNameToCoordinates(cell); err == nil && !result.ok {
		c.broken = append(c.broken, place{sheet, column, row})
	}
}

// restsOnBroken reports whether a formula uses a cell whose formula the library cannot compute, also
// because of an error such as #DIV/0!: it takes such a cell as empty. Of a range, the cells that were
// computed before are known.
func (c *calculator) restsOnBroken(sheet, cell string) bool {
	formula, err := c.file.GetCellFormula(sheet, cell)
	if err != nil {
		return false
	}
	for _, found := range reference.FindAllStringSubmatch(quotedText.ReplaceAllString(formula, ""), -1) {
		of := sheet
		if found[1] != "" {
			of = strings.ReplaceAll(strings.Trim(found[1], "'"), "''", "'")
		}
		if found[4] != "" && c.hasBroken(of, found[2]+found[3], found[4]+found[5]) || found[4] == "" && c.isBroken(of, found[2]+found[3]) {
			c.keep(sheet, cell, computed{})
			return true
		}
	}
	return false
}

// isBroken reports whether a cell has a formula that cannot be computed, or uses such a cell.
func (c *calculator) isBroken(sheet, cell string) bool {
	if result, ok := c.known[sheet+"!"+cell]; ok {
		return !result.ok
	}
	formula, err := c.file.GetCellFormula(sheet, cell)
	if err != nil || formula == "" || time.Now().After(c.until) {
		return false
	}
	return !c.compute(sheet, cell).ok || c.restsOnBroken(sheet, cell) // a cycle meets a cell that is known
}

// hasBroken reports whether a cell that is known to be broken is in a range.
func (c *calculator) hasBroken(sheet, from, to string) bool {
	left, top, err := excelize.CellNameToCoordinates(from)
	right, bottom, errTo := excelize.CellNameToCoordinates(to)
	if err != nil || errTo != nil {
		return false
	}
	for _, p := range c.broken {
		if p.sheet == sheet && p.column >= left && p.column <= right && p.row >= top && p.row <= bottom {
			return true
		}
	}
	return false
}
