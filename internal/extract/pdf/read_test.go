package pdf_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/google/go-cmp/cmp"
)

// makePDF returns a PDF with one page for each content stream. attributes are
// the attributes of every page.
func makePDF(attributes string, streams ...string) []byte {
	var kids []string
	objects := []string{"<< /Type /Catalog /Pages 2 0 R >>", "",
		"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
		"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica-Bold /Encoding /WinAnsiEncoding >>",
		"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding /ToUnicode 6 0 R >>",
		stream(toUnicode)}
	for _, s := range streams {
		n := len(objects) + 1
		kids = append(kids, fmt.Sprintf("%d 0 R", n))
		objects = append(objects,
			fmt.Sprintf("<< /Type /Page /Parent 2 0 R %s /Contents %d 0 R /Resources << /Font << /F 3 0 R /B 4 0 R /U 5 0 R >> >> >>", attributes, n+1),
			stream(s))
	}
	objects[1] = fmt.Sprintf("<< /Type /Pages /Kids [%s] /Count %d >>", strings.Join(kids, " "), len(kids))
	return build("", objects...)
}

// build returns a PDF with these objects, of which the first is the catalog.
// trailer is added to the trailer.
func build(trailer string, objects ...string) []byte {
	var b bytes.Buffer
	b.WriteString("%PDF-1.7\n")
	var xref strings.Builder
	for i, o := range objects {
		fmt.Fprintf(&xref, "%010d 00000 n \n", b.Len())
		fmt.Fprintf(&b, "%d 0 obj\n%s\nendobj\n", i+1, o)
	}
	start := b.Len()
	fmt.Fprintf(&b, "xref\n0 %d\n0000000000 65535 f \n%strailer\n<< /Size %d /Root 1 0 R %s >>\nstartxref\n%d\n%%%%EOF\n",
		len(objects)+1, xref.String(), len(objects)+1, trailer, start)
	return b.Bytes()
}

// stream returns a stream object.
func stream(content string) string {
	return fmt.Sprintf("<< /Length %d >>\nstream\n%s\nendstream", len(content), content)
}

// toUnicode maps digits of the font U to invisible characters: a soft hyphen, a
// zero width space, a word joiner and a zero width joiner.
const toUnicode = `/CIDInit /ProcSet findresource begin begincmap
1 begincodespacerange <00> <ff> endcodespacerange
4 beginbfchar <31> <00ad> <32> <200b> <33> <2060> <34> <200d> endbfchar
1 beginbfrange <61> <7a> <0061> endbfrange
endcmap end`

const a4 = "/MediaBox [0 0 595 842]"

// text returns the content stream that shows a string at a point of user space.
func text(font string, size, x, y float64, s string) string {
	return fmt.Sprintf("BT /%s %g Tf %g %g Td (%s) Tj ET\n", font, size, x, y, s)
}

// body returns the content stream that shows lines of 11 points below each
// other.
func body(x, y float64, lines ...string) string {
	var b strings.Builder
	for i, l := range lines {
		b.WriteString(text("F", 11, x, y-13*float64(i), l))
	}
	return b.String()
}

func read(t *testing.T, data []byte) knowledge.Layout {
	t.Helper()
	result, err := newReader(t).Read(t.Context(), source(t, data))
	if err != nil {
		t.Fatalf("Read: %v", err)
	}
	return result.Layout
}

// shape is a block of text without its lines.
type shape struct {
	Kind         knowledge.BlockKind
	Level        int
	Text, Header string
}

func shapes(layout knowledge.Layout) []shape {
	var out []shape
	for _, b := range layout.Blocks {
		if b.Kind.IsFurniture() {
			continue
		}
		out = append(out, shape{b.Kind, b.Level, b.Text, b.Header})
	}
	return out
}

