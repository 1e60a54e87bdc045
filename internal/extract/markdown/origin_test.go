package markdown_test

import (
	"testing"

	"github.com/cairn-rag/cairn/internal/extract/markdown"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/google/go-cmp/cmp"
)

func TestOrigin(t *testing.T) {
	t.Parallel()
	each := func(first, last int) knowledge.Origin {
		return knowledge.Origin{First: first, Last: last, LineByLine: true}
	}
	joined := func(first, last int) knowledge.Origin { return knowledge.Origin{First: first, Last: last} }
	for behaviour, tc := range map[string]struct {
		in   string
		want []knowledge.Origin
	}{
		"headings and paragraphs":                {"# A\n\none\ntwo\n\nB\n=\n\nthree\n", []knowledge.Origin{each(1, 1), joined(3, 4), each(6, 6), each(9, 9)}},
		"hard line ends":                         {"one\\\ntwo  \nthree\n", []knowledge.Origin{each(1, 3)}},
		"front matter moves the rest down":       {"---\ntitle: T\ntags: [a]\n---\n\n# A\n", []knowledge.Origin{each(2, 3), each(6, 6)}},
		"code without its fences":                {"a\n\n```go\n\nf()\n\ng()\n```\n", []knowledge.Origin{each(1, 1), each(5, 7)}},
		"a list":                                 {"a\n\n- one\n- two\n  - three\n", []knowledge.Origin{each(1, 1), each(3, 5)}},
		"a list with a wrapped item":             {"- one\n  more\n- two\n", []knowledge.Origin{joined(1, 3)}},
		"a quote":                                {"\n> # H\n> said\n> more\n", []knowledge.Origin{each(2, 2), joined(3, 4)}},
		"a table":                                {"x\n\n| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |\n", []knowledge.Origin{each(1, 1), each(3, 6)}},
		"HTML":                                   {"a\n\n<div>\nb\n</div>\n\nc\n", []knowledge.Origin{each(1, 1), joined(3, 5), each(7, 7)}},
		"a definition of a link moves nothing":   {"[a][1]\n\n[1]: http://x\n\nb\n", []knowledge.Origin{each(1, 1), each(5, 5)}},
		"a paragraph behind a link's definition": {"[1]: http://x\n\n\n\nb\n", []knowledge.Origin{each(5, 5)}},
	} {
		t.Run(behaviour, func(t *testing.T) {
			t.Parallel()
			_, blocks := markdown.Read(tc.in)
			var got []knowledge.Origin
			for _, b := range blocks {
				got = append(got, b.Origin)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}
