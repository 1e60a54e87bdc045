package ooxml_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestTheLevelOfANumberStandsInTheStyle numbers paragraphs by styles alone.
func TestTheLevelOfANumberStandsInTheStyle(t *testing.T) {
	t.Parallel()
	style := func(id, base, list string) string {
		return `<w:style w:type="paragraph" w:styleId="` + id + `"><w:name w:val="` + id + `"/><w:basedOn w:val="` + base + `"/><w:pPr><w:numPr>` + list + `</w:numPr></w:pPr></w:style>`
	}
	level := func(at, text, linked string) string {
		return `<w:lvl w:ilvl="` + at + `"><w:start w:val="1"/><w:numFmt w:val="decimal"/>` + linked + `<w:lvlText w:val="` + text + `"/></w:lvl>`
	}
	numbers := func(linked string) string {
		return `-- word/numbering.xml --
<w:numbering NS><w:abstractNum w:abstractNumId="1">` + level("0", "%1.", "") + level("1", "%1.%2", linked) + level("2", "%1.%2.%3", "") + `</w:abstractNum>
<w:num w:numId="7"><w:abstractNumId w:val="1"/></w:num></w:numbering>
`
	}
	styles := "-- word/styles.xml --\n<w:styles NS>" + style("One", "", `<w:numId w:val="7"/>`) + style("Two", "", `<w:ilvl w:val="1"/><w:numId w:val="7"/>`) +
		style("Three", "One", `<w:ilvl w:val="2"/>`) + style("Derived", "Two", "") + style("Linked", "One", "") + style("None", "One", `<w:numId w:val="0"/>`) + "</w:styles>\n"
	for _, tc := range []struct {
		behaviour, body, linked string
		want                    []string
	}{
		{"the level of the style", p("One", "a") + p("Two", "b") + p("Two", "c") + p("One", "d"), "", []string{"list 1. a\n  1.1 b\n  1.2 c\n2. d"}},
		{"the level of a style that has the list of its base", p("One", "a") + p("Two", "b") + p("Three", "c"), "", []string{"list 1. a\n  1.1 b\n    1.1.1 c"}},
		{"the level of the base", p("One", "a") + p("Derived", "b"), "", []string{"list 1. a\n  1.1 b"}},
		{"the level that the list links with a derived style", p("One", "a") + p("Linked", "b"), `<w:pStyle w:val="Linked"/>`, []string{"list 1. a\n  1.1 b"}},
		{"a style without the list of its base", p("One", "a") + p("None", "b"), "", []string{"list 1. a", "paragraph b"}},
	} {
		t.Run(tc.behaviour, func(t *testing.T) {
			t.Parallel()
			result := read(t, word(tc.body, "rId1 styles styles.xml\nrId2 numbering numbering.xml", styles+numbers(tc.linked)))
			if diff := cmp.Diff(tc.want, texts(result.Layout.Blocks)); diff != "" {
				t.Error(diff)
			}
		})
	}
}
