package odf_test

import (
	"strings"
	"testing"

	"github.com/cairn-rag/cairn/internal/extract/container/containertest"
	"github.com/cairn-rag/cairn/internal/extract/format"
	"github.com/cairn-rag/cairn/internal/extract/odf"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/google/go-cmp/cmp"
)

const namespaces = `xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" xmlns:text="urn:text" xmlns:table="urn:table" xmlns:draw="urn:draw" xmlns:style="urn:style"` +
	` xmlns:fo="urn:fo" xmlns:dc="urn:dc" xmlns:svg="urn:svg" xmlns:xlink="urn:xlink" xmlns:presentation="urn:presentation" xmlns:chart="urn:chart" xmlns:meta="urn:meta"`

// document returns the txtar archive of a document: its automatic styles, its body,
// and other files.
func document(styles, body, files string) string {
	return strings.ReplaceAll(`-- content.xml --
<office:document-content NS><office:automatic-styles>`+styles+`</office:automatic-styles><office:body>`+body+`</office:body></office:document-content>
`+files, "NS", namespaces)
}

func read(t *testing.T, archive string) format.Result {
	t.Helper()
	result, err := odf.Read(format.Source{Path: containertest.Write(t, archive), Folder: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	return result
}

func texts(blocks []knowledge.Block) []string {
	var out []string
	for _, b := range blocks {
		line := string(b.Kind)
		if b.Level > 0 {
			line += string(rune('0' + b.Level))
		}
		out = append(out, line+" "+b.Text)
	}
	return out
}

func p(s string) string { return "<text:p>" + s + "</text:p>" }

func TestText(t *testing.T) {
	t.Parallel()
	const numbered = `<text:list-style style:name="L"><text:list-level-style-number text:level="1" style:num-format="1" style:num-suffix="."/>` +
		`<text:list-level-style-number text:level="2" style:num-format="a" text:display-levels="2"/></text:list-style>` +
		`<text:list-style style:name="B"><text:list-level-style-bullet text:level="1"/></text:list-style>`
	item := func(s string) string { return "<text:list-item>" + s + "</text:list-item>" }
	for _, tc := range []struct {
		behaviour, styles, body, files string
		want                           []string
	}{
		{"kinds follow the styles", `<style:style style:name="P1" style:family="paragraph" style:parent-style-name="Title"/><style:style style:name="P2" style:family="paragraph" style:parent-style-name="Figure"/>`,
			`<text:p text:style-name="P1">Tea</text:p><text:h text:outline-level="2">Kinds</text:h>` + p("Black.") + `<text:p text:style-name="P2">A pot</text:p><text:p text:style-name="Preformatted_20_Text">boil()</text:p>`,
			`-- styles.xml --
<office:document-styles NS><office:styles><style:style style:name="Figure" style:family="paragraph" style:parent-style-name="Caption"/></office:styles></office:document-styles>
`, []string{"title Tea", "heading2 Kinds", "paragraph Black.", "caption A pot", "code boil()"}},
		{"spaces, tabs and breaks", "", p(`a<text:s text:c="3"/>b<text:tab/>c<text:line-break/>d` + "\n  e"), "", []string{"paragraph a b c\nd e"}},
		{"spans, links and fields", "", p(`<text:span>Te</text:span>a <text:a xlink:href="http://x">link</text:a> <text:date>today</text:date>`), "", []string{"paragraph Tea link today"}},
		{"what was deleted is not there", "", `<text:tracked-changes><text:changed-region><text:deletion>` + p("old") + `</text:deletion></text:changed-region></text:tracked-changes>` + p("new"), "", []string{"paragraph new"}},
		{"lists count, and continue", numbered, `<text:list text:style-name="L" xml:id="l1">` + item(p("one")+"<text:list>"+item(p("deep"))+"</text:list>") + item(p("two")+p("more")) + "</text:list>" +
			p("Text") + `<text:list text:style-name="L" text:continue-list="l1">` + item(p("three")) + "</text:list>" + p("Text") + `<text:list text:style-name="B">` + item(p("bullet")) + "</text:list>", "",
			[]string{"list 1. one\n  1.a deep\n2. two", "paragraph more", "paragraph Text", "list 3. three", "paragraph Text", "list - bullet"}},
		{"numbered headings", "", `<text:h text:outline-level="1">A</text:h><text:h text:outline-level="2">B</text:h><text:h text:outline-level="1">C</text:h>`, `-- styles.xml --
<office:document-styles NS><office:styles><text:outline-style><text:outline-level-style text:level="1" style:num-format="1"/><text:outline-level-style text:level="2" style:num-format="1" text:display-levels="2"/></text:outline-style></office:styles></office:document-styles>
`, []string{"heading1 1 A", "heading2 1.1 B", "heading1 2 C"}},
		{"notes and comments follow their paragraph", "", p(`Hot<text:note><text:note-citation>1</text:note-citation><text:note-body>`+p("90 degrees")+`</text:note-body></text:note> tea<office:annotation><dc:creator>Ann</dc:creator><dc:date>2024-05-01T10:00</dc:date>`+p("Why?")+`</office:annotation>.`) + p("Next"), "",
			[]string{"paragraph Hot[^1] tea.", "paragraph [^1]: 90 degrees", "paragraph Comment by Ann, 2024-05-01: Why?", "paragraph Next"}},
		{"text boxes and shapes", "", p(`Around<draw:frame><draw:text-box>`+p("inside")+`</draw:text-box></draw:frame>`) + `<draw:g><draw:custom-shape>` + p("shape") + `</draw:custom-shape></draw:g>`, "",
			[]string{"paragraph Around", "paragraph inside", "paragraph shape"}},
		{"sections are read and a table of contents is furniture", "", `<text:section>` + p("inside") + `</text:section><text:table-of-content><text:index-body>` + p("Kinds 3") + `</text:index-body></text:table-of-content>`, "",
			[]string{"paragraph inside", "furniture Kinds 3"}},
		{"a table", "", `<table:table><table:table-header-rows><table:table-row><table:table-cell>` + p("Drink") + `</table:table-cell><table:table-cell table:number-columns-spanned="2">` + p("Price") +
			`</table:table-cell><table:covered-table-cell/></table:table-row></table:table-header-rows><table:table-row><table:table-cell>` + p("tea") + `</table:table-cell><table:table-cell>` + p("2") + `</table:table-cell><table:table-cell>` + p("3") + `</table:table-cell></table:table-row></table:table>`, "",
			[]string{"table | Drink | Price | Price |\n| --- | --- | --- |\n| tea | 2 | 3 |"}},
		{"a chart", "", p(`<draw:frame><draw:object xlink:href="./Object 1"/><draw:image xlink:href="x.png"/></draw:frame>`), `-- Object 1/content.xml --
<office:document-content NS><office:body><office:chart><chart:chart><chart:title>` + p("Sales") + `</chart:title><table:table><table:table-rows><table:table-row><table:table-cell>` + p("") + `</table:table-cell><table:table-cell>` + p("North") +
			`</table:table-cell></table:table-row><table:table-row><table:table-cell>` + p("tea") + `</table:table-cell><table:table-cell>` + p("4") + `</table:table-cell></table:table-row></table:table-rows></table:table></chart:chart></office:chart></office:body></office:document-content>
`, []string{"caption Sales", "table |  | North |\n| --- | --- |\n| tea | 4 |"}},
	} {
		t.Run(tc.behaviour, func(t *testing.T) {
			t.Parallel()
			archive := document(tc.styles, "<office:text>"+tc.body+"</office:text>", tc.files)
			if diff := cmp.Diff(tc.want, texts(read(t, archive).Layout.Blocks)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestSlides(t *testing.T) {
	t.Parallel()
	body := `<office:presentation><presentation:footer-decl presentation:name="f">Company</presentation:footer-decl>
<draw:page draw:name="a"><draw:frame><draw:text-box>` + p("Box") + `</draw:text-box></draw:frame><draw:frame presentation:class="title"><draw:text-box>` + p("Tea") + `</draw:text-box></draw:frame>
<presentation:notes><draw:frame presentation:class="notes"><draw:text-box>` + p("Say hello") + `</draw:text-box></draw:frame></presentation:notes></draw:page>
<draw:page draw:name="b" draw:style-name="h"><draw:frame presentation:class="outline"><draw:text-box><text:list><text:list-item>` + p("one") + `</text:list-item></text:list></draw:text-box></draw:frame></draw:page></office:presentation>`
	styles := `<style:style style:name="h" style:family="drawing-page"><style:drawing-page-properties presentation:visibility="hidden"/></style:style>`
	result := read(t, document(styles, body, ""))
	want := []string{"heading1 Slide 1: Tea", "paragraph Box", "paragraph Speaker notes: Say hello", "heading1 Slide 2 (hidden)", "list - one", "footer Company"}
	if diff := cmp.Diff(want, texts(result.Layout.Blocks)); diff != "" {
		t.Error(diff)
	}
	if result.Layout.Title != "Tea" {
		t.Errorf("title %q", result.Layout.Title)
	}
}

func TestSheets(t *testing.T) {
	t.Parallel()
	cell := func(s string) string { return "<table:table-cell>" + p(s) + "</table:table-cell>" }
	row := func(cells ...string) string {
		return "<table:table-row>" + strings.Join(cells, "") + "</table:table-row>"
	}
	body := `<office:spreadsheet><table:table table:name="Prices">` + row(cell("drink"), cell("price")) +
		`<table:table-row table:number-rows-repeated="2"><table:table-cell table:number-columns-repeated="1024"/></table:table-row>` +
		row(cell("tea"), `<table:table-cell><office:annotation><dc:creator>Ann</dc:creator>`+p("Why?")+`</office:annotation>`+p("2.00 €")+`</table:table-cell>`) +
		`<table:table-row table:number-rows-repeated="1048570"><table:table-cell table:number-columns-repeated="16384"/></table:table-row>` +
		`</table:table><table:table table:name="Empty"/><table:table table:name="Old" table:style-name="h">` + row(cell("x"), cell("y")) + `</table:table></office:spreadsheet>`
	styles := `<style:style style:name="h" style:family="table"><style:table-properties table:display="false"/></style:style>`
	layout := read(t, document(styles, body, "")).Layout
	want := []string{"heading1 Prices", "table | drink | price |\n| --- | --- |\n| tea | 2.00 € |", "paragraph Comment on Prices!B4 by Ann: Why?", "heading1 Old (hidden sheet)", "table | x | y |"}
	if diff := cmp.Diff(want, texts(layout.Blocks)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(knowledge.Sheet{Name: "Prices", Columns: 2, Rows: []int{1, 1, 4}}, layout.Blocks[1].Sheet); diff != "" {
		t.Error(diff)
	}
}

func TestHostileDocuments(t *testing.T) {
	t.Parallel()
	wide := `<table:table-row table:number-rows-repeated="1000000"><table:table-cell table:number-columns-repeated="1000000">` + p("a bomb of cells") + `</table:table-cell></table:table-row>`
	for _, tc := range []struct {
		behaviour, archive string
		code               knowledge.Code // "" = text
	}{
		{"an encrypted document", "-- META-INF/manifest.xml --\n<m><file-entry full-path=\"content.xml\"><encryption-data/></file-entry></m>\n-- content.xml --\nx\n", knowledge.CodeEncrypted},
		{"no content", "-- styles.xml --\n<a/>\n", knowledge.CodeCorrupt},
		{"XML that is cut off", document("", "<office:text><text:p>", ""), knowledge.CodeCorrupt},
		{"a sheet of a trillion cells", document("", `<office:spreadsheet><table:table table:name="a">`+strings.Repeat(wide, 20)+`</table:table></office:spreadsheet>`, ""), knowledge.CodeTooLarge},
		{"a table of a trillion cells", document("", `<office:text><table:table>`+strings.Repeat(wide, 20)+`</table:table></office:text>`, ""), knowledge.CodeTooLarge},
		{"lists nested deeply", document("", "<office:text>"+strings.Repeat("<text:list><text:list-item>", 1000)+strings.Repeat("</text:list-item></text:list>", 1000)+"</office:text>", ""), knowledge.CodeParseLimit},
		{"an object that contains itself", document("", "<office:text>"+p(`<draw:frame><draw:object xlink:href="."/></draw:frame>x`)+"</office:text>", ""), ""},
		{"a section that is a file of the server", document("", `<office:text><text:section><text:section-source xlink:href="file:///etc/passwd"/>`+p("x")+"</text:section></office:text>", ""), ""},
	} {
		t.Run(tc.behaviour, func(t *testing.T) {
			t.Parallel()
			_, err := odf.Read(format.Source{Path: containertest.Write(t, tc.archive), Folder: t.TempDir()})
			if tc.code == "" && err != nil || tc.code != "" && !knowledge.IsCode(err, tc.code) {
				t.Errorf("error %v, want code %q", err, tc.code)
			}
		})
	}
}
