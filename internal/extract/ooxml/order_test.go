package ooxml_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// boxAt returns a text box at a place in inches.
func boxAt(x, y, width, height float64, text string) string {
	return `<p:sp><p:nvSpPr><p:nvPr/></p:nvSpPr><p:spPr>` + frame("a", x, y, width, height) + `</p:spPr><p:txBody>` + ap(">", text) + `</p:txBody></p:sp>`
}

func frame(space string, x, y, width, height float64) string {
	emu := func(inches float64) int { return int(inches * 914_400) }
	return fmt.Sprintf(`<%s:xfrm><a:off x="%d" y="%d"/><a:ext cx="%d" cy="%d"/></%[1]s:xfrm>`, space, emu(x), emu(y), emu(width), emu(height))
}

func TestShapesAreReadByTheirPlace(t *testing.T) {
	t.Parallel()
	table := `<p:graphicFrame>` + frame("p", 1, 3, 8, 1) + `<a:graphic><a:graphicData><a:tbl><a:tr><a:tc><a:txBody>` + ap(">", "cell") + `</a:txBody></a:tc></a:tr></a:tbl></a:graphicData></a:graphic></p:graphicFrame>`
	group := func(y float64, shapes string) string {
		return `<p:grpSp><p:grpSpPr>` + frame("a", 1, y, 4, 1) + `</p:grpSpPr>` + shapes + `</p:grpSp>`
	}
	holder := func(kind, index, text string) string {
		return `<p:sp><p:nvSpPr><p:nvPr><p:ph type="` + kind + `" idx="` + index + `"/></p:nvPr></p:nvSpPr><p:spPr/><p:txBody>` + ap("><a:buNone/>", text) + `</p:txBody></p:sp>`
	}
	layout := `-- ppt/slides/_rels/slide1.xml.rels --
<Relationships><Relationship Id="l" Type="http://x/slideLayout" Target="../layout.xml"/></Relationships>
-- ppt/layout.xml --
<p:sldLayout NS><p:cSld><p:spTree>` + strings.NewReplacer("<p:spPr/>", "<p:spPr>"+frame("a", 1, 5, 3, 1)+"</p:spPr>").Replace(holder("body", "11", "")) +
		strings.NewReplacer("<p:spPr/>", "<p:spPr>"+frame("a", 1, 2, 3, 1)+"</p:spPr>").Replace(holder("body", "12", "")) + `</p:spTree></p:cSld></p:sldLayout>
`
	for _, tc := range []struct{ behaviour, shapes, files, want string }{
		{"boxes below each other", boxAt(1, 4, 8, 1, "d") + boxAt(1, 1, 8, .5, "a") + boxAt(1, 3, 8, .5, "c") + boxAt(1, 1.6, 8, 1, "b"), "", "a b c d"},
		{"two columns, each with a heading and a text", boxAt(5.5, 1, 4, .5, "c") + boxAt(5.5, 1.6, 4, 3, "d") + boxAt(1, 1.6, 4, 3, "b") + boxAt(1, 1, 4, .5, "a"), "", "a b c d"},
		{"columns that begin at other heights", boxAt(5.5, 1.3, 4, 2, "c") + boxAt(5.5, 4, 4, 1, "d") + boxAt(1, 3, 4, 2, "b") + boxAt(1, 1, 4, 1.5, "a"), "", "a b c d"},
		{"labels beside their texts", boxAt(2.1, 1, 6, .8, "b") + boxAt(2.1, 2.5, 6, .8, "d") + boxAt(1, 2.5, 1, .8, "c") + boxAt(1, 1, 1, .8, "a"), "", "a b c d"},
		{"a line above two columns and one below them", boxAt(5.5, 2, 4, 3, "c") + boxAt(1, 6, 8.5, .5, "d") + boxAt(1, 2, 4, 3, "b") + boxAt(1, 1, 8.5, .5, "a"), "", "a b c d"},
		{"a table between boxes", boxAt(1, 4.5, 8, 1, "b") + table + boxAt(1, 1, 8, 1, "a"), "", "a | cell | b"},
		{"groups stay together", group(3, boxAt(1, 4, 4, .4, "d")+boxAt(1, 3, 4, .4, "c")) + group(1, boxAt(1, 1.5, 4, .4, "b")+boxAt(1, 1, 4, .4, "a")), "", "a b c d"},
		{"placeholders have the places of the layout", holder("body", "11", "c") + boxAt(1, 3.5, 3, 1, "b") + holder("body", "12", "a"), layout, "a b c"},
		{"boxes that overlap a little", boxAt(1, 1.9, 8, 1, "b") + boxAt(1, 1, 8, 1, "a"), "", "a b"},
		{"shapes without a place follow the one before them", boxAt(1, 4, 8, 1, "b") + sp("", ap(">", "c")) + boxAt(1, 1, 8, 1, "a"), "", "a b c"},
	} {
		t.Run(tc.behaviour, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, b := range read(t, slides([]string{tc.shapes}, strings.ReplaceAll(tc.files, "NS", namespaces))).Layout.Blocks[1:] {
				got = append(got, b.Text)
			}
			if diff := cmp.Diff(tc.want, strings.Join(got, " ")); diff != "" {
				t.Error(diff)
			}
		})
	}
}
