package sheet_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/xuri/excelize/v2"

	"github.com/cairn-rag/cairn/internal/extract/format"
	"github.com/cairn-rag/cairn/internal/extract/sheet"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// TestOddNumbers reads cells that show something else than their number, or their number in a way
// that can be read in two ways.
func TestOddNumbers(t *testing.T) {
	t.Parallel()
	day := time.Date(2024, 3, 5, 0, 0, 0, 0, time.UTC)
	for name, tc := range map[string]struct {
		format      string
		value       any
		date1904    bool
		want, exact string
	}{
		"a negative number shown red":       {"#,##0.00;[Red]#,##0.00", -1234.5, false, "-1,234.50", ""},
		"a negative number in brackets":     {"#,##0.00;(#,##0.00)", -1234.5, false, "(1,234.50)", ""},
		"a negative currency shown red":     {`"€" 0.00;[Red]"€" 0.00;0`, -3.456, false, "-€ 3.46", "-3.456"},
		"a day alone":                       {"d", day, false, "5", ""},
		"a year and a month in digits":      {"yymm", day, false, "2403", ""},
		"a year of a workbook of 1904":      {"yyyy", day, true, "2024", ""},
		"a date of a workbook of 1904":      {"yyyy-mm-dd", day, true, "2024-03-05", ""},
		"thousands":                         {"#,##0,", 1234567, false, "1,235", "1234.567"},
		"a number that looks German":        {"General", 1.234, false, "1.234", "1.234"},
		"a number in English groups":        {"#,##0", 1234, false, "1,234", "1234"},
		"a number with leading zeros":       {"00000", 123, false, "00123", ""},
		"a number rounded to whole numbers": {"0", 2.5, false, "3", "2.5"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := workbook(t, func(f *excelize.File) error {
				id, err := f.NewStyle(&excelize.Style{CustomNumFmt: &tc.format})
				return errors.Join(f.SetWorkbookProps(&excelize.WorkbookPropsOptions{Date1904: &tc.date1904}), err,
					set(f, "Sheet1", "A1", "label", "value"), set(f, "Sheet1", "A2", "one", tc.value), f.SetCellStyle("Sheet1", "B2", "B2", id))
			})
			result, err := sheet.Read(format.Source{Path: path, Folder: t.TempDir(), Options: format.Options{Exact: true}})
			if err != nil {
				t.Fatal(err)
			}
			block := result.Layout.Blocks[1]
			var want []knowledge.Exact
			if tc.exact != "" {
				want = []knowledge.Exact{{Line: 2, Column: 1, Value: tc.exact}}
			}
			if diff := cmp.Diff("| label | value |\n| --- | --- |\n| one | "+tc.want+" |", block.Text) + cmp.Diff(want, block.Sheet.Exact); diff != "" {
				t.Error(diff)
			}
		})
	}
}
