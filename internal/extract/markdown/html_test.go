package markdown_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cairn-rag/cairn/internal/extract/markdown"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/google/go-cmp/cmp"
)

func TestTablesInHTML(t *testing.T) {
	t.Parallel()
	const hours = "| Site | Hours | Cost |\n| --- | --- | --- |\n| North |  | 42 EUR |\n| South | 8 | 51 EUR |"
	for _, tc := range []struct {
		behaviour, in string
		want          []string
	}{
		{"on one line, with an empty cell", "# Costs\n\n<table><tr><th>Site</th><th>Hours</th><th>Cost</th></tr><tr><td>North</td><td></td><td>42 EUR</td></tr><tr><td>South</td><td>8</td><td>51 EUR</td></tr></table>\n\nEnd.",
			[]string{"heading 1-1 Costs", "table 3-3 " + hours, "paragraph 5-5 End."}},
		{"in a whole page on one line", "<html><body><table><tr><td>Site</td><td>Hours</td><td>Cost</td></tr><tr><td>North</td><td></td><td>42 EUR</td></tr><tr><td>South</td><td>8</td><td>51 EUR</td></tr></table></body></html>",
			[]string{"table 1-1 " + hours}},
		{"with blank and indented lines, and text around", "<div>\n<p>Before</p>\n<table>\n  <caption>Costs</caption>\n  <tr><th>Site</th><th>Hours</th><th>Cost</th></tr>\n\n      <tr><td>North</td><td></td><td>42 EUR</td></tr>\n\n<tr><td>South</td><td>8</td><td>51 EUR</td></tr>\n</table>\n</div>\n\n*End.*",
			[]string{"paragraph 1-11 Before", "caption 1-11 Costs", "table 1-11 " + hours, "paragraph 13-13 End."}},
		{"behind a word of a paragraph", "Costs: <table><tr><th>Site</th><th>Hours</th><th>Cost</th></tr><tr><td>North</td><td></td><td>42 EUR</td></tr><tr><td>South</td><td>8</td><td>51 EUR</td></tr></table>",
			[]string{"paragraph 1-1 Costs:", "table 1-1 " + hours}},
		{"with cells that cover others", "<TABLE border=1><tr><td rowspan=2>Plant<td colspan=2>2024<tr><td>Units<td>EUR<tr><td rowspan=2>Kiel<td>3<td>4<tr><td>5<td>6</TABLE>",
			[]string{"table 1-1 | Plant | 2024 Units | 2024 EUR |\n| --- | --- | --- |\n| Kiel | 3 | 4 |\n| Kiel | 5 | 6 |"}},
		{"without an end", "<table><tr><td>a<td>b<tr><td>c<td>d\n\nText.\n\n<table><tr><td>e<td>f", []string{"table 1-1 | a | b |\n| --- | --- |\n| c | d |", "paragraph 3-3 Text.", "table 5-5 | e | f |"}},
		{"in an item of a list", "- one\n\n  <table><tr><td>a</td><td></td><td>b</td></tr></table>\n- two", []string{"list 1-4 - one\n  | a |  | b |\n- two"}},
		{"not in code", "```\n<table><tr><td>a</td></tr></table>\n```\n\nUse `<table>` here.", []string{"code 2-2 <table><tr><td>a</td></tr></table>", "paragraph 5-5 Use <table> here."}},
	} {
		t.Run(tc.behaviour, func(t *testing.T) {
			t.Parallel()
			_, blocks := markdown.Read(tc.in)
			var got []string
			for _, b := range blocks {
				got = append(got, string(b.Kind)+" "+lines(b.Origin)+" "+b.Text)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func lines(o knowledge.Origin) string {
	return fmt.Sprintf("%d-%d", o.First, o.Last)
}

func TestRaisedText(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"10<sup>6</sup> Pa":                               "10⁶ Pa",
		"10<sup>-6</sup> bar and m<SUP>2</SUP>":           "10⁻⁶ bar and m²",
		"H<sub>2</sub>O, x<sub>max,1</sub>":               "H₂O, x_(max,1)",
		"a note<sup>1</sup> and<sup>[2]</sup>":            "a note¹ and[2]",
		"open <sup>6":                                     "open 6",
		"<p>10<sup>6</sup> and H<sub>2</sub>O</p>":        "10⁶ and H₂O",
		"| a |\n| --- |\n| 10<sup>6</sup> |":              "| a |\n| --- |\n| 10⁶ |",
		"<table><tr><td>10<sup>6</sup></td></tr></table>": "| 10⁶ |",
	} {
		if _, blocks := markdown.Read(in); len(blocks) != 1 || blocks[0].Text != want {
			t.Errorf("%q is %+v, want %q", in, blocks, want)
		}
	}
}

func TestManyOpenTablesTakeNoLongTime(t *testing.T) {
	t.Parallel()
	began := time.Now()
	markdown.Read(strings.Repeat("<table><tr><td>a\n\ntext\n\n", 20_000))
	markdown.Read("<table>\n\n" + strings.Repeat("text\n\n", 100_000))
	markdown.Read(strings.Repeat("a<sup>", 100_000))
	if took := time.Since(began); took > 20*time.Second {
		t.Errorf("it took %v", took)
	}
}
