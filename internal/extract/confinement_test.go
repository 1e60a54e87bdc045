package extract_test

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/confine"
	"github.com/cairn-rag/cairn/internal/extract"
	"github.com/cairn-rag/cairn/internal/extract/container/containertest"
	"github.com/cairn-rag/cairn/internal/extract/extracttest"
	"github.com/cairn-rag/cairn/internal/extract/format"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// secretWords stand in a file of the server, and no document may show them.
const secretWords = "SECRETOFTHESERVER"

// red is the colour of a picture of the server, and no document may show it.
var red = color.RGBA{R: 0xff, A: 0xff}

// target is what the documents of attackers refer to.
type target struct {
	picture, text, table string // paths
	address              string // of a server that nobody may call
}

func newTarget(t *testing.T) target {
	t.Helper()
	folder := t.TempDir()
	g := target{filepath.Join(folder, "canary.png"), filepath.Join(folder, "canary.txt"), filepath.Join(folder, "canary.csv"), extracttest.Uncalled(t)}
	drawn := image.NewRGBA(image.Rect(0, 0, 120, 120))
	for i := range 120 * 120 {
		drawn.SetRGBA(i%120, i/120, red)
	}
	var b bytes.Buffer
	if err := png.Encode(&b, drawn); err != nil {
		t.Fatal(err)
	}
	for path, data := range map[string][]byte{g.picture: b.Bytes(), g.text: []byte(secretWords), g.table: []byte(secretWords + ",1\n")} {
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return g
}

// links returns the ways to write the address of the file, and of the server.
func (g target) links() []string {
	return []string{
		"file://" + g.picture, g.picture, "file://localhost" + g.picture, "../../../../../../../.." + g.picture, "vnd.sun.star.expand:file://" + g.picture,
		`\\127.0.0.1` + g.picture, "smb://127.0.0.1" + g.picture, "http://" + g.address + "/a.png", "ftp://" + g.address + "/a.png",
	}
}

// TestChildrenReadNoOtherFiles has a child read a file of the server.
func TestChildrenReadNoOtherFiles(t *testing.T) {
	t.Parallel()
	needConfinement(t)
	g := newTarget(t)
	note := write(t, "note.txt", []byte("A note."))
	for name, tc := range map[string]struct {
		confinement extract.Confinement
		isReadable  bool
	}{
		"in_namespaces":            {extract.InNamespaces, false},
		"restricted_with_Landlock": {extract.WithoutTools, false},
		"unconfined":               {extract.Unconfined, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pool, _ := newPool(t, extract.PoolConfig{Size: 1, Confinement: tc.confinement, Tools: format.FindTools()})
			for _, path := range []string{g.text, "/etc/passwd", "/proc/self/environ", note} {
				_, err := pool.Extract(t.Context(), extract.Input{Name: peek + path + ";.txt", Path: note})
				if isReadable := knowledge.IsCode(err, knowledge.CodeInternal); isReadable != tc.isReadable {
					t.Errorf("the child can read %s: %t (%v)", path, isReadable, err)
				}
			}
			page := write(t, "a.pdf", onePage([]byte("BT /F 12 Tf 20 100 Td (A page.) Tj ET"), ""))
			if got := mustExtract(t, pool, page); len(got.Pages) != 1 {
				t.Errorf("%d pages, want 1", len(got.Pages))
			}
		})
	}
}

// TestWithoutNamespaces reads what needs a tool where none can be confined.
func TestWithoutNamespaces(t *testing.T) {
	t.Parallel()
	pool, _ := newPool(t, extract.PoolConfig{Size: 1, Confinement: extract.WithoutTools, Tools: format.FindTools()})
	for name, content := range map[string][]byte{"a.rtf": []byte(`{\rtf1 Tea is hot.}`), "a.pdf": scans(1)} {
		_, err := pool.Extract(t.Context(), extract.Input{Name: name, Path: write(t, "upload", content), Folder: t.TempDir()})
		wantCode(t, err, knowledge.CodeNeedsComponent)
		if err == nil || !strings.Contains(err.Error(), "bubblewrap") {
			t.Errorf("the error does not say what to install: %v", err)
		}
	}
	result, err := pool.Extract(t.Context(), extract.Input{Name: "a.docx", Path: write(t, "upload", wordDocument(t, "Tea is hot.")), Folder: t.TempDir()})
	if err != nil || result.Layout.Reader != "own" {
		t.Errorf("a Word document is read by %q, %v", result.Layout.Reader, err)
	}
}

