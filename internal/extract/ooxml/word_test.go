package ooxml_test

import (
	"encoding/base64"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cairn-rag/cairn/internal/extract/container/containertest"
	"github.com/cairn-rag/cairn/internal/extract/format"
	"github.com/cairn-rag/cairn/internal/extract/ooxml"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/google/go-cmp/cmp"
)

const namespaces = `xmlns:w="urn:w" xmlns:a="urn:a" xmlns:c="urn:c" xmlns:m="urn:m" xmlns:v="urn:v" xmlns:o="urn:o" xmlns:p="urn:p" xmlns:dgm="urn:dgm"` +
	` xmlns:wp="urn:wp" xmlns:wps="urn:wps" xmlns:pic="urn:pic" xmlns:mc="urn:mc" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"`

// word returns the txtar archive of a Word document with a body, relations as
// "id kind target", and other files.
func word(body, relations, files string) string {
	var rels strings.Builder
	for line := range strings.Lines(relations) {
		f := strings.Fields(line)
		mode := ""
		if strings.Contains(f[2], "://") {
			mode = ` TargetMode="External"`
		}
		rels.WriteString(`<Relationship Id="` + f[0] + `" Type="http://x/` + f[1] + `" Target="` + f[2] + `"` + mode + `/>`)
	}
	return `-- _rels/.rels --
<Relationships><Relationship Id="rId1" Type="http://x/officeDocument" Target="word/document.xml"/>
<Relationship Id="rId2" Type="http://x/core-properties" Target="docProps/core.xml"/></Relationships>
-- word/document.xml --
<w:document ` + namespaces + `><w:body>` + body + `</w:body></w:document>
-- word/_rels/document.xml.rels --
<Relationships>` + rels.String() + `</Relationships>
` + strings.ReplaceAll(files, "NS", namespaces)
}

