//go:build unioffice

package unioffice_test

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/unidoc/unioffice/document"
	"github.com/unidoc/unioffice/presentation"
	"github.com/unidoc/unioffice/spreadsheet"

	"github.com/cairn-rag/cairn/internal/extract/container/containertest"
	"github.com/cairn-rag/cairn/internal/extract/format"
	"github.com/cairn-rag/cairn/internal/extract/office"
	"github.com/cairn-rag/cairn/internal/extract/unioffice"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

func TestAWrongKeyIsAnError(t *testing.T) {
	forged := base64.StdEncoding.EncodeToString([]byte(`{"license_id":"x","customer_id":"0123456789","customer_name":"Ann","tier":"business"}`))
	for name, key := range map[string]string{
		"nothing": "", "a password": "open sesame",
		"a key without a signature":       "-----BEGIN UNIDOC LICENSE KEY-----\n" + forged + "\n-----END UNIDOC LICENSE KEY-----",
		"a key that somebody else signed": "-----BEGIN UNIDOC LICENSE KEY-----\n" + forged + "\n+\n" + forged + "\n-----END UNIDOC LICENSE KEY-----",
	} {
		if err := unioffice.SetLicense(key); err == nil || !strings.Contains(err.Error(), "does not accept the licence key") {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

func TestWithoutAKeyNothingIsRead(t *testing.T) {
	_, err := unioffice.Read(format.Source{Path: containertest.Write(t, "-- word/document.xml --\n<a/>\n")}, "word")
	if err == nil {
		t.Error("a document was read")
	}
}

func finish(t *testing.T, doc *office.Document) []string {
	t.Helper()
	result, err := doc.Finish("")
	if err != nil {
		t.Fatal(err)
	}
	var texts []string
	for _, b := range result.Layout.Blocks {
		texts = append(texts, string(b.Kind)+" "+b.Text)
	}
	return texts
}

func TestWord(t *testing.T) {
	file := document.New()
	heading := file.AddParagraph()
	heading.SetStyle("Heading1")
	heading.AddRun().AddText("Tea ")
	heading.AddRun().AddText("time")
	file.AddParagraph().AddRun().AddText("It is hot.")
	table := file.AddTable()
	for _, texts := range [][]string{{"item", "price"}, {"tea", "two francs"}} {
		row := table.AddRow()
		for _, text := range texts {
			row.AddCell().AddParagraph().AddRun().AddText(text)
		}
	}
	file.AddParagraph().AddRun().AddText("The end.")
	doc := office.New(format.Source{})
	unioffice.AddWord(doc, file)
	want := []string{"heading Tea time", "paragraph It is hot.", "table | item | price |\n| --- | --- |\n| tea | two francs |", "paragraph The end."}
	if diff := cmp.Diff(want, finish(t, doc)); diff != "" {
		t.Error(diff)
	}
}

func TestPresentation(t *testing.T) {
	file := presentation.New()
	for i := range 2 {
		file.AddSlide().AddTextBox().AddParagraph().AddRun().SetText(fmt.Sprintf("Text %d", i+1))
	}
	doc := office.New(format.Source{})
	unioffice.AddPresentation(doc, file)
	want := []string{"heading Slide 1", "paragraph Text 1", "heading Slide 2", "paragraph Text 2"}
	if diff := cmp.Diff(want, finish(t, doc)); diff != "" {
		t.Error(diff)
	}
}

func TestWorkbook(t *testing.T) {
	file := spreadsheet.New()
	sheet := file.AddSheet()
	sheet.SetName("Prices")
	for cell, text := range map[string]string{"B2": "item", "C2": "price", "B3": "tea"} {
		sheet.Cell(cell).SetString(text)
	}
	sheet.Cell("C3").SetNumber(2)
	doc := office.New(format.Source{})
	if err := unioffice.AddWorkbook(doc, file); err != nil {
		t.Fatal(err)
	}
	result, err := doc.Finish("")
	if err != nil {
		t.Fatal(err)
	}
	table := result.Layout.Blocks[len(result.Layout.Blocks)-1]
	if table.Kind != knowledge.BlockTable || !strings.Contains(table.Text, "tea | 2 |") || table.Sheet.Name != "Prices" {
		t.Errorf("%+v", table)
	}
}
