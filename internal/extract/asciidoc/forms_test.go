package asciidoc_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/extract/asciidoc"
	"github.com/cairn-rag/cairn/internal/extract/extracttest"
)

func TestForms(t *testing.T) {
	t.Parallel()
	const head = "title: , author: , includes: 0\n"
	for _, tc := range []struct{ behaviour, source, want string }{
		{"cells of one letter", "|===\n|a|b\n|d|e\n|===", "table: | a | b |\n    | --- | --- |\n    | d | e |\n"},
		{"cells of more letters in one column", "|===\n|s|m|v\n|1|2|h\n|===", "table: | s | m | v |\n    | --- | --- | --- |\n    | 1 | 2 | h |\n"},
		{"a cell that looks like a span", "|===\n|x|2+|y\n|1|2|3\n|===", "table: | x | 2+ | y |\n    | --- | --- | --- |\n    | 1 | 2 | 3 |\n"},
		{"cells with a style", "|===\n|x |y\n\na|p m|q\n|===", "table: | x | y |\n    | --- | --- |\n    | p | q |\n"},
		{"plus signs that are no marks", "C++ and C++ or a++ + b++ and ++x++", "paragraph: C++ and C++ or a++ + b++ and x\n"},
		{"powers that are no marks", "2 ** 3 ** 4 and in**side**d", "paragraph: 2 ** 3 ** 4 and insided\n"},
		{"an escaped attribute", ":v: 1\n\nWrite \\{v} for {v}", "paragraph: Write {v} for 1\n"},
		{"a note with a link", "See.footnote:[a *b* at https://x.y[z], c] End", "paragraph: See. (a b at z, c) End\n"},
		{"anchors", "With [[x]] an anchor (((a,b))) inside", "paragraph: With an anchor inside\n"},
		{"a paragraph in a list", "* a\n+\nNOTE: care\n* b\n+\ntext\n. c", "list: - a\n      NOTE: care\n    - b\n      text\n      1. c\n"},
		{"a table in a list", "* a\n+\n|===\n|b|c\n|===\n* d", "list: - a\ntable: | b | c |\nlist: - d\n"},
		{"a verse", "[verse, Ann Example, A Book]\n____\nFirst line\n  *second* line\n\nthird\n____\nafter", "paragraph: First line\n    second line\n    \n    third\nparagraph: — Ann Example, A Book\nparagraph: after\n"},
		{"a quotation", "[quote, Ann Example]\n____\nOne.\n\n* Two\n____\nafter", "paragraph: One.\nlist: - Two\nparagraph: — Ann Example\nparagraph: after\n"},
		{"a quotation of one paragraph", "[quote, Ann Example]\nOne.\n\nafter", "paragraph: One.\nparagraph: — Ann Example\nparagraph: after\n"},
		{"a quotation without a source", "____\nOne.\n____\nafter", "paragraph: One.\nparagraph: after\n"},
		{"a quotation without an end", "[quote, Ann]\n____\nOne.", "paragraph: One.\nparagraph: — Ann\n"},
		{"formulas of LaTeX", "stem:[\\frac{a}{b} \\cdot x^2] and latexmath:[\\alpha_1] and stem:[sqrt(4)]\n\n[latexmath]\n++++\n\\frac{1}{2}\n++++", "paragraph: a/b · x² and α₁ and sqrt(4)\nparagraph: 1/2\n"},
		{"a plus alone", "ab\n+\ncd", "paragraph: ab\nparagraph: + cd\n"},
	} {
		t.Run(tc.behaviour, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(head+tc.want, extracttest.Shown(asciidoc.Read(tc.source))); diff != "" {
				t.Error(diff)
			}
		})
	}
}
