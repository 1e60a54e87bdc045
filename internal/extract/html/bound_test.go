package html_test

import (
	stdhtml "html"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cairn-rag/cairn/internal/extract/html"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// timeLimit is the time limit for a hostile page: without bounds each of them
// takes minutes or all memory, with bounds a few seconds.
const timeLimit = 30 * time.Second

// navigable begins a page in which main text is looked for.
const navigable = `<body class="with-navigation">`

func TestHostilePagesEnd(t *testing.T) {
	t.Parallel()
	const size = 1 << 20
	fill := func(s string) string { return strings.Repeat(s, size/len(s)) }
	for behaviour, tc := range map[string]struct {
		page string
		code knowledge.Code // "" = it is read
	}{
		"brackets":                     {fill("["), ""},
		"emphasis in the text":         {fill("*a_ "), ""},
		"misnested elements":           {fill("<b><p>a"), ""},
		"unclosed comments":            {fill("<!-- ") + "x", knowledge.CodeEmpty},
		"deep nesting":                 {fill("<div><b>") + "x", knowledge.CodeParseLimit},
		"deep lists":                   {fill("<ul><li>") + "x", knowledge.CodeParseLimit},
		"many open tables":             {strings.Repeat("<table><tr><td>", 4000) + "x", knowledge.CodeParseLimit},
		"long lists in deep lists":     {strings.Repeat("<ol><li>", 200) + fill("a<br>a very long line of text<br>"), ""},
		"long quotes in each other":    {strings.Repeat("<blockquote>", 400) + fill("a<br>"), ""},
		"text in tables in each other": {strings.Repeat("<table><tr><td>", 120) + fill("a<br>"), ""},
		"many cells":                   {"<table>" + fill("<tr><td>a<td>b"), ""},
		"one wide row, many narrow":    {"<table><tr>" + strings.Repeat("<td>a", size/10) + strings.Repeat("<tr><td>b", size/18), ""},
		"one long cell, many short":    {"<table><tr><td>" + strings.Repeat("x", size/2) + strings.Repeat("<tr><td>a", size/18), ""},
		"cells that span all":          {"<table>" + fill("<tr><td colspan=99 rowspan=99>a"), ""},
		"one cell that spans much":     {"<table><tr><td colspan=1000000 rowspan=1000000>x</td></tr><tr><td>y</td></tr></table>", ""},
		"attributes of the root":       {roots(size), knowledge.CodeParseLimit},
		"many paragraphs":              {strings.Repeat("<p>A paragraph of a page with some sentences. It is one of many, and it is long enough.</p>", 15_000), ""},
		"many links":                   {fill("<a href=x>a link</a> "), ""},
		"many pictures":                {fill("<img src=x.png>") + "x", ""},
	} {
		t.Run(behaviour, func(t *testing.T) {
			t.Parallel()
			var blocks []knowledge.Block
			var err error
			done := make(chan struct{})
			go func() {
				defer close(done)
				var page html.Page
				page, err = html.ReadPage([]byte(navigable+tc.page), "")
				blocks = page.Blocks
			}()
			select {
			case <-done:
			case <-time.After(timeLimit):
				t.Fatalf("no end after %s", timeLimit)
			}
			total := 0
			for _, b := range blocks {
				total += len(b.Text) + len(b.Header)
			}
			if total > 4*len(tc.page) {
				t.Errorf("%d bytes of a page became %d of text", len(tc.page), total)
			}
			switch {
			case tc.code == knowledge.CodeEmpty:
				if err != nil || total > 0 {
					t.Errorf("%d bytes of text, error %v, want nothing", total, err)
				}
			case tc.code == "" && (err != nil || total == 0), tc.code != "" && !knowledge.IsCode(err, tc.code):
				t.Errorf("%d bytes of text, error %v, want code %q", total, err, tc.code)
			}
		})
	}
}

// roots returns body elements, each with another attribute.
func roots(size int) string {
	var b strings.Builder
	for i := 0; b.Len() < size; i++ {
		b.WriteString("<body a" + strconv.Itoa(i) + "=b>")
	}
	return b.String() + "x"
}

func TestTextIsKeptAsItIs(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"1. no list", "2) nor this", "- nor this", "+ or this", "# no heading", "> no quote", "a | b", "*a* _b_ **c** `d` ~~e~~",
		"[a](b) ![c](d) [e]", `back\slash \* and \\`, "&lt; & &amp; <b> &#65;", "---", "===", "```", "~~~", "http://a_b.example/c_d?e=f&g=h", "1.5, 3) and 4.", "$x_1$ {a} ^b^",
	} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			escaped := stdhtml.EscapeString(text)
			_, blocks, err := html.Read([]byte("<p>"+escaped+"</p><p>second<br>"+escaped+"</p><ul><li>"+escaped+"</li></ul>"), "")
			if err != nil {
				t.Fatal(err)
			}
			want := []knowledge.Block{
				{Kind: knowledge.BlockParagraph, Text: text}, {Kind: knowledge.BlockParagraph, Text: "second\n" + text},
				{Kind: knowledge.BlockList, Text: "- " + text},
			}
			if diff := cmp.Diff(want, blocks); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestTablesKeepTheirCells(t *testing.T) {
	t.Parallel()
	page := `<table><tr><th>a|b<th>c\<th>d</tr><tr><td colspan=2>1 | 2<td>*3*</tr><tr><td rowspan=2>x<td>y<td>z</tr><tr><td>v<td>w</tr></table>`
	_, blocks, err := html.Read([]byte(page), "")
	want := []knowledge.Block{{
		Kind: knowledge.BlockTable, Header: "| a\\|b | c\\ | d |\n| --- | --- | --- |",
		Text: "| a\\|b | c\\ | d |\n| --- | --- | --- |\n| 1 \\| 2 |  | *3* |\n| x | y | z |\n| x | v | w |",
	}}
	if diff := cmp.Diff(want, blocks, cmpopts.IgnoreFields(knowledge.Block{}, "Cells")); diff != "" || err != nil {
		t.Error(diff, err)
	}
}
