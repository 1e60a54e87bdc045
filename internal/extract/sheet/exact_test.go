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

func TestExactNumbers(t *testing.T) {
	t.Parallel()
	path := workbook(t, func(f *excelize.File) error {
		style := func(cell, format string) error {
			id, err := f.NewStyle(&excelize.Style{CustomNumFmt: &format})
			return errors.Join(err, f.SetCellStyle("Sheet1", cell, cell, id))
		}
		day := time.Date(2024, 3, 5, 0, 0, 0, 0, time.UTC)
		return errors.Join(
			set(f, "Sheet1", "A1", "rounded", "whole", "share", "day", "year", "general"),
			set(f, "Sheet1", "A2", 1234.56, 1234.5, .12345, day, day, 0.1+0.2),
			style("A2", "#,##0"), style("B2", "#,##0.00"), style("C2", "0%"), style("D2", "dd.mm.yyyy"), style("E2", "yyyy"),
			set(f, "Sheet1", "A3", 2.5, 7, .5, day, day, 12))
	})
	for asked, want := range map[bool][]knowledge.Exact{
		true: {{Line: 2, Column: 0, Value: "1234.56"}, {Line: 2, Column: 2, Value: "12.345"}}, false: nil,
	} {
		result, err := sheet.Read(format.Source{Path: path, Folder: t.TempDir(), Options: format.Options{Exact: asked}})
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range result.Layout.Blocks {
			if b.Kind != knowledge.BlockTable {
				continue
			}
			if diff := cmp.Diff(want, b.Sheet.Exact); diff != "" {
				t.Errorf("asked %t: %s in %s", asked, diff, b.Text)
			}
		}
	}
}
