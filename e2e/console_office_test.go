package e2e_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/xuri/excelize/v2"
)

// pierBook returns a workbook with a row for each of many piers.
func pierBook(t *testing.T) []byte {
	t.Helper()
	book := excelize.NewFile()
	defer func() { _ = book.Close() }() // it is in memory
	rows := [][]any{{"Pier", "Has", "Keeper"}, {"northern pier", "a lighthouse", "Petrosyan"}, {"southern pier", "a foghorn", "Abernathy"}}
	for i := range 60 {
		rows = append(rows, []any{fmt.Sprintf("mole %d", i), fmt.Sprintf("bollard %d", i*i), "nobody"})
	}
	for i, row := range rows {
		if err := book.SetSheetRow("Sheet1", fmt.Sprintf("A%d", i+1), &row); err != nil {
			t.Fatal(err)
		}
	}
	var b bytes.Buffer
	if err := book.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestConsoleShowsASheet opens a citation of a workbook on its page, which is made then, and
// the pages of the workbook with the boxes of its passages.
func TestConsoleShowsASheet(t *testing.T) {
	t.Parallel()
	page := browser(t)
	s := start(t)
	thrown, asked := thrownIn(page), trafficOf(t, page)
	d := s.sendFiles(t, nil, file{"piers.xlsx", pierBook(t)})[0]
	s.ended(t, d)
	s.wantPublished(t, d.ID)
	s.signInto(t, page)
	openCited(t, page, "What does the southern pier have?")
	awaitPage(t, page, `(() => { const picture = document.querySelector(".panel img"); return picture?.complete && picture.naturalWidth > 0 && document.querySelectorAll(".panel .box").length > 0; })()`)
	if note := evaluate[string](t, page, `document.querySelector(".panel [role=status].quiet:not(.find *)")?.textContent ?? ""`); note != "" {
		t.Errorf("the panel notes %q", note)
	}
	wantLooks(t, page)
	do(t, page, chromedp.SendKeys(`.find input`, "Abernathy", chromedp.ByQuery))
	awaitPage(t, page, `document.querySelector(".find [role=status]").textContent === "1 of 1" && document.querySelectorAll(".panel .box").length === 1`)

	open(t, page, s.ends.API+"/documents/"+d.ID)
	awaitPage(t, page, `(() => { const p = document.querySelector(".reader img"); return p?.complete && p.naturalWidth > 0 && document.querySelectorAll(".reader .box").length > 0; })()`)
	press(t, page, "Next page")
	awaitPage(t, page, `location.search === "?page=2" && document.querySelector(".reader img").src.includes("/pages/2.png") && document.querySelectorAll(".reader .box").length > 0`)
	if len(*thrown) > 0 {
		t.Errorf("the pages threw %s", *thrown)
	}
	asked.wantOnly(t, s.ends.API)
}

// TestConsoleSaysWhoSees reads who sees a document, and tries two people.
func TestConsoleSaysWhoSees(t *testing.T) {
	t.Parallel()
	page := browser(t)
	s := start(t)
	d := s.publishWith(t, "contract", "The northern pier is let to the pilots.", map[string]any{"access": map[string]any{"users": []string{"ann"}, "groups": []string{"legal"}}})
	s.signInto(t, page)
	open(t, page, s.ends.API+"/documents/"+d.ID)
	awaitPage(t, page, `(() => { const all = document.querySelector(".who ul")?.textContent ?? ""; return all.includes("The user ann sees it") && all.includes("Members of the group legal see it"); })()`)
	const shown = `document.querySelector(".who [role=status]").textContent`
	for _, try := range []struct{ user, groups, says, because string }{
		{"ann", "", "Yes: searches of ann show it.", "The access names ann."},
		{"bob", "press, legal", "Yes: searches of bob show it.", "The access names the group legal."},
		{"eve", "press", "No: searches of eve do not show it.", "The access names neither this person nor one of these groups."},
	} {
		for name, value := range map[string]string{"user": try.user, "groups": try.groups} {
			do(t, page, chromedp.Evaluate(fmt.Sprintf(`document.querySelector('.who input[name="%s"]').value = %q`, name, value), nil))
		}
		press(t, page, "Check")
		awaitPage(t, page, fmt.Sprintf(`%s.includes(%q) && %s.includes(%q)`, shown, try.says, shown, try.because))
	}
	wantLooks(t, page)
}

// pierSlides returns a presentation with a slide for each text, which stands in a box.
func pierSlides(t *testing.T, texts ...string) []byte {
	t.Helper()
	const (
		office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
		types  = "application/vnd.openxmlformats-officedocument.presentationml."
		spaces = ` xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main" xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" xmlns:r="` + office + `"`
		rels   = `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">`
	)
	var overrides, ids, targets, slides strings.Builder
	for i, text := range texts {
		fmt.Fprintf(&overrides, `<Override PartName="/ppt/slides/slide%d.xml" ContentType="%sslide+xml"/>`, i+1, types)
		fmt.Fprintf(&ids, `<p:sldId id="%d" r:id="s%d"/>`, 256+i, i+1)
		fmt.Fprintf(&targets, `<Relationship Id="s%d" Type="%s/slide" Target="slides/slide%d.xml"/>`, i+1, office, i+1)
		fmt.Fprintf(&slides, "-- ppt/slides/slide%d.xml --\n<p:sld%s>"+`<p:cSld><p:spTree><p:nvGrpSpPr><p:cNvPr id="1" name=""/><p:cNvGrpSpPr/><p:nvPr/></p:nvGrpSpPr><p:grpSpPr/>
<p:sp><p:nvSpPr><p:cNvPr id="2" name="Text"/><p:cNvSpPr txBox="1"/><p:nvPr/></p:nvSpPr><p:spPr><a:xfrm><a:off x="914400" y="914400"/><a:ext cx="7315200" cy="914400"/></a:xfrm><a:prstGeom prst="rect"><a:avLst/></a:prstGeom></p:spPr>
<p:txBody><a:bodyPr/><a:p><a:r><a:rPr lang="en-GB" sz="2400"/><a:t>%s</a:t></a:r></a:p></p:txBody></p:sp></p:spTree></p:cSld></p:sld>
`, i+1, spaces, text)
	}
	return zipped(t, `-- [Content_Types].xml --
<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Override PartName="/ppt/presentation.xml" ContentType="`+types+`presentation.main+xml"/>`+overrides.String()+`</Types>
-- _rels/.rels --
`+rels+`<Relationship Id="r1" Type="`+office+`/officeDocument" Target="ppt/presentation.xml"/></Relationships>
-- ppt/presentation.xml --
<p:presentation`+spaces+`><p:sldIdLst>`+ids.String()+`</p:sldIdLst><p:sldSz cx="9144000" cy="6858000"/></p:presentation>
-- ppt/_rels/presentation.xml.rels --
`+rels+targets.String()+`</Relationships>
`+slides.String())
}

// TestConsoleShowsASlide opens a citation of a presentation on the picture of its slide.
func TestConsoleShowsASlide(t *testing.T) {
	t.Parallel()
	page := browser(t)
	s := start(t)
	thrown := thrownIn(page)
	d := s.sendFiles(t, nil, file{"piers.pptx", pierSlides(t, "The northern pier has a lighthouse.", "The southern pier has a foghorn.")})[0]
	s.ended(t, d)
	s.wantPublished(t, d.ID)
	s.signInto(t, page)
	openCited(t, page, "What does the southern pier have?")
	awaitPage(t, page, `(() => { const picture = document.querySelector(".panel img"); return picture?.complete && picture.naturalWidth > picture.naturalHeight && picture.src.includes("/pages/2.png") && document.querySelectorAll(".panel .box").length > 0; })()`)
	const box = `(() => { const at = e => document.querySelector(e).getBoundingClientRect(), b = at(".panel .box"), p = at(".panel img"); return [(b.left - p.left) / p.width, (b.top - p.top) / p.height, b.width / p.width, b.height / p.height]; })()`
	// The text stands in the upper half, an inch from the left of ten.
	if at := evaluate[[4]float64](t, page, box); at[0] < .05 || at[0] > .15 || at[1] < .1 || at[1] > .3 || at[2] < .2 || at[3] > .2 {
		t.Errorf("the box begins at %v of the slide", at)
	}
	wantLooks(t, page)
	if len(*thrown) > 0 {
		t.Errorf("the page threw %s", *thrown)
	}
}
