package sheet_test

import (
	"strings"
	"testing"

	"github.com/cairn-rag/cairn/internal/extract/format"
	"github.com/cairn-rag/cairn/internal/extract/sheet"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/google/go-cmp/cmp"
)

func TestFormulasWithoutValues(t *testing.T) {
	t.Parallel()
	text := func(cell, s string) string {
		return `<c r="` + cell + `" t="inlineStr"><is><t>` + s + `</t></is></c>`
	}
	head := `<row r="1">` + text("A1", "Item") + text("B1", "Net") + text("C1", "Tax") + `</row><row r="2">` + text("A2", "Pump") + `<c r="B2"><v>200</v></c>`
	for _, tc := range []struct {
		behaviour, rows, want string
		warns                 bool
	}{
		{"are computed", head + `<c r="C2"><f>B2*0.19</f><v></v></c></row><row r="3">` + text("A3", "Total") + `<c r="B3"><f>SUM(B2:B2)</f></c><c r="C3"><f>C2+1</f><v/></c></row>`,
			"| Item | Net | Tax |\n| --- | --- | --- |\n| Pump | 200 | 38 |\n| Total | 200 | 39 |", false},
		{"are computed in a row with nothing else", head + `</row><row r="3"><c r="B3"><f>B2*2</f></c></row>`,
			"| Item | Net | Tax |\n| --- | --- | --- |\n| Pump | 200 |\n|  | 400 |", false},
		{"with texts", head + `<c r="C2"><f>"about "&amp;B2</f></c></row>`, "| Item | Net | Tax |\n| --- | --- | --- |\n| Pump | 200 | about 200 |", false},
		{"are shown if they cannot be computed", head + `<c r="C2"><f>NOSUCHFUNCTION(B2)</f><v></v></c></row>`,
			"| Item | Net | Tax |\n| --- | --- | --- |\n| Pump | 200 | =NOSUCHFUNCTION(B2) |", true},
		{"are shown if they use a cell that cannot be computed", head + `<c r="C2"><f>NOSUCHFUNCTION(B2)</f></c></row><row r="3">` + text("A3", "Valve") + `<c r="B3"><f>C2*2</f></c><c r="C3"><f>SUM(C2:C2)+LOG10(B2)</f></c></row><row r="4">` + text("A4", "C2") + `<c r="B4"><f>B5+1</f></c><c r="C4"><f>"C2"&amp;B2</f></c></row><row r="5"><c r="B5"><f>NOSUCHFUNCTION(1)</f></c></row>`,
			"| Item | Net | Tax |\n| --- | --- | --- |\n| Pump | 200 | =NOSUCHFUNCTION(B2) |\n| Valve | =C2*2 | =SUM(C2:C2)+LOG10(B2) |\n| C2 | =B5+1 | C2200 |\n|  | =NOSUCHFUNCTION(1) |", true},
		{"are shown if they use an error", head + `<c r="C2"><f>B2/0</f></c></row><row r="3">` + text("A3", "Valve") + `<c r="B3"><f>IFERROR(C2,7)</f></c></row>`,
			"| Item | Net | Tax |\n| --- | --- | --- |\n| Pump | 200 | =B2/0 |\n| Valve | =IFERROR(C2,7) |", true},
		{"a value that is stored counts, and so does an empty text", head + `<c r="C2"><f>B2*0.19</f><v>7</v></c></row><row r="3">` + text("A3", "None") + `<c r="B3" t="str"><f>IF(1,"","")</f><v></v></c></row>`,
			"| Item | Net | Tax |\n| --- | --- | --- |\n| Pump | 200 | 7 |\n| None |", false},
		{"are computed although the file says that the result is a text", head + `<c r="C2" t="str"><f>B2*2</f></c></row>`,
			"| Item | Net | Tax |\n| --- | --- | --- |\n| Pump | 200 | 400 |", false},
		{"in a namespace", strings.NewReplacer("<row", "<x:row", "</row", "</x:row").Replace(`<row r="1"><x:c r="A1"><x:v>2</x:v></x:c><x:c r="B1"><x:f>A1*2</x:f></x:c></row>`), "| 2 | 4 |", false},
	} {
		t.Run(tc.behaviour, func(t *testing.T) {
			t.Parallel()
			xml := `<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>` + tc.rows + `</sheetData></worksheet>`
			if strings.Contains(xml, "<x:") {
				xml = strings.NewReplacer("xmlns=", "xmlns:x=", "<worksheet", "<x:worksheet", "</worksheet", "</x:worksheet", "<sheetData", "<x:sheetData", "</sheetData", "</x:sheetData").Replace(xml)
			}
			result, err := sheet.Read(format.Source{Path: sheetXML(t, xml)})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff("table "+tc.want, texts(result.Layout.Blocks)[1]); diff != "" {
				t.Error(diff)
			}
			warned := len(result.Layout.Warnings) == 1 && result.Layout.Warnings[0].Code == knowledge.WarnFormulas
			if warned != tc.warns {
				t.Errorf("warnings %+v", result.Layout.Warnings)
			}
		})
	}
}