func read(t *testing.T, archive string) format.Result {
	t.Helper()
	result, err := ooxml.Read(format.Source{Path: containertest.Write(t, archive), Folder: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	return result
}

// texts returns the blocks as lines "kind text", with the level of a heading and the
// name of a figure.
func texts(blocks []knowledge.Block) []string {
	var out []string
	for _, b := range blocks {
		line := string(b.Kind)
		if b.Level > 0 {
			line += string(rune('0' + b.Level))
		}
		if b.Figure != "" {
			line += " <" + b.Figure + ">"
		}
		out = append(out, line+" "+b.Text)
	}
	return out
}

// p returns a paragraph in a style.
func p(style, text string) string {
	return `<w:p><w:pPr><w:pStyle w:val="` + style + `"/></w:pPr><w:r><w:t>` + text + `</w:t></w:r></w:p>`
}

const wordStyles = `-- word/styles.xml --
<w:styles NS>
<w:style w:type="paragraph" w:default="1" w:styleId="Standard"><w:name w:val="Normal"/></w:style>
<w:style w:type="paragraph" w:styleId="berschrift1"><w:name w:val="heading 1"/><w:pPr><w:outlineLvl w:val="0"/></w:pPr></w:style>
<w:style w:type="paragraph" w:styleId="Chapter"><w:name w:val="Our chapter"/><w:basedOn w:val="berschrift1"/></w:style>
<w:style w:type="paragraph" w:styleId="H2"><w:name w:val="heading 2"/></w:style>
<w:style w:type="paragraph" w:styleId="Titel"><w:name w:val="Title"/></w:style>
<w:style w:type="paragraph" w:styleId="Cap"><w:name w:val="caption"/></w:style>
<w:style w:type="paragraph" w:styleId="Toc1"><w:name w:val="toc 1"/></w:style>
<w:style w:type="paragraph" w:styleId="Code"><w:name w:val="Source Code"/></w:style>
<w:style w:type="paragraph" w:styleId="Loop"><w:name w:val="loop"/><w:basedOn w:val="Loop"/></w:style>
</w:styles>
`

func TestWordText(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		behaviour, body, relations, files string
		want                              []string
	}{
		{"kinds follow the styles, in every language", p("Titel", "Tea") + p("Toc1", "Kinds 3") + p("berschrift1", "Kinds") + p("H2", "Black") + p("Chapter", "Serving") +
			p("Standard", "Hot.") + p("Cap", "Figure 1: a pot") + p("Code", "boil()") + p("Code", "pour()") + p("Loop", "Enough."), "s styles styles.xml", wordStyles,
			[]string{"title Tea", "furniture Kinds 3", "heading1 Kinds", "heading2 Black", "heading1 Serving", "paragraph Hot.", "caption Figure 1: a pot", "code boil()\npour()", "paragraph Enough."}},
		{"runs, breaks and tabs make one text", `<w:p><w:r><w:t>Te</w:t></w:r><w:r><w:t xml:space="preserve">a </w:t><w:tab/><w:t>is</w:t><w:noBreakHyphen/><w:t>hot</w:t><w:br/><w:t>and good</w:t></w:r></w:p>`, "", "",
			[]string{"paragraph Tea is-hot\nand good"}},
		{"what was deleted or is hidden is not there", `<w:p><w:ins><w:r><w:t>new</w:t></w:r></w:ins><w:del><w:r><w:delText>old</w:delText></w:r></w:del><w:r><w:rPr><w:vanish/></w:rPr><w:t>hidden</w:t></w:r></w:p>`, "", "",
			[]string{"paragraph new"}},
		{"a field shows its result", `<w:p><w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText>PAGE</w:instrText><w:t>no</w:t></w:r><w:r><w:fldChar w:fldCharType="separate"/></w:r><w:r><w:t>12</w:t></w:r><w:r><w:fldChar w:fldCharType="end"/></w:r><w:r><w:t> pages</w:t></w:r></w:p>`, "", "",
			[]string{"paragraph 12 pages"}},
		{"a field that does not end swallows nothing", `<w:p><w:r><w:fldChar w:fldCharType="begin"/></w:r></w:p>` + p("", "after"), "", "", []string{"paragraph after"}},
		{"a link, a content control and a date", `<w:p><w:hyperlink><w:r><w:t>link</w:t></w:r></w:hyperlink></w:p><w:sdt><w:sdtPr><w:alias w:val="no"/></w:sdtPr><w:sdtContent>` + p("", "control") +
			`<w:p><w:sdt><w:sdtContent><w:r><w:t>inner</w:t></w:r></w:sdtContent></w:sdt></w:p></w:sdtContent></w:sdt>`, "", "", []string{"paragraph link", "paragraph control", "paragraph inner"}},
		{"forms", `<w:p><w:r><w:fldChar w:fldCharType="begin"><w:ffData><w:checkBox><w:default w:val="1"/></w:checkBox></w:ffData></w:fldChar></w:r><w:r><w:fldChar w:fldCharType="end"/></w:r><w:r><w:t xml:space="preserve"> agreed</w:t></w:r></w:p>`, "", "",
			[]string{"paragraph [x] agreed"}},
		{"a text box is read once", `<w:p><w:r><w:t>Around</w:t></w:r><w:r><mc:AlternateContent><mc:Choice Requires="wps"><w:drawing><wps:txbx><w:txbxContent>` + p("", "inside") +
			`</w:txbxContent></wps:txbx></w:drawing></mc:Choice><mc:Fallback><w:pict><v:textbox><w:txbxContent>` + p("", "inside") + `</w:txbxContent></v:textbox></w:pict></mc:Fallback></mc:AlternateContent></w:r></w:p>`, "", "",
			[]string{"paragraph Around", "paragraph inside"}},
		{"notes follow their paragraph", `<w:p><w:r><w:t>Hot</w:t><w:footnoteReference w:id="2"/><w:t> tea</w:t><w:endnoteReference w:id="1"/></w:r></w:p>` + p("", "Next"), "f footnotes footnotes.xml\ne endnotes endnotes.xml",
			"-- word/footnotes.xml --\n<w:footnotes NS><w:footnote w:id=\"2\">" + p("", "90 degrees") + "</w:footnote></w:footnotes>\n-- word/endnotes.xml --\n<w:endnotes NS><w:endnote w:id=\"1\">" + p("", "See there") + "</w:endnote></w:endnotes>\n",
			[]string{"paragraph Hot[^1] tea[^2]", "paragraph [^1]: 90 degrees", "paragraph [^2]: See there", "paragraph Next"}},
		{"comments name their author", `<w:p><w:r><w:t>Hot</w:t></w:r><w:r><w:commentReference w:id="0"/></w:r></w:p>`, "c comments comments.xml",
			"-- word/comments.xml --\n<w:comments NS><w:comment w:id=\"0\" w:author=\"Ann\" w:date=\"2024-05-01T10:00:00Z\">" + p("", "Really?") + "</w:comment></w:comments>\n",
			[]string{"paragraph Hot", "paragraph Comment by Ann, 2024-05-01: Really?"}},
		{"headers and footers are furniture", p("", "Text") + `<w:sectPr><w:headerReference r:id="h"/><w:footerReference r:id="f"/></w:sectPr>`, "h header header1.xml\nf footer footer1.xml",
			"-- word/header1.xml --\n<w:hdr NS>" + p("", "Secret") + "</w:hdr>\n-- word/footer1.xml --\n<w:ftr NS>" + p("", "Company") + "</w:ftr>\n",
			[]string{"header Secret", "paragraph Text", "footer Company"}},
		{"formulas are typed", `<w:p><m:oMath><m:f><m:num><m:r><m:t>a+b</m:t></m:r></m:num><m:den><m:r><m:t>2</m:t></m:r></m:den></m:f><m:r><m:t>=</m:t></m:r><m:sSup><m:e><m:r><m:t>x</m:t></m:r></m:e><m:sup><m:r><m:t>2</m:t></m:r></m:sup></m:sSup></m:oMath></w:p>`, "", "",
			[]string{"paragraph (a+b)/2=x^2"}},
		{"symbols of symbol fonts", `<w:p><w:r><w:sym w:font="Symbol" w:char="F061"/><w:sym w:font="Wingdings" w:char="F0FE"/></w:r></w:p>`, "", "", []string{"paragraph α☑"}},
		{"ruby text follows its base", `<w:p><w:r><w:ruby><w:rt><w:r><w:t>とう</w:t></w:r></w:rt><w:rubyBase><w:r><w:t>東</w:t></w:r></w:rubyBase></w:ruby></w:r></w:p>`, "", "", []string{"paragraph 東(とう)"}},
		{"text in HTML is part of the body", p("", "Before") + `<w:altChunk r:id="x"/>`, "x aFChunk part.html", "-- word/part.html --\n<h2>Inside</h2><p>of it</p>\n",
			[]string{"paragraph Before", "heading2 Inside", "paragraph of it"}},
		{"a linked picture is its text", `<w:p><w:r><w:drawing><wp:inline><wp:docPr descr="A pot"/><a:graphic><pic:pic><a:blip r:link="x"/></pic:pic></a:graphic></wp:inline></w:drawing></w:r></w:p>`,
			"x image http://127.0.0.1:1/secret.png", "", []string{"figure A pot"}},
	} {
		t.Run(tc.behaviour, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tc.want, texts(read(t, word(tc.body, tc.relations, tc.files)).Layout.Blocks)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestWordLists(t *testing.T) {
	t.Parallel()
	item := func(list, level, text string) string {
		return `<w:p><w:pPr><w:numPr><w:ilvl w:val="` + level + `"/><w:numId w:val="` + list + `"/></w:numPr></w:pPr><w:r><w:t>` + text + `</w:t></w:r></w:p>`
	}
	numbering := `-- word/numbering.xml --
<w:numbering NS>
<w:abstractNum w:abstractNumId="0"><w:lvl w:ilvl="0"><w:start w:val="1"/><w:numFmt w:val="decimal"/><w:lvlText w:val="%1."/></w:lvl>
<w:lvl w:ilvl="1"><w:start w:val="1"/><w:numFmt w:val="lowerLetter"/><w:lvlText w:val="%1.%2)"/></w:lvl></w:abstractNum>
<w:abstractNum w:abstractNumId="1"><w:lvl w:ilvl="0"><w:numFmt w:val="bullet"/><w:lvlText w:val="·"/></w:lvl></w:abstractNum>
<w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num>
<w:num w:numId="2"><w:abstractNumId w:val="1"/></w:num>
<w:num w:numId="3"><w:abstractNumId w:val="0"/><w:lvlOverride w:ilvl="0"><w:startOverride w:val="7"/></w:lvlOverride></w:num>
</w:numbering>
`
	body := item("1", "0", "one") + item("1", "1", "deep") + item("1", "1", "deeper") + item("1", "0", "two") + item("1", "1", "again") +
		p("", "Text") + item("1", "0", "three") + p("", "Text") + item("3", "0", "seven") + p("", "Text") + item("2", "0", "bullet") + p("", "") + item("0", "0", "no item")
	want := []string{
		"list 1. one\n  1.a) deep\n  1.b) deeper\n2. two\n  2.a) again", "paragraph Text", "list 3. three", "paragraph Text", "list 7. seven",
		"paragraph Text", "list - bullet", "paragraph no item",
	}
	if diff := cmp.Diff(want, texts(read(t, word(body, "n numbering numbering.xml", numbering)).Layout.Blocks)); diff != "" {
		t.Error(diff)
	}
}

func TestWordTables(t *testing.T) {
	t.Parallel()
	cell := func(properties, text string) string {
		return "<w:tc><w:tcPr>" + properties + "</w:tcPr>" + p("", text) + "</w:tc>"
	}
	row := func(cells ...string) string { return "<w:tr>" + strings.Join(cells, "") + "</w:tr>" }
	layout := read(t, word("<w:tbl>"+
		row(cell("", "Drink"), cell(`<w:gridSpan w:val="2"/>`, "Price"))+
		row(cell(`<w:vMerge w:val="restart"/>`, "tea"), cell("", "small"), cell("", "2"))+
		row(cell("<w:vMerge/>", ""), cell("", "large"), cell("", "3"))+
		"<w:tr><w:trPr><w:del/></w:trPr>"+cell("", "deleted")+"</w:tr></w:tbl>", "", "")).Layout
	want := []knowledge.Block{{
		Kind: knowledge.BlockTable, Header: "| Drink | Price | Price |\n| --- | --- | --- |",
		Text: "| Drink | Price | Price |\n| --- | --- | --- |\n| tea | small | 2 |\n| tea | large | 3 |",
		Cells: []knowledge.Cell{
			{Text: "Drink"}, {Column: 1, ColumnSpan: 2, Text: "Price"},
			{Row: 1, RowSpan: 2, Text: "tea"}, {Row: 1, Column: 1, Text: "small"}, {Row: 1, Column: 2, Text: "2"},
			{Row: 2, Column: 1, Text: "large"}, {Row: 2, Column: 2, Text: "3"},
		},
	}}
	if diff := cmp.Diff(want, layout.Blocks); diff != "" {
		t.Error(diff)
	}

	t.Run("a table that arranges text is text", func(t *testing.T) {
		t.Parallel()
		inner := "<w:tbl>" + row(cell("", "a"), cell("", "b")) + row(cell("", "1"), cell("", "2")) + "</w:tbl>"
		outer := "<w:tbl><w:tr><w:tc>" + p("", "Left") + inner + "</w:tc><w:tc>" + p("", "Right") + "</w:tc></w:tr></w:tbl>"
		want := []string{"paragraph Left", "table | a | b |\n| --- | --- |\n| 1 | 2 |", "paragraph Right"}
		if diff := cmp.Diff(want, texts(read(t, word(outer, "", "")).Layout.Blocks)); diff != "" {
			t.Error(diff)
		}
	})
}

func TestHeadingsByTheirLook(t *testing.T) {
	t.Parallel()
	big := func(text string) string {
		return `<w:p><w:r><w:rPr><w:sz w:val="32"/></w:rPr><w:t>` + text + `</w:t></w:r></w:p>`
	}
	bold := func(text string) string {
		return `<w:p><w:r><w:rPr><w:b/></w:rPr><w:t>` + text + `</w:t></w:r></w:p>`
	}
	long := p("", strings.Repeat("A long paragraph of plain text. ", 5))
	body := big("Report") + long + bold("Costs") + long + long + bold("A sentence in bold.") + long + bold("Outlook") + long
	got := texts(read(t, word(body, "", "")).Layout.Blocks)
	if got[0] != "heading1 Report" || got[2] != "heading2 Costs" || !strings.HasPrefix(got[5], "paragraph A sentence") || got[7] != "heading2 Outlook" {
		t.Errorf("blocks %q", got)
	}
}

// picture is a PNG of 40 by 40 pixels, of which only the size matters.
var picture = func() []byte {
	data, err := base64.StdEncoding.DecodeString("iVBORw0KGgoAAAANSUhEUgAAACgAAAAoCAIAAAADnC86AAAAFUlEQVR4nO3BMQEAAADCoPVPbQo/oAAAAHgbCwAAAaWZM+QAAAAASUVORK5CYII=")
	if err != nil {
		panic(err)
	}
	return data
}()

func TestWordFiles(t *testing.T) {
	t.Parallel()
	drawing := `<w:p><w:r><w:drawing><wp:inline><wp:docPr descr="A pot"/><a:graphic><pic:pic><a:blip r:embed="i"/></pic:pic></a:graphic></wp:inline></w:drawing></w:r></w:p>`
	body := drawing + drawing + `<w:p><w:r><w:object><o:OLEObject ProgID="Excel.Sheet.12" r:id="e"/></w:object></w:r></w:p>`
	archive := word(body, "i image media/image1.png\ne package embeddings/Costs.xlsx", "-- word/media/image1.png --\n-- word/embeddings/Costs.xlsx --\nPK rest\n")
	path := containertest.Write(t, archive)
	folder := t.TempDir()
	result, err := ooxml.Read(format.Source{Path: withFile(t, path, "word/media/image1.png", picture), Folder: folder})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"figure <figure-1.png> A pot"}, texts(result.Layout.Blocks)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]format.File{{Name: "figure-1.png", MediaType: "image/png", File: "figure-1.png"}}, result.Assets); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]format.File{{Name: "Costs.xlsx", File: "child-1"}}, result.Children); diff != "" {
		t.Error(diff)
	}
	for name, want := range map[string]string{"figure-1.png": string(picture), "child-1": "PK rest\n"} {
		if got, err := os.ReadFile(filepath.Join(folder, name)); err != nil || string(got) != want {
			t.Errorf("%s holds %q, %v", name, got, err)
		}
	}
}

