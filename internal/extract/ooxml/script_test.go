package ooxml_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestRaisedTextInWord(t *testing.T) {
	t.Parallel()
	run := func(properties, text string) string {
		return `<w:r><w:rPr>` + properties + `</w:rPr><w:t xml:space="preserve">` + text + `</w:t></w:r>`
	}
	const up, down = `<w:vertAlign w:val="superscript"/>`, `<w:vertAlign w:val="subscript"/>`
	for want, runs := range map[string]string{
		"holds 10⁶ at 10⁻⁶ bar": run("", "holds 10") + run(up, "6") + run("", " at 10") + run(up, "-") + run(up, "6") + run("", " bar"),
		"H₂O and x_(in,out)":    run("", "H") + run(down, "2") + run("", "O and x") + run(down, "in,") + run(down, "out"),
		"the lower note¹ says":  run("", "the lower note") + run(`<w:rStyle w:val="Mark"/>`, "1") + run("", " says"),
		"not raised 1":          run("", "not raised ") + run(`<w:rStyle w:val="Mark"/><w:vertAlign w:val="baseline"/>`, "1"),
		"a[^1]":                 run("", "a") + `<w:r><w:rPr>` + up + `</w:rPr><w:footnoteReference w:id="2"/></w:r>`,
		"moved 10⁶ and x₂, 7 5": run("", "moved 10") + run(`<w:position w:val="10"/><w:sz w:val="14"/>`, "6") + run("", " and x") + run(`<w:sz w:val="14"/><w:position w:val="-6"/>`, "2") + run("", ", ") + run(`<w:position w:val="10"/>`, "7 ") + run(`<w:position w:val="2"/><w:sz w:val="14"/>`, "5"),
		"the end 10³":           run("", "the end 10") + run(up, "3"),
	} {
		result := read(t, word("<w:p>"+runs+"</w:p>", "rId1 styles styles.xml\nrId2 footnotes footnotes.xml", `-- word/styles.xml --
<w:styles NS><w:style w:type="character" w:styleId="Mark"><w:basedOn w:val="Up"/></w:style><w:style w:type="character" w:styleId="Up"><w:rPr>`+up+`</w:rPr></w:style></w:styles>
-- word/footnotes.xml --
<w:footnotes NS><w:footnote w:id="2"><w:p>`+run("", "see")+`</w:p></w:footnote></w:footnotes>
`))
		if got := result.Layout.Blocks[0].Text; got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestRaisedTextOnSlides(t *testing.T) {
	t.Parallel()
	run := func(baseline, text string) string {
		return `<a:r><a:rPr baseline="` + baseline + `"/><a:t>` + text + `</a:t></a:r>`
	}
	body := `<p:sp><p:txBody><a:p>` + run("0", "10") + run("30000", "-") + run("30000", "6") + run("", " bar of H") + run("-25000", "2") + run("", "O") + `</a:p></p:txBody></p:sp>`
	result := read(t, slides([]string{body}, ""))
	if diff := cmp.Diff("10⁻⁶ bar of H₂O", result.Layout.Blocks[1].Text); diff != "" {
		t.Error(strings.TrimSpace(diff))
	}
}
