package extract_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cairn-rag/cairn/internal/extract"
	"github.com/cairn-rag/cairn/internal/extract/container/containertest"
	"github.com/cairn-rag/cairn/internal/extract/extracttest"
	"github.com/cairn-rag/cairn/internal/extract/format"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// linkingDocument returns the path of a Word document that refers to an address in
// each way in which Word would fetch it, and to a file of the server.
func linkingDocument(t *testing.T, address, file string) string {
	t.Helper()
	const office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
	relations := func(owner string, targets ...string) containertest.File {
		var b strings.Builder
		b.WriteString(`<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">`)
		for i := 0; i < len(targets); i += 2 {
			fmt.Fprintf(&b, `<Relationship Id="rId%d" Type="%s/%s" Target="%s" TargetMode="External"/>`, i/2+1, office, targets[i], targets[i+1])
		}
		return containertest.File{Name: "word/_rels/" + owner + ".xml.rels", Data: []byte(b.String() + "</Relationships>")}
	}
	field := func(code string) string {
		return `<w:p><w:r><w:fldChar w:fldCharType="begin" w:dirty="true"/></w:r><w:r><w:instrText xml:space="preserve"> ` + code + ` </w:instrText></w:r>` +
			`<w:r><w:fldChar w:fldCharType="separate"/></w:r><w:r><w:t>old</w:t></w:r><w:r><w:fldChar w:fldCharType="end"/></w:r></w:p>`
	}
	body := `<w:p><w:r><w:t>Visible</w:t></w:r></w:p>` +
		`<w:p><w:r><w:drawing><wp:inline><wp:extent cx="914400" cy="914400"/><wp:docPr id="1" name="p"/><a:graphic><a:graphicData uri="http://schemas.openxmlformats.org/drawingml/2006/picture">` +
		`<pic:pic><pic:nvPicPr><pic:cNvPr id="1" name="p"/><pic:cNvPicPr/></pic:nvPicPr><pic:blipFill><a:blip r:link="rId1"/><a:stretch><a:fillRect/></a:stretch></pic:blipFill>` +
		`<pic:spPr><a:xfrm><a:off x="0" y="0"/><a:ext cx="914400" cy="914400"/></a:xfrm><a:prstGeom prst="rect"/></pic:spPr></pic:pic></a:graphicData></a:graphic></wp:inline></w:drawing></w:r></w:p>` +
		`<w:p><w:r><w:object><v:shape style="width:50pt;height:50pt"><v:imagedata r:id="rId1"/></v:shape><o:OLEObject Type="Link" ProgID="Word.Document.12" r:id="rId2" UpdateMode="Always"/></w:object></w:r></w:p>` +
		`<w:altChunk r:id="rId3"/><w:p><w:subDoc r:id="rId4"/></w:p><w:p><w:hyperlink r:id="rId5"><w:r><w:t>a link</w:t></w:r></w:hyperlink></w:p>` +
		field(`INCLUDEPICTURE "`+address+`/f.png" \d`) + field(`INCLUDETEXT "`+file+`"`) + field(`DDEAUTO cmd "/c `+address+`"`)
	const names = `xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main" xmlns:r="` + office + `" xmlns:wp="http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing"` +
		` xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" xmlns:pic="http://schemas.openxmlformats.org/drawingml/2006/picture" xmlns:v="urn:schemas-microsoft-com:vml" xmlns:o="urn:schemas-microsoft-com:office:office"`
	return containertest.WriteFiles(t,
		containertest.File{Name: "[Content_Types].xml", Data: []byte(`<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>` +
			`<Override PartName="/word/document.xml" ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/>` +
			`<Override PartName="/word/settings.xml" ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.settings+xml"/></Types>`)},
		containertest.File{Name: "_rels/.rels", Data: []byte(`<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1" Type="` + office + `/officeDocument" Target="word/document.xml"/></Relationships>`)},
		containertest.File{Name: "word/document.xml", Data: []byte(`<w:document ` + names + `><w:body>` + body + `</w:body></w:document>`)},
		containertest.File{Name: "word/settings.xml", Data: []byte(`<w:settings ` + names + `><w:attachedTemplate r:id="rId1"/><w:updateFields w:val="true"/></w:settings>`)},
		relations("document", "image", address+"/a.png", "oleObject", address+"/b.docx", "aFChunk", address+"/c.html", "subDocument", file, "hyperlink", address+"/d"),
		relations("settings", "attachedTemplate", address+"/e.dotm"),
	)
}

// TestNothingIsFetchedForADocument reads a Word document that refers to an address,
// on which nobody calls, with and without LibreOffice.
func TestNothingIsFetchedForADocument(t *testing.T) {
	t.Parallel()
	address := extracttest.Uncalled(t)
	const secret = "the secret of the server"
	path := linkingDocument(t, "http://"+address, "file://"+write(t, "secret.txt", []byte(secret)))
	for reader, tools := range map[string]format.Tools{"own+libreoffice": officeTools(t), "own": {}} {
		pool, _ := newPool(t, extract.PoolConfig{Size: 1, Tools: tools})
		folder := t.TempDir()
		result, err := pool.Extract(t.Context(), extract.Input{Name: "a.docx", Path: path, Folder: folder})
		if err != nil {
			t.Fatal(err)
		}
		if got := result.Layout.Reader; got != reader {
			t.Errorf("read by %q, want %q", got, reader)
		}
		var text strings.Builder
		for _, b := range result.Layout.Blocks {
			text.WriteString(b.Text + "\n")
		}
		if !strings.Contains(text.String(), "Visible") || strings.Contains(text.String(), secret) {
			t.Errorf("text %q", text.String())
		}
		files, err := filepath.Glob(filepath.Join(folder, "*"))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			if data, err := os.ReadFile(f); err != nil || bytes.Contains(data, []byte(secret)) {
				t.Errorf("%s has the secret, or %v", filepath.Base(f), err)
			}
		}
	}
}

// TestAMillionRows reads a table of a million rows, in the memory and time of a
// document, and refuses a longer one.
func TestAMillionRows(t *testing.T) {
	t.Parallel()
	const million = 1_000_000
	var b bytes.Buffer
	b.WriteString("item,price\n")
	for i := range million {
		fmt.Fprintf(&b, "%d,%d\n", i, i%100)
	}
	pool, _ := newPool(t, extract.PoolConfig{Size: 1})
	result, err := pool.Extract(t.Context(), extract.Input{Name: "a.csv", Path: write(t, "upload", b.Bytes())})
	if err != nil {
		t.Fatal(err)
	}
	rows := 0
	for i, block := range result.Layout.Blocks {
		if block.Kind != knowledge.BlockTable || !strings.HasPrefix(block.Header, "| item | price |") {
			t.Fatalf("block %d is %s with the header %q", i, block.Kind, block.Header)
		}
		rows += strings.Count(block.Text, "\n") + 1
	}
	if last := result.Layout.Blocks[len(result.Layout.Blocks)-1].Text; rows != million+2 || !strings.HasSuffix(last, "| 999999 | 99 |") {
		t.Errorf("%d rows, the last %q", rows, last[max(len(last)-40, 0):])
	}
	longer := bytes.Repeat([]byte(strings.Repeat("a cell,", 10)+"\n"), million/2)
	_, err = pool.Extract(t.Context(), extract.Input{Name: "a.csv", Path: write(t, "upload", longer)})
	wantCode(t, err, knowledge.CodeTooLarge)
}