func TestChartsAndDiagrams(t *testing.T) {
	t.Parallel()
	chart := `-- word/charts/chart1.xml --
<c:chartSpace NS><c:chart><c:title><c:tx><c:rich><a:p><a:r><a:t>Sales</a:t></a:r></a:p></c:rich></c:tx></c:title><c:plotArea><c:barChart>
<c:ser><c:tx><c:strRef><c:strCache><c:pt idx="0"><c:v>North</c:v></c:pt></c:strCache></c:strRef></c:tx>
<c:cat><c:strRef><c:strCache><c:pt idx="0"><c:v>tea</c:v></c:pt><c:pt idx="1"><c:v>cake</c:v></c:pt></c:strCache></c:strRef></c:cat>
<c:val><c:numRef><c:numCache><c:formatCode>General</c:formatCode><c:pt idx="0"><c:v>4.2999999999999998</c:v></c:pt><c:pt idx="1"><c:v>2</c:v></c:pt></c:numCache></c:numRef></c:val></c:ser>
</c:barChart></c:plotArea></c:chart></c:chartSpace>
-- word/diagrams/data1.xml --
<dgm:dataModel NS><dgm:ptLst><dgm:pt modelId="0" type="doc"/><dgm:pt modelId="2"><dgm:t><a:p><a:r><a:t>Deputy</a:t></a:r></a:p></dgm:t></dgm:pt>
<dgm:pt modelId="1"><dgm:t><a:p><a:r><a:t>Head</a:t></a:r></a:p></dgm:t></dgm:pt><dgm:pt modelId="9" type="pres"/></dgm:ptLst>
<dgm:cxnLst><dgm:cxn srcId="0" destId="1" srcOrd="0"/><dgm:cxn srcId="1" destId="2" srcOrd="0"/><dgm:cxn srcId="2" destId="1" srcOrd="0"/></dgm:cxnLst></dgm:dataModel>
`
	body := `<w:p><w:r><w:drawing><a:graphicData><c:chart r:id="c"/></a:graphicData></w:drawing><w:drawing><a:graphicData><dgm:relIds r:dm="d"/></a:graphicData></w:drawing></w:r></w:p>`
	want := []string{"caption Sales", "table |  | North |\n| --- | --- |\n| tea | 4.3 |\n| cake | 2 |", "list - Head\n  - Deputy"}
	if diff := cmp.Diff(want, texts(read(t, word(body, "c chart charts/chart1.xml\nd diagramData diagrams/data1.xml", chart)).Layout.Blocks)); diff != "" {
		t.Error(diff)
	}
}

func TestWordProperties(t *testing.T) {
	t.Parallel()
	layout := read(t, word(p("", "Text"), "", `-- docProps/core.xml --
<x xmlns:dc="dc"><dc:title> The  title </dc:title><dc:creator>Ann</dc:creator><created>2024-05-01T10:00:00Z</created><modified>1601-01-01T00:00:00Z</modified></x>
`)).Layout
	if diff := cmp.Diff(map[string]string{"author": "Ann", "created": "2024-05-01T10:00:00Z"}, layout.Metadata); diff != "" || layout.Title != "The title" {
		t.Errorf("title %q, metadata %s", layout.Title, diff)
	}
}