// TestFilesOfAResultAreFiles has a tool leave links and other things beside the files of a
// result, as a document can that has taken over a tool.
func TestFilesOfAResultAreFiles(t *testing.T) {
	t.Parallel()
	g := newTarget(t)
	script := "if [ \"$1\" = --list-langs ]; then echo eng; exit; fi\nln -s " + g.text + " link; mkfifo pipe; mkdir folder; ln -s " + g.text + " folder/link; echo kept > file\n" +
		"printf '5\\t1\\t1\\t1\\t1\\t1\\t10\\t10\\t90\\t20\\t95\\tword\\n'\n"
	pool, _ := newPool(t, extract.PoolConfig{Size: 1, Tools: format.Tools{Tesseract: extracttest.Script(t, "tesseract", script)}})
	folder := t.TempDir()
	if _, err := pool.Extract(t.Context(), extract.Input{Name: "a.pdf", Path: write(t, "a.pdf", scans(1)), Folder: folder}); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if diff := cmp.Diff([]string{"file"}, names); diff != "" {
		t.Error(diff)
	}
}

// TestNoDocumentShowsFilesOfTheServer reads documents of every format that LibreOffice
// opens, which refer to files of the server and to an address in every way that the
// format has.
func TestNoDocumentShowsFilesOfTheServer(t *testing.T) {
	t.Parallel()
	needConfinement(t)
	tools := officeTools(t)
	g := newTarget(t)
	pool, _ := newPool(t, extract.PoolConfig{Size: 1, Tools: tools})
	for name, content := range hostileDocuments(t, tools, g) {
		t.Run(name, func(t *testing.T) {
			shown := g.shownBy(t, pool, name, content)
			if shown != "" {
				t.Error(shown)
			}
		})
	}
}

// TestTheAttackIsReal shows that the documents above are not harmless by themselves.
func TestTheAttackIsReal(t *testing.T) {
	t.Parallel()
	tools := officeTools(t)
	g := newTarget(t)
	pool, _ := newPool(t, extract.PoolConfig{Size: 1, Tools: tools, Confinement: extract.Unconfined})
	if shown := g.shownBy(t, pool, "a.rtf", g.rtf()); shown == "" {
		t.Error("LibreOffice outside of namespaces draws no picture of the server: the tests of the confinement need another document")
	}
}

// shownBy reads a document and returns what of the target it shows, "" if nothing.
func (g target) shownBy(t *testing.T, pool *extract.Pool, name string, content []byte) string {
	t.Helper()
	folder := t.TempDir()
	result, err := pool.Extract(t.Context(), extract.Input{Name: name, Path: write(t, "upload", content), Folder: folder})
	if filepath.Ext(name) == ".key" && knowledge.IsCode(err, knowledge.CodeCorrupt) {
		return "" // LibreOffice does not open every presentation of Keynote
	}
	if err != nil {
		t.Fatal(err)
	}
	text := fmt.Sprintf("%+v", result.Layout)
	if !strings.Contains(text, "Visible") && filepath.Ext(name) != ".key" {
		t.Errorf("the text is lost: %s", text)
	}
	if strings.Contains(text, secretWords) {
		return "the text has the words of the server's file"
	}
	for _, file := range append(result.Assets, result.Children...) {
		if data, err := os.ReadFile(filepath.Join(folder, file.File)); err != nil || bytes.Contains(data, []byte(secretWords)) {
			return fmt.Sprintf("%s has the words of the server's file, or %v", file.Name, err)
		}
	}
	for _, page := range result.Layout.Pages {
		if isRed(t, pool, filepath.Join(folder, extract.PagesAsset), page.Page) {
			return fmt.Sprintf("page %d shows the picture of the server", page.Page)
		}
	}
	return ""
}