func TestBoxesFollowCropBoxAndRotation(t *testing.T) {
	t.Parallel()
	// The text is around (115, 104) in user space, 65 points from the left and
	// 84 from the bottom of a crop box of 300 x 250.
	content := text("F", 12, 100, 100, "Hello")
	for _, tc := range []struct {
		rotate              int
		width, height, x, y float64
	}{
		{0, 300, 250, 65, 166},
		{90, 250, 300, 84, 65},
		{180, 300, 250, 235, 84},
		{270, 250, 300, 166, 235},
		{-90, 250, 300, 166, 235},
	} {
		t.Run(fmt.Sprintf("rotated by %d", tc.rotate), func(t *testing.T) {
			t.Parallel()
			layout := read(t, makePDF(fmt.Sprintf("/MediaBox [0 0 400 300] /CropBox [50 20 350 270] /Rotate %d", tc.rotate), content))
			if diff := cmp.Diff([]knowledge.PageSize{{Page: 1, Width: tc.width, Height: tc.height}}, layout.Pages); diff != "" {
				t.Error(diff)
			}
			box := layout.Blocks[0].Lines[0].Box
			if tc.x < box.X1 || tc.x > box.X2 || tc.y < box.Y1 || tc.y > box.Y2 {
				t.Errorf("box %v does not hold (%g, %g)", box, tc.x, tc.y)
			}
			if long, short := max(box.X2-box.X1, box.Y2-box.Y1), min(box.X2-box.X1, box.Y2-box.Y1); long > 35 || short > 20 {
				t.Errorf("box %v is larger than the text", box)
			}
		})
	}
}

func TestTextOutsideOfTheCropBoxIsNotThere(t *testing.T) {
	t.Parallel()
	layout := read(t, makePDF("/MediaBox [0 0 400 300] /CropBox [50 20 350 270]",
		text("F", 12, 100, 100, "inside")+text("F", 12, 100, 285, "above")+text("F", 12, 360, 100, "beside")))
	if diff := cmp.Diff([]shape{{Kind: knowledge.BlockParagraph, Text: "inside"}}, shapes(layout)); diff != "" {
		t.Error(diff)
	}
}

