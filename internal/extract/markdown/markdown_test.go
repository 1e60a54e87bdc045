package markdown_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/cairn-rag/cairn/internal/extract/markdown"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// withoutOrigin leaves out where blocks come from, which has tests of its own.
var withoutOrigin = cmpopts.IgnoreFields(knowledge.Block{}, "Origin")

func TestRead(t *testing.T) {
	t.Parallel()
	para := func(text string) knowledge.Block { return knowledge.Block{Kind: knowledge.BlockParagraph, Text: text} }
	for _, tc := range []struct {
		behaviour, in string
		want          []knowledge.Block
	}{
		{"headings have levels", "# A\n\nB\n=\n\n### C *d*\n", []knowledge.Block{
			{Kind: knowledge.BlockHeading, Level: 1, Text: "A"}, {Kind: knowledge.BlockHeading, Level: 1, Text: "B"},
			{Kind: knowledge.BlockHeading, Level: 3, Text: "C d"}}},
		{"attributes of headings are removed", "# A {#a}\n\n## B {#b .c}\n\n## {x}\n", []knowledge.Block{
			{Kind: knowledge.BlockHeading, Level: 1, Text: "A"}, {Kind: knowledge.BlockHeading, Level: 2, Text: "B"},
			{Kind: knowledge.BlockHeading, Level: 2, Text: "{x}"}}},
		{"a paragraph is one line, hard breaks are kept", "one\ntwo  \nthree\\\nfour", []knowledge.Block{para("one two\nthree\nfour")}},
		{"marks are removed, text is kept", "**b** _i_ ~~s~~ `c d` [link](http://x) ![alt](y.png) <http://auto.example>", []knowledge.Block{para("b i s c d link alt http://auto.example")}},
		{"escapes and references are resolved once", `\*a\* &amp;lt; &eacute; \&amp; AT&T`, []knowledge.Block{para("*a* &lt; é &amp; AT&T")}},
		{"code keeps its lines", "```go\nfunc f() {\n\n\treturn\n}\n```", []knowledge.Block{{Kind: knowledge.BlockCode, Text: "func f() {\n\n\treturn\n}"}}},
		{"a nested list is one block", "- one\n  - two\n    more\n- [x] three\n", []knowledge.Block{{Kind: knowledge.BlockList, Text: "- one\n  - two more\n- [x] three"}}},
		{"numbers count up from the first", "3. a\n4. b\n\n   second\n", []knowledge.Block{{Kind: knowledge.BlockList, Text: "3. a\n4. b\n  second"}}},
		{"code in a list", "- a\n\n  ```\n  x\n    y\n  ```\n", []knowledge.Block{{Kind: knowledge.BlockList, Text: "- a\n  x\n    y"}}},
		{"tables have a header", "| a | b |\n|---|:-:|\n| 1 | **2** |\n| 3 | |\n", []knowledge.Block{
			{Kind: knowledge.BlockTable, Header: "| a | b |\n| --- | --- |", Text: "| a | b |\n| --- | --- |\n| 1 | 2 |\n| 3 |", Cells: []knowledge.Cell{
				{Text: "a"}, {Column: 1, Text: "b"}, {Row: 1, Text: "1"}, {Row: 1, Column: 1, Text: "2"}, {Row: 2, Text: "3"}}}}},
		{"a quote is its text", "> # H\n> said\n", []knowledge.Block{{Kind: knowledge.BlockHeading, Level: 1, Text: "H"}, para("said")}},
		{"HTML is reduced to its text", "<div align=center>\n<b>Hi</b> &amp; bye<br>you\n</div>\n\n<script>\nalert(1)\n\n</script>\n\n<!-- no -->\n", []knowledge.Block{para("Hi & bye\nyou")}},
		{"references in HTML are resolved once", "<div>\nwrite &amp;lt;b&amp;gt; &eacute;\n</div>\n", []knowledge.Block{para("write &lt;b&gt; é")}},
		{"HTML that stands on its own ends a line", "<details><summary>More</summary>Text\n<dl><dt>Tea<dd>hot</dl></details>\n", []knowledge.Block{para("More\nText\nTea\nhot")}},
		{"inline HTML is removed", "a<br/>b <span>c</span> <!-- x -->d", []knowledge.Block{para("a\nb c d")}},
		{"a data URI is not text", "![tiny](data:image/gif;base64,R0lGOD)", []knowledge.Block{para("tiny")}},
		{"definitions of links are not shown", "[a][1]\n\n[1]: http://x\n", []knowledge.Block{para("a")}},
		{"a ruler is not front matter", "---\n\ntext\n\n---\n", []knowledge.Block{para("text")}},
		{"front matter is kept as text", "---\ntitle: \"T\"\ntags: [a]\n---\nbody", []knowledge.Block{para("title: \"T\"\ntags: [a]"), para("body")}},
	} {
		t.Run(tc.behaviour, func(t *testing.T) {
			t.Parallel()
			_, got := markdown.Read(tc.in)
			if diff := cmp.Diff(tc.want, got, withoutOrigin); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestTitle(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"## Second\n\n# First\n":            "First",
		"---\ntitle: Front\n---\n# First\n": "Front",
		"+++\ntitle = \"Front\"\n+++\nx\n":  "Front",
		"no heading":                        "",
	} {
		if got, _ := markdown.Read(in); got != want {
			t.Errorf("title of %q is %q, want %q", in, got, want)
		}
	}
}

func FuzzRead(f *testing.F) {
	for _, seed := range []string{
		"# A\n\n- b\n  1. c\n\n| a | b |\n|---|---|\n| 1 | 2 |\n", "```\ncode", "> > > q\n\n<div>\n<p>x", "[a]: b\n[a]", "---\na: b\n---\n", "&#0; &#xD800; \\",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, in string) {
		if !utf8.ValidString(in) {
			return
		}
		_, blocks := markdown.Read(in)
		for i, b := range blocks {
			if strings.TrimSpace(b.Text) == "" || !utf8.ValidString(b.Text) {
				t.Errorf("block %d is %q", i, b.Text)
			}
		}
	})
}