// isRed reports whether a page of a PDF shows the red of the picture.
func isRed(t *testing.T, pool *extract.Pool, pages string, page int) bool {
	t.Helper()
	folder := t.TempDir()
	name, err := pool.Draw(t.Context(), extract.Input{Name: "pages.pdf", Path: pages, Folder: folder}, extract.Drawing{Page: page, Resolution: 72})
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(folder, name))
	if err != nil {
		t.Fatal(err)
	}
	drawn, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	bounds := drawn.Bounds()
	for i := range bounds.Dx() * bounds.Dy() {
		if r, g, b, _ := drawn.At(bounds.Min.X+i%bounds.Dx(), bounds.Min.Y+i/bounds.Dx()).RGBA(); r > 0xe000 && g < 0x2000 && b < 0x2000 {
			return true
		}
	}
	return false
}

// hostileDocuments returns documents of all formats by their names. The documents of the
// older formats are made from OpenDocument, as LibreOffice saves them.
func hostileDocuments(t *testing.T, tools format.Tools, g target) map[string][]byte {
	t.Helper()
	documents := map[string][]byte{"a.rtf": g.rtf()}
	read := func(path string) []byte {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	documents["a.docx"] = read(linkingDocument(t, "file://"+g.picture, "file://"+g.text))
	documents["a.key"] = read(g.keynote(t))
	for kind, targets := range map[string][]string{"odt": {"doc", "docx", "rtf"}, "odp": {"ppt", "pptx"}, "ods": {"xls", "xlsx"}} {
		source := filepath.Join(t.TempDir(), "linked."+kind)
		if err := os.WriteFile(source, read(g.openDocument(t, kind)), 0o600); err != nil {
			t.Fatal(err)
		}
		documents["a."+kind] = read(source)
		for _, extension := range targets {
			documents["linked."+extension] = read(saveAs(t, tools.LibreOffice, source, extension))
		}
	}
	return documents
}

// saveAs has LibreOffice save a document in another format and returns its path. It sees
// nothing of the target, so it keeps the links as they are.
func saveAs(t *testing.T, office, source, extension string) string {
	t.Helper()
	program, err := filepath.EvalSymlinks(office)
	if err != nil {
		t.Fatal(err)
	}
	program = filepath.Join(filepath.Dir(program), "soffice.bin")
	view := confine.View{Program: "/usr/bin/env", Folder: filepath.Dir(source), Tools: []string{program}}
	arguments := confine.Arguments(view, []string{"HOME=" + confine.Folder, "LD_LIBRARY_PATH=" + filepath.Dir(program)}, program,
		"--headless", "--norestore", "-env:UserInstallation=file://"+confine.Folder+"/profile", "--convert-to", extension, filepath.Base(source))
	path := strings.TrimSuffix(source, filepath.Ext(source)) + "." + extension
	for range 3 { // in a new profile it asks to be started again
		out, err := exec.CommandContext(t.Context(), confine.Bubblewrap, arguments...).CombinedOutput()
		if _, missing := os.Stat(path); missing == nil {
			return path
		}
		t.Logf("save as %s: %v: %s", extension, err, out)
	}
	t.Fatalf("LibreOffice does not save %s as %s", source, extension)
	return ""
}

// rtf returns a text with fields that show pictures and files, and with a linked object.
func (g target) rtf() []byte {
	var b strings.Builder
	b.WriteString(`{\rtf1\ansi Visible`)
	field := func(code string) {
		fmt.Fprintf(&b, `{\field{\*\fldinst %s}{\fldrslt }}\par `, code)
	}
	for _, link := range g.links() {
		link = strings.ReplaceAll(link, `\`, `\\\\`)
		field(`INCLUDEPICTURE "` + link + `" \\d`)
		field(`INCLUDEPICTURE "` + link + `" \\* MERGEFORMAT`)
	}
	for _, path := range []string{g.text, "file://" + g.text} {
		field(`INCLUDETEXT "` + path + `"`)
		field(`INCLUDE "` + path + `"`)
		field(`LINK Word.Document "` + path + `" \\a \\t`)
		field(`DDEAUTO soffice "` + path + `" 1`)
	}
	field(`HYPERLINK "file://` + g.text + `"`)
	b.WriteString(`{\object\objautlink{\*\objclass Package}{\*\objname ` + g.text + `}{\result x}}{\*\template file://` + g.text + `}}`)
	return []byte(b.String())
}

const openDocumentNames = `xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0"` +
	` xmlns:draw="urn:oasis:names:tc:opendocument:xmlns:drawing:1.0" xmlns:svg="urn:oasis:names:tc:opendocument:xmlns:svg-compatible:1.0" xmlns:xlink="http://www.w3.org/1999/xlink"` +
	` xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0" xmlns:script="urn:oasis:names:tc:opendocument:xmlns:script:1.0" xmlns:presentation="urn:oasis:names:tc:opendocument:xmlns:presentation:1.0"`

// openDocument returns the path of an OpenDocument with linked pictures, objects,
// sections and cells, and a macro that runs when it is opened.
func (g target) openDocument(t *testing.T, kind string) string {
	t.Helper()
	var frames, table strings.Builder
	for i, link := range g.links() {
		frame := `<draw:frame draw:name="f%d%s" svg:width="5cm" svg:height="5cm"%s><draw:%s xlink:href="%s" xlink:type="simple" xlink:show="embed" xlink:actuate="onLoad"/></draw:frame>`
		anchor := ` text:anchor-type="as-char"`
		if kind != "odt" {
			anchor = fmt.Sprintf(` svg:x="%dcm" svg:y="1cm"`, i)
		}
		fmt.Fprintf(&frames, frame, i, "p", anchor, "image", link)
		fmt.Fprintf(&frames, frame, i, "o", anchor, "object", link)
		fmt.Fprintf(&frames, frame, i, "v", anchor, "plugin", link)
		fmt.Fprintf(&table, `<table:table-row><table:table-cell table:formula="of:=WEBSERVICE(&quot;%s&quot;)" office:value-type="string"/></table:table-row>`, link)
	}
	files := "file://" + g.table
	table.WriteString(`<table:table-row><table:table-cell office:value-type="string"><text:p>Visible</text:p></table:table-cell>` +
		`<table:table-cell table:formula="of:='` + files + `'#$canary.A1" office:value-type="string"/><table:table-cell table:formula="of:=DDE(&quot;soffice&quot;;&quot;` + g.table + `&quot;;&quot;A1&quot;)" office:value-type="string"/>` +
		`<table:table-cell table:formula="of:=INDIRECT(&quot;'` + files + `'#$canary.A1&quot;)" office:value-type="string"/>` +
		`<table:table-cell office:value-type="string"><table:cell-range-source table:name="A1" xlink:type="simple" xlink:href="` + files + `" table:filter-name="Text - txt - csv (StarCalc)" table:last-column-spanned="2" table:last-row-spanned="1"/><text:p>old</text:p></table:table-cell></table:table-row>`)
	var media, body string
	switch kind {
	case "odt":
		media = "text"
		body = `<office:text><text:p>Visible` + frames.String() + `</text:p><text:section text:name="s"><text:section-source xlink:href="file://` + g.text + `" text:filter-name="Text"/><text:p>old</text:p></text:section>` +
			`<text:p><text:dde-connection office:value-type="string" text:connection-name="x"/></text:p></office:text>`
	case "odp":
		media = "presentation"
		body = `<office:presentation><draw:page draw:name="one"><draw:frame svg:width="5cm" svg:height="2cm"><draw:text-box><text:p>Visible</text:p></draw:text-box></draw:frame>` + frames.String() + `</draw:page>` +
			`<draw:page draw:name="two"><office:forms/><presentation:notes/></draw:page></office:presentation>`
	default:
		media = "spreadsheet"
		body = `<office:spreadsheet><table:table table:name="one"><table:shapes>` + frames.String() + `</table:shapes>` + table.String() + `</table:table>` +
			`<table:table table:name="two"><table:table-source xlink:type="simple" xlink:href="` + files + `" table:filter-name="Text - txt - csv (StarCalc)"/></table:table></office:spreadsheet>`
	}
	media = "application/vnd.oasis.opendocument." + media
	macro := `<office:scripts><office:event-listeners><script:event-listener script:language="ooo:script" script:event-name="dom:load" xlink:href="vnd.sun.star.script:Standard.M.Main?language=Basic&amp;location=document"/></office:event-listeners></office:scripts>`
	basic := `<?xml version="1.0" encoding="UTF-8"?><script:module xmlns:script="http://openoffice.org/2000/script" script:name="M" script:language="StarBasic">Sub Main
 ThisComponent.getText().setString(CreateUnoService("com.sun.star.ucb.SimpleFileAccess").openFileRead("file://` + g.text + `").readLine())
End Sub</script:module>`
	const library = `<library:library xmlns:library="http://openoffice.org/2000/library" library:name="Standard" library:readonly="false" library:passwordprotected="false"><library:element library:name="M"/></library:library>`
	const libraries = `<library:libraries xmlns:library="http://openoffice.org/2000/library" xmlns:xlink="http://www.w3.org/1999/xlink"><library:library library:name="Standard" library:link="false"/></library:libraries>`
	return containertest.WriteFiles(t, containertest.File{Name: "mimetype", Data: []byte(media)},
		containertest.File{Name: "META-INF/manifest.xml", Data: []byte(`<manifest:manifest xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0"><manifest:file-entry manifest:full-path="/" manifest:media-type="` + media + `"/><manifest:file-entry manifest:full-path="content.xml" manifest:media-type="text/xml"/>` +
			`<manifest:file-entry manifest:full-path="Basic/script-lc.xml" manifest:media-type="text/xml"/><manifest:file-entry manifest:full-path="Basic/Standard/script-lb.xml" manifest:media-type="text/xml"/><manifest:file-entry manifest:full-path="Basic/Standard/M.xml" manifest:media-type="text/xml"/></manifest:manifest>`)},
		containertest.File{Name: "content.xml", Data: []byte(`<office:document-content ` + openDocumentNames + ` office:version="1.2">` + macro + `<office:body>` + body + `</office:body></office:document-content>`)},
		containertest.File{Name: "Basic/script-lc.xml", Data: []byte(libraries)}, containertest.File{Name: "Basic/Standard/script-lb.xml", Data: []byte(library)}, containertest.File{Name: "Basic/Standard/M.xml", Data: []byte(basic)})
}

// keynote returns the path of a Keynote presentation whose picture is outside of it.
func (g target) keynote(t *testing.T) string {
	t.Helper()
	var images strings.Builder
	for i, link := range g.links() {
		fmt.Fprintf(&images, `<sf:media sfa:ID="m%d"><sf:geometry><sf:naturalSize sfa:w="120" sfa:h="120"/><sf:size sfa:w="120" sfa:h="120"/><sf:position sfa:x="10" sfa:y="10"/></sf:geometry><sf:content><sf:image-media><sf:filtered-image><sf:unfiltered><sf:data sf:path="%s" sf:displayname="a.png"/></sf:unfiltered></sf:filtered-image></sf:image-media></sf:content></sf:media>`, i, link)
	}
	return containertest.WriteFiles(t, containertest.File{Name: "index.apxl", Data: []byte(`<?xml version="1.0"?><key:presentation xmlns:sfa="http://developer.apple.com/namespaces/sfa" xmlns:sf="http://developer.apple.com/namespaces/sf" xmlns:key="http://developer.apple.com/namespaces/keynote2" key:version="92008102400">` +
		`<key:slide-list><key:slide><key:page><sf:layers><sf:layer><sf:drawables>` + images.String() + `</sf:drawables></sf:layer></sf:layers></key:page></key:slide></key:slide-list></key:presentation>`)})
}