func TestBlocks(t *testing.T) {
	t.Parallel()
	long := body(72, 700, "A first paragraph of some lines, so that it is plain", "which size the body of this text has, and ends here.")
	para := shape{Kind: knowledge.BlockParagraph, Text: "A first paragraph of some lines, so that it is plain which size the body of this text has, and ends here."}
	for _, tc := range []struct {
		behaviour string
		pages     []string
		want      []shape
	}{
		{"headings are larger or bold", []string{text("B", 22, 72, 760, "Title") + text("F", 15, 72, 730, "Part") + long +
			text("B", 11, 72, 650, "Bold") + body(72, 630, "After it.")}, []shape{
			{Kind: knowledge.BlockHeading, Level: 1, Text: "Title"}, {Kind: knowledge.BlockHeading, Level: 2, Text: "Part"}, para,
			{Kind: knowledge.BlockHeading, Level: 3, Text: "Bold"}, {Kind: knowledge.BlockParagraph, Text: "After it."}}},
		{"a gap ends a paragraph", []string{long + body(72, 640, "Another one.")}, []shape{para, {Kind: knowledge.BlockParagraph, Text: "Another one."}}},
		{"a broken word becomes one", []string{body(72, 700, "This is an exam-", "ple of a well-", "Known case.")}, []shape{
			{Kind: knowledge.BlockParagraph, Text: "This is an example of a well-Known case."}}},
		{"a sentence continues across pages", []string{body(72, 60, "The sentence is not at its end here, and"), body(72, 780, "goes on there.")}, []shape{
			{Kind: knowledge.BlockParagraph, Text: "The sentence is not at its end here, and goes on there."}}},
		{"a new sentence begins a paragraph", []string{body(72, 60, "The sentence is at its end here."), body(72, 780, "This is new.")}, []shape{
			{Kind: knowledge.BlockParagraph, Text: "The sentence is at its end here."}, {Kind: knowledge.BlockParagraph, Text: "This is new."}}},
		{"items are one list", []string{long + body(72, 640, "1. one thing", "2. another thing", "3. the last")}, []shape{
			para, {Kind: knowledge.BlockList, Text: "1. one thing\n2. another thing\n3. the last"}}},
		{"columns are not mixed", []string{body(72, 700, "Left column first", "line and second.") + body(320, 700, "Right column first", "line and second.")}, []shape{
			{Kind: knowledge.BlockParagraph, Text: "Left column first line and second."}, {Kind: knowledge.BlockParagraph, Text: "Right column first line and second."}}},
		{"cells below each other are a table", []string{long +
			body(72, 640, "Item") + body(200, 640, "Price") + body(300, 640, "Stock") +
			body(72, 625, "Tea") + body(200, 625, "1.50") + body(300, 625, "12") +
			body(72, 610, "Cake") + body(200, 610, "2.75") + body(300, 610, "3")}, []shape{
			para, {Kind: knowledge.BlockTable, Header: "| Item | Price | Stock |\n| --- | --- | --- |",
				Text: "| Item | Price | Stock |\n| --- | --- | --- |\n| Tea | 1.50 | 12 |\n| Cake | 2.75 | 3 |"}}},
		{"a missing cell is empty", []string{long +
			body(200, 640, "North") + body(300, 640, "South") +
			body(72, 625, "Tea") + body(200, 625, "1.50") + body(300, 625, "1.40") +
			body(72, 610, "Open") + body(200, 610, "from nine to five on every day") +
			body(72, 595, "Cake") + body(310, 595, "3")}, []shape{
			para, {Kind: knowledge.BlockTable, Header: "|  | North | South |\n| --- | --- | --- |",
				Text: "|  | North | South |\n| --- | --- | --- |\n| Tea | 1.50 | 1.40 |\n| Open | from nine to five on every day |\n| Cake |  | 3 |"}}},
	} {
		t.Run(tc.behaviour, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tc.want, shapes(read(t, makePDF(a4, tc.pages...)))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestPageNumbers(t *testing.T) {
	t.Parallel()
	para := func(text string) shape { return shape{Kind: knowledge.BlockParagraph, Text: text} }
	const one, two = "The sentence is not at its end here and goes", "on to the next page, which is not the end for it of"
	for _, tc := range []struct {
		behaviour string
		pages     []string
		want      []shape
	}{
		{"numbers at the foot are removed and the sentence continues",
			[]string{body(72, 100, one) + body(290, 40, "1"), body(72, 780, two) + body(290, 40, "2"), body(72, 780, "the end.") + body(290, 40, "3")},
			[]shape{para(one + " " + two + " the end.")}},
		{"numbers at the head are removed, with dashes and from any first number",
			[]string{body(290, 810, "- 17 -") + body(72, 700, one), body(290, 810, "- 18 -") + body(72, 700, two+"-"), body(290, 810, "- 19 -") + body(72, 700, "ten.")},
			[]shape{para(one + " " + two + "ten.")}},
		{"numbers that do not count up are kept",
			[]string{body(72, 700, "First page.") + body(290, 40, "5"), body(72, 700, "Second page.") + body(290, 40, "5")},
			[]shape{para("First page."), para("5"), para("Second page."), para("5")}},
		{"a number on a single page is kept",
			[]string{body(72, 700, "First page.") + body(290, 40, "1"), body(72, 700, "Second page.")},
			[]shape{para("First page."), para("1"), para("Second page.")}},
		{"numbers in the text are kept",
			[]string{body(72, 700, "First page.") + body(72, 400, "1"), body(72, 700, "Second page.") + body(72, 400, "2")},
			[]shape{para("First page."), para("1"), para("Second page."), para("2")}},
		{"numbers at different heights are kept",
			[]string{body(72, 700, "First page.") + body(290, 100, "1"), body(72, 700, "Second page.") + body(290, 40, "2")},
			[]shape{para("First page."), para("1"), para("Second page."), para("2")}},
		{"pages of nothing but numbers keep them",
			[]string{body(290, 40, "1"), body(290, 40, "2")},
			[]shape{para("1"), para("2")}},
		{"a sentence that breaks off after a number continues",
			[]string{body(72, 60, "What was written in the year 1999"), body(72, 780, "was read.")},
			[]shape{para("What was written in the year 1999 was read.")}},
		{"a sentence that ends in a bracket does not continue",
			[]string{body(72, 60, `The sentence is at its end \(as it seems.\)`), body(72, 780, "iPhones are new.")},
			[]shape{para("The sentence is at its end (as it seems.)"), para("iPhones are new.")}},
	} {
		t.Run(tc.behaviour, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tc.want, shapes(read(t, makePDF(a4, tc.pages...)))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestLinesOfABrokenWord(t *testing.T) {
	t.Parallel()
	layout := read(t, makePDF(a4, body(72, 700, "An exam-", "ple.")))
	block := layout.Blocks[0]
	if block.Text != "An example." || len(block.Lines) != 2 {
		t.Fatalf("%q with %d lines", block.Text, len(block.Lines))
	}
	first, second := block.Lines[0], block.Lines[1]
	if first.Start != 0 || first.End != 7 || second.Start != 7 || second.End != 11 {
		t.Errorf("lines [%d,%d) and [%d,%d)", first.Start, first.End, second.Start, second.End)
	}
	if !first.Hyphen || second.Hyphen {
		t.Errorf("hyphens %v and %v, want one at the end of the first line", first.Hyphen, second.Hyphen)
	}
	if first.Box.Y2 > second.Box.Y2 || first.Box.Y1 > second.Box.Y1 {
		t.Errorf("boxes %v and %v are not one below the other", first.Box, second.Box)
	}
}

func TestInvisibleCharactersAreNoSpace(t *testing.T) {
	t.Parallel()
	layout := read(t, makePDF(a4, text("U", 11, 72, 700, "well1known")+text("U", 11, 72, 600, "z2ero3wi4dth")))
	var got []string
	for _, b := range layout.Blocks {
		got = append(got, b.Text)
		if l := b.Lines[0]; l.Start != 0 || l.End != utf8.RuneCountInString(b.Text) {
			t.Errorf("%q is on a line [%d,%d)", b.Text, l.Start, l.End)
		}
	}
	if diff := cmp.Diff([]string{"well-known", "zerowi\u200ddth"}, got); diff != "" { // the font draws the soft hyphen, so it is a hyphen
		t.Error(diff)
	}
}

func TestTitleIsTheFirstHeading(t *testing.T) {
	t.Parallel()
	layout := read(t, makePDF(a4, text("B", 22, 72, 760, "Of Tea")+body(72, 700, "Some text that is long enough to be the body.")))
	if layout.Title != "Of Tea" {
		t.Errorf("title %q", layout.Title)
	}
}

func TestReadReturnsTypedErrors(t *testing.T) {
	t.Parallel()
	reader := newReader(t)
	sound := makePDF(a4, body(72, 700, "Sound."))
	for _, tc := range []struct {
		behaviour string
		data      []byte
		code      knowledge.Code
	}{
		{"cut off", sound[:80], knowledge.CodeCorrupt},
		{"no PDF at all", []byte("hello"), knowledge.CodeCorrupt},
		{"no bytes", nil, knowledge.CodeCorrupt},
		{"no text", makePDF(a4, "0 0 m 9 9 l S"), knowledge.CodeEmpty},
	} {
		if _, err := reader.Read(t.Context(), source(t, tc.data)); !knowledge.IsCode(err, tc.code) {
			t.Errorf("%s: error %v, want code %s", tc.behaviour, err, tc.code)
		}
	}
	if _, err := reader.Read(t.Context(), source(t, sound)); err != nil {
		t.Errorf("a sound PDF after the others: %v", err)
	}
}
