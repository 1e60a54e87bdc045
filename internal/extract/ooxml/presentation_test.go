package ooxml_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// slides returns the txtar archive of a presentation with these slides, each given by
// its shapes, and other files.
func slides(shapes []string, files string) string {
	var ids, rels, parts strings.Builder
	for i, s := range shapes {
		fmt.Fprintf(&ids, `<p:sldId id="%d" r:id="s%d"/>`, 256+i, i+1)
		fmt.Fprintf(&rels, `<Relationship Id="s%d" Type="http://x/slide" Target="slides/slide%d.xml"/>`, i+1, i+1)
		show := ""
		if rest, hidden := strings.CutPrefix(s, "HIDDEN"); hidden {
			show, s = ` show="0"`, rest
		}
		fmt.Fprintf(&parts, "-- ppt/slides/slide%d.xml --\n<p:sld NS%s><p:cSld><p:spTree>%s</p:spTree></p:cSld></p:sld>\n", i+1, show, s)
	}
	return strings.ReplaceAll(`-- _rels/.rels --
<Relationships><Relationship Id="rId1" Type="http://x/officeDocument" Target="ppt/presentation.xml"/></Relationships>
-- ppt/presentation.xml --
<p:presentation NS><p:sldIdLst>`+ids.String()+`</p:sldIdLst></p:presentation>
-- ppt/_rels/presentation.xml.rels --
<Relationships>`+rels.String()+`<Relationship Id="a" Type="http://x/commentAuthors" Target="authors.xml"/></Relationships>
`+parts.String()+files, "NS", namespaces)
}

// sp returns a shape: a placeholder of a kind, "" = a text box, with paragraphs.
func sp(kind string, paragraphs ...string) string {
	placeholder := ""
	if kind != "" {
		placeholder = `<p:ph type="` + kind + `"/>`
	}
	return `<p:sp><p:nvSpPr><p:nvPr>` + placeholder + `</p:nvPr></p:nvSpPr><p:txBody>` + strings.Join(paragraphs, "") + `</p:txBody></p:sp>`
}

func ap(properties, text string) string {
	return `<a:p><a:pPr ` + properties + `</a:pPr><a:r><a:t>` + text + `</a:t></a:r></a:p>`
}

func TestSlides(t *testing.T) {
	t.Parallel()
	const plain = ">"
	for _, tc := range []struct {
		behaviour string
		slides    []string
		files     string
		want      []string
	}{
		{"the title comes first, with the number of the slide", []string{sp("", ap(plain, "Box")) + sp("title", ap(plain, "Tea")), sp("", ap(plain, "No title"))}, "",
			[]string{"heading1 Slide 1: Tea", "paragraph Box", "heading1 Slide 2", "paragraph No title"}},
		{"slides without anything are left out", []string{sp("title", ap(plain, "")), sp("title", ap(plain, "Tea"))}, "", []string{"heading1 Slide 2: Tea"}},
		{"hidden slides say so", []string{"HIDDEN" + sp("title", ap(plain, "Tea"))}, "", []string{"heading1 Slide 1 (hidden): Tea"}},
		{"placeholders for text are lists", []string{sp("body", ap(plain, "one"), ap(`lvl="1">`, "deep"), ap("><a:buNone/>", "plain"), ap(`><a:buAutoNum type="arabicPeriod"/>`, "first"), ap(`><a:buAutoNum type="arabicPeriod"/>`, "second"))}, "",
			[]string{"heading1 Slide 1", "list - one\n  - deep", "paragraph plain", "list 1. first\n2. second"}},
		{"groups in groups", []string{"<p:grpSp><p:grpSp>" + sp("", ap(plain, "deep")) + "</p:grpSp>" + sp("", ap(plain, "less")) + "</p:grpSp>"}, "",
			[]string{"heading1 Slide 1", "paragraph deep", "paragraph less"}},
		{"footers are furniture, once", []string{sp("ftr", ap(plain, "Company")) + sp("sldNum", ap(plain, "1")) + sp("", ap(plain, "a")), sp("ftr", ap(plain, "Company")) + sp("", ap(plain, "b"))}, "",
			[]string{"heading1 Slide 1", "paragraph a", "heading1 Slide 2", "paragraph b", "footer Company"}},
		{"a table", []string{`<p:graphicFrame><a:graphic><a:graphicData><a:tbl><a:tblPr firstRow="1"/><a:tr><a:tc gridSpan="2"><a:txBody>` + ap(plain, "Wide") + `</a:txBody></a:tc><a:tc hMerge="1"/></a:tr><a:tr><a:tc><a:txBody>` +
			ap(plain, "1") + `</a:txBody></a:tc><a:tc><a:txBody>` + ap(plain, "2") + `</a:txBody></a:tc></a:tr></a:tbl></a:graphicData></a:graphic></p:graphicFrame>`}, "",
			[]string{"heading1 Slide 1", "caption Wide", "table | 1 | 2 |"}},
		{"notes, comments, and the text of the layout and the master", []string{sp("title", ap(plain, "Tea"))}, `-- ppt/slides/_rels/slide1.xml.rels --
<Relationships><Relationship Id="n" Type="http://x/notesSlide" Target="../notes/n1.xml"/><Relationship Id="c" Type="http://x/comments" Target="../comments/c1.xml"/>
<Relationship Id="l" Type="http://x/slideLayout" Target="../layouts/l1.xml"/></Relationships>
-- ppt/notes/n1.xml --
<p:notes NS><p:cSld><p:spTree>` + sp("sldImg") + sp("body", ap(plain, "Say hello")) + sp("sldNum", ap(plain, "1")) + `</p:spTree></p:cSld></p:notes>
-- ppt/comments/c1.xml --
<p:cmLst NS><p:cm authorId="0" dt="2024-05-01T10:00:00"><p:text>Why?</p:text></p:cm></p:cmLst>
-- ppt/authors.xml --
<p:cmAuthorLst NS><p:cmAuthor id="0" name="Ann"/></p:cmAuthorLst>
-- ppt/layouts/l1.xml --
<p:sldLayout NS><p:cSld><p:spTree>` + sp("title", ap(plain, "Click to edit")) + sp("", ap(plain, "Confidential")) + `</p:spTree></p:cSld></p:sldLayout>
`, []string{"heading1 Slide 1: Tea", "paragraph Speaker notes: Say hello", "paragraph Comment by Ann, 2024-05-01: Why?", "footer Confidential"}},
	} {
		t.Run(tc.behaviour, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tc.want, texts(read(t, slides(tc.slides, tc.files)).Layout.Blocks)); diff != "" {
				t.Error(diff)
			}
		})
	}
}
