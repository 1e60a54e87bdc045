package sheet

import (
	"regexp"
	"strconv"

	"github.com/xuri/excelize/v2"
)

// rawFormat is the id of no number format. The library shows numbers with such an id
// as they are stored.
const rawFormat = 9999

// showAllDigits makes the library show numbers in the general format with all their
// digits. It would round them to nine, which makes other numbers of long identifiers.
// A workbook without styles shows all numbers as they are stored.
func showAllDigits(f *excelize.File) {
	if f.Styles == nil || f.Styles.CellXfs == nil {
		return
	}
	for i := range f.Styles.CellXfs.Xf {
		if id := f.Styles.CellXfs.Xf[i].NumFmtID; id == nil || *id == 0 {
			f.Styles.CellXfs.Xf[i].NumFmtID = new(rawFormat)
		}
	}
}

// exponent matches a large number with more digits than a cell in the scientific
// format shows.
var exponent = regexp.MustCompile(`^-?\d\.\d{6,}E\+(?:0?\d|1\d|20)$`)

// withDigits returns the digits of a large number without an exponent.
func withDigits(text string) string {
	if len(text) < 10 || !exponent.MatchString(text) {
		return text
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return text
	}
	return strconv.FormatFloat(f, 'f', -1, 64)
}
