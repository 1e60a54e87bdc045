package pdf_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

const helvetica = "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>"

// onePage returns the first objects of a PDF with one page: the catalog, the page
// tree, the page (3), its content (4) and its font (5).
func onePage(catalog, page, content string) []string {
	return []string{
		"<< /Type /Catalog /Pages 2 0 R " + catalog + " >>",
		"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
		"<< /Type /Page /Parent 2 0 R " + a4 + " /Contents 4 0 R /Resources << /Font << /F 5 0 R >> >> " + page + " >>",
		stream(content), helvetica,
	}
}

func TestMetadata(t *testing.T) {
	t.Parallel()
	info := "<< /Title (Of Tea) /Author (A. N. Other) /Keywords (tea, pots) /CreationDate (D:20240229103000+01'00') /ModDate (D:2024) >>"
	got := read(t, build("/Info 6 0 R", append(onePage("", "", body(72, 700, "Text.")), info)...))
	want := map[string]string{"author": "A. N. Other", "keywords": "tea, pots", "created": "2024-02-29T10:30:00+01:00", "modified": "2024-01-01"}
	if diff := cmp.Diff(want, got.Metadata); diff != "" || got.Title != "Of Tea" {
		t.Errorf("title %q, metadata (-want +got):\n%s", got.Title, diff)
	}
}

func TestTaggedStructure(t *testing.T) {
	t.Parallel()
	var content strings.Builder
	var y float64 = 800
	marked := func(tag string, id int, s string, x float64) {
		fmt.Fprintf(&content, "/%s << /MCID %d >> BDC\n%sEMC\n", tag, id, text("F", 11, x, y, s))
	}
	fmt.Fprintf(&content, "/Artifact << /Type /Pagination >> BDC\n%sEMC\n", text("F", 9, 72, 820, "Running title"))
	marked("H1", 0, "Heading in the body's size", 72)
	y -= 20
	marked("P", 1, "A paragraph.", 72)
	y -= 40
	for i, cell := range []string{"Name", "Price", "Tea", "2"} {
		marked("TD", 2+i, cell, 72+35*float64(i%2)) // so near to each other that they look like one line
		if i%2 == 1 {
			y -= 12
		}
	}
	y -= 40
	marked("LBody", 6, "first item", 72)
	y -= 12
	marked("LBody", 7, "second item", 72)
	objects := append(onePage("/MarkInfo << /Marked true >> /StructTreeRoot 6 0 R", "/StructParents 0", content.String()),
		"<< /Type /StructTreeRoot /K [7 0 R 8 0 R 9 0 R 16 0 R] /ParentTree << /Nums [0 [7 0 R 8 0 R 12 0 R 13 0 R 14 0 R 15 0 R 17 0 R 18 0 R]] >> /RoleMap << /Headline /H1 >> >>",
		"<< /S /Headline /P 6 0 R /Pg 3 0 R /K 0 >>", // 7
		"<< /S /P /P 6 0 R /Pg 3 0 R /K 1 >>",        // 8
		"<< /S /Table /P 6 0 R /K [10 0 R 11 0 R] >>",
		"<< /S /TR /P 9 0 R /K [12 0 R 13 0 R] >>",
		"<< /S /TR /P 9 0 R /K [14 0 R 15 0 R] >>",
		"<< /S /TH /P 10 0 R /Pg 3 0 R /K 2 >>", "<< /S /TH /P 10 0 R /Pg 3 0 R /K 3 >>",
		"<< /S /TD /P 11 0 R /Pg 3 0 R /K 4 >>", "<< /S /TD /P 11 0 R /Pg 3 0 R /K 5 >>",
		"<< /S /L /P 6 0 R /K [17 0 R 18 0 R] >>",
		"<< /S /LI /P 16 0 R /Pg 3 0 R /K 6 >>", "<< /S /LI /P 16 0 R /Pg 3 0 R /K 7 >>",
	)
	layout := read(t, build("", objects...))
	if diff := cmp.Diff([]shape{
		{Kind: knowledge.BlockHeading, Level: 1, Text: "Heading in the body's size"}, {Kind: knowledge.BlockParagraph, Text: "A paragraph."},
		{Kind: knowledge.BlockTable, Text: "| Name | Price |\n| --- | --- |\n| Tea | 2 |", Header: "| Name | Price |\n| --- | --- |"},
		{Kind: knowledge.BlockList, Text: "first item\nsecond item"},
	}, shapes(layout)); diff != "" {
		t.Error(diff)
	}
	if b := layout.Blocks[0]; b.Kind != knowledge.BlockHeader || b.Text != "Running title" {
		t.Errorf("the first block is %s %q, want the header", b.Kind, b.Text)
	}
}

