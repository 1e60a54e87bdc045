package sheet

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"

	"github.com/xuri/excelize/v2"

	"github.com/cairn-rag/cairn/internal/extract/container"
	"github.com/cairn-rag/cairn/internal/extract/table"
)

// storedRows reads the rows of a sheet once more, as they are stored. nil reads nothing.
type storedRows struct{ rows *excelize.Rows }

// stored returns the stored rows of a sheet, nil if nobody asked for them.
func (r *reader) stored(name string) (*storedRows, error) {
	if !r.exact {
		return nil, nil
	}
	rows, err := r.file.Rows(name)
	if err != nil {
		return nil, container.Damaged(fmt.Errorf("open sheet: %w", err))
	}
	return &storedRows{rows}, nil
}

func (s *storedRows) close() {
	if s != nil {
		_ = s.rows.Close() // it was only read
	}
}

// addTo reads the next row and adds to its cells the numbers that they show rounded.
func (s *storedRows) addTo(cells []table.Cell) error {
	if s == nil || !s.rows.Next() {
		return nil
	}
	values, err := s.rows.Columns(excelize.Options{RawCellValue: true})
	if err != nil {
		return container.Damaged(fmt.Errorf("read the stored values of a row: %w", err))
	}
	for i := range cells[:min(len(cells), len(values))] {
		cells[i].Exact = exactOf(cells[i].Text, values[i])
	}
	return nil
}

// storedDigits is how many digits of a number spreadsheets keep.
const storedDigits = 15

// ambiguous matches a number that shows all its digits, and would be another one in the notation
// of another language: 1,234 and 1.234.
var ambiguous = regexp.MustCompile(`^\D*\d{1,3}(?:(?:,\d{3})+|\.\d{3})[^\d.,]*$`)

// exactOf returns the number that a cell stores, in the unit in which it is shown: a format may
// show thousands or millions. It returns "" if the cell shows all digits, or something else of the
// number than its digits, such as the day or the year that it stands for.
func exactOf(shown, stored string) string {
	value, err := strconv.ParseFloat(stored, 64)
	if err != nil || math.IsInf(value, 0) || math.IsNaN(value) {
		return ""
	}
	if strings.HasSuffix(shown, "%") {
		value *= 100
	}
	digits := strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' || r == '.' || r == '-' {
			return r
		}
		return -1
	}, shown)
	seen, err := strconv.ParseFloat(digits, 64)
	if err != nil || math.Abs(seen) == math.Abs(round(value)) && !ambiguous.MatchString(shown) {
		return ""
	}
	_, decimals, _ := strings.Cut(digits, ".")
	rounding := .5000001 * math.Pow10(-len(decimals))
	for range 4 { // as it is, in thousands, millions or billions
		if math.Abs(math.Abs(seen)-math.Abs(value)) <= rounding {
			return strconv.FormatFloat(round(value), 'f', -1, 64)
		}
		value /= 1000
	}
	return ""
}

// round returns a number with the digits that spreadsheets keep.
func round(value float64) float64 {
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(value, 'g', storedDigits, 64), 64)
	if err != nil {
		return value
	}
	return rounded
}
