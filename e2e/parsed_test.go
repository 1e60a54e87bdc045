package e2e_test

import (
	"bytes"
	"net/http"
	"strings"
	"testing"

	"github.com/xuri/excelize/v2"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/parsed"
)

// TestParsed shows documents as they were read: one whose layout is stored, with what was
// read with doubt, and a small text, which is read again.
func TestParsed(t *testing.T) {
	t.Parallel()
	s := start(t)
	book := excelize.NewFile()
	for cell, value := range map[string]string{"A1": "Item", "B1": "Net", "A2": "Pump", "A3": "Seal"} {
		if err := book.SetCellValue("Sheet1", cell, value); err != nil {
			t.Fatal(err)
		}
	}
	for cell, formula := range map[string]string{"B2": "2*21", "B3": "NOSUCHFUNCTION(1)"} {
		if err := book.SetCellFormula("Sheet1", cell, formula); err != nil {
			t.Fatal(err)
		}
	}
	var file bytes.Buffer
	if err := book.Write(&file); err != nil {
		t.Fatal(err)
	}

	d := s.ended(t, s.sendFile(t, "budget.xlsx", file.Bytes()))
	if len(d.Warnings) != 1 || d.Warnings[0].Code != knowledge.WarnFormulas {
		t.Errorf("%s with warnings %+v", d.Status, d.Warnings)
	}
	var content parsed.Content
	if status := s.call(t, "GET", "/workspaces/default/documents/"+d.ID+"/parsed", nil, &content); status != http.StatusOK {
		t.Fatalf("status %d", status)
	}
	if n := len(content.Blocks); n == 0 || !strings.Contains(content.Blocks[n-1].Text, "| Pump | 42 |") || len(content.Warnings) != 1 {
		t.Errorf("%+v", content)
	}

	note := s.ended(t, s.sendFile(t, "note.md", []byte("# Pump\n\nIt runs at 42 bar.\n")))
	res, body := s.raw(t, "GET", "/workspaces/default/documents/"+note.ID+"/parsed?format=markdown", "", nil)
	if res.StatusCode != http.StatusOK || string(body) != "# Pump\n\nIt runs at 42 bar.\n" {
		t.Errorf("status %d: %s", res.StatusCode, body)
	}
}