func TestBookmarks(t *testing.T) {
	t.Parallel()
	objects := append(onePage("/Outlines 6 0 R", "", body(72, 700, "1. The Parts", "Text of the first part, which has a line.")),
		"<< /First 7 0 R /Last 7 0 R /Count 1 >>",
		"<< /Title (The Parts) /Parent 6 0 R /Dest [3 0 R /XYZ 0 720 0] >>")
	if diff := cmp.Diff([]shape{
		{Kind: knowledge.BlockHeading, Level: 1, Text: "1. The Parts"}, {Kind: knowledge.BlockParagraph, Text: "Text of the first part, which has a line."},
	}, shapes(read(t, build("", objects...)))); diff != "" {
		t.Error(diff)
	}
}

func TestFormsAndComments(t *testing.T) {
	t.Parallel()
	appearance := func(s string) string {
		content := text("F", 11, 2, 4, s)
		return fmt.Sprintf("<< /Type /XObject /Subtype /Form /BBox [0 0 100 14] /Resources << /Font << /F 5 0 R >> >> /Length %d >>\nstream\n%s\nendstream",
			len(content), content)
	}
	objects := append(onePage("/AcroForm << /Fields [6 0 R 8 0 R 9 0 R] >>", "/Annots [6 0 R 8 0 R 9 0 R 10 0 R 11 0 R]",
		body(72, 700, "Name:")+body(250, 700, "Town:")+body(72, 680, "I agree:")+body(72, 600, "The end.")),
		"<< /Type /Annot /Subtype /Widget /FT /Tx /T (name) /V (Ada) /Rect [120 696 220 710] /F 4 /AP << /N 7 0 R >> /P 3 0 R >>", // 6
		appearance("Ada"),
		"<< /Type /Annot /Subtype /Widget /FT /Tx /T (town) /V (Turin) /Rect [290 696 390 710] /F 4 /P 3 0 R >>", // 8: without an appearance
		"<< /Type /Annot /Subtype /Widget /FT /Btn /T (agree) /V /Yes /AS /Yes /Rect [120 676 134 690] /F 4 /AP << /N << /Yes 12 0 R /Off 12 0 R >> >> /P 3 0 R >>",
		"<< /Type /Annot /Subtype /Text /Contents (Is this right?) /Rect [400 600 420 620] /F 4 >>",
		"<< /Type /Annot /Subtype /Text /Contents (Nobody sees this.) /Rect [400 500 420 520] /F 2 >>",
		appearance("4"))
	if diff := cmp.Diff([]shape{
		{Kind: knowledge.BlockParagraph, Text: "Name: Ada Town: Turin"}, {Kind: knowledge.BlockParagraph, Text: "I agree: ☒"},
		{Kind: knowledge.BlockParagraph, Text: "The end."}, {Kind: knowledge.BlockParagraph, Text: "Is this right?"},
	}, shapes(read(t, build("", objects...)))); diff != "" {
		t.Error(diff)
	}
}

// TestThickenedHeadings draws bold text as programs do whose font has no bold one.
func TestThickenedHeadings(t *testing.T) {
	t.Parallel()
	content := "2 Tr .3 w\n" + body(72, 700, "Safety of the operator") + "0 Tr\n" + body(72, 687, "The pump is heavy, and two persons lift it.", "Each of them wears shoes.")
	if diff := cmp.Diff([]shape{
		{Kind: knowledge.BlockHeading, Level: 1, Text: "Safety of the operator"},
		{Kind: knowledge.BlockParagraph, Text: "The pump is heavy, and two persons lift it. Each of them wears shoes."},
	}, shapes(read(t, makePDF(a4, content)))); diff != "" {
		t.Error(diff)
	}
}

// TestCodeInCourier draws code with spaces in the text and by the position of its lines.
func TestCodeInCourier(t *testing.T) {
	t.Parallel()
	objects := onePage("", "", body(72, 700, "The configuration of the pump is a file.")+
		text("M", 10, 72, 670, "if speed > limit {")+text("M", 10, 72, 658, "    stop\\(\\)   # now")+text("M", 10, 72, 646, "}")+
		body(72, 600, "After a change the controller starts again."))
	objects[2] = strings.Replace(objects[2], "/F 5 0 R", "/F 5 0 R /M << /Type /Font /Subtype /Type1 /BaseFont /Courier >>", 1)
	got := shapes(read(t, build("", objects...)))
	if diff := cmp.Diff(shape{Kind: knowledge.BlockCode, Text: "if speed > limit {\n    stop()   # now\n}"}, got[1]); diff != "" {
		t.Error(diff)
	}
}
