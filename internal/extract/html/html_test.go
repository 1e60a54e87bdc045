package html_test

import (
	"strings"
	"testing"

	"github.com/cairn-rag/cairn/internal/extract/html"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/google/go-cmp/cmp"
)

const page = `<!doctype html><html><head><title>Tea &amp; cake</title><style>p{}</style>
<meta name="Author" content="Ann Lee"><link rel=canonical href="https://example.com/tea"></head><body>
<nav><a href="/">Home</a></nav><header><h1>Tea</h1></header>
<main><p>First <b>bold</b> *star* text.</p><script>alert(1)</script><noscript>on</noscript>
<h2>Prices</h2><table><thead><tr><th>Item</th><th>Price</th></tr></thead><tbody><tr><td>Tea</td><td>1<br>pot</td></tr></tbody></table>
<ul><li>one</li><li>two<ul><li>deep</li></ul></li></ul><pre>a
  b</pre><p hidden>secret</p><footer>kept, it is of the article</footer></main>
<footer>Imprint</footer></body></html>`

func TestReadPage(t *testing.T) {
	t.Parallel()
	got, err := html.ReadPage([]byte(page), "")
	if err != nil {
		t.Fatal(err)
	}
	if got.Title != "Tea & cake" {
		t.Errorf("title %q", got.Title)
	}
	if diff := cmp.Diff(map[string]string{"author": "Ann Lee", "url": "https://example.com/tea"}, got.Metadata); diff != "" {
		t.Error(diff)
	}
	want := []knowledge.Block{
		{Kind: knowledge.BlockFurniture, Text: "Home"},
		{Kind: knowledge.BlockHeading, Level: 1, Text: "Tea"},
		{Kind: knowledge.BlockParagraph, Text: "First bold *star* text."},
		{Kind: knowledge.BlockHeading, Level: 2, Text: "Prices"},
		{Kind: knowledge.BlockTable, Header: "| Item | Price |\n| --- | --- |", Text: "| Item | Price |\n| --- | --- |\n| Tea | 1 pot |", Cells: []knowledge.Cell{
			{Text: "Item"}, {Column: 1, Text: "Price"}, {Row: 1, Text: "Tea"}, {Row: 1, Column: 1, Text: "1 pot"}}},
		{Kind: knowledge.BlockList, Text: "- one\n- two\n  - deep"},
		{Kind: knowledge.BlockCode, Text: "a\n  b"},
		{Kind: knowledge.BlockParagraph, Text: "kept, it is of the article"},
		{Kind: knowledge.BlockFooter, Text: "Imprint"},
	}
	if diff := cmp.Diff(want, got.Blocks); diff != "" {
		t.Error(diff)
	}
}

func TestWordsAreNotGlued(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		behaviour, page string
		want            []string
	}{
		{"a summary", "<details><summary>More</summary>Text</details>", []string{"More", "Text"}},
		{"a legend", "<fieldset><legend>Address</legend>Street</fieldset>", []string{"Address", "Street"}},
		{"centred text", "<center>Notice</center>Text", []string{"Notice", "Text"}},
		{"terms", "<dl><dt>Tea<dd>hot</dd><dt>Ice</dt><dd>cold</dl>", []string{"Tea", "hot", "Ice", "cold"}},
		{"terms in a cell", "<table><tr><th>A<th>B<tr><td><dl><dt>Tea<dd>hot</dl><td>x</table>", []string{"| A | B |\n| --- | --- |\n| Tea hot | x |"}},
		{"cells beside a list", "<table><tr><th>A<th>B<tr><td>x<td><ul><li>y<li>z</ul></table>", []string{"| A | B |\n| --- | --- |\n| x | y; z |"}},
		{"cells around a table", "<table><tr><th>A<th>B<tr><td>x<td><table><tr><td>1<td>2</table></table>", []string{"A | B", "x", "| 1 | 2 |"}},
		{"cells of a page's layout", "<table role=presentation><tr><td>Menu<td><p>One</p><p>Two</p></table>", []string{"Menu", "One", "Two"}},
	} {
		t.Run(tc.behaviour, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tc.want, texts(t, tc.page)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func texts(t *testing.T, page string) []string {
	t.Helper()
	_, blocks, err := html.Read([]byte(page), "")
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, b := range blocks {
		out = append(out, b.Text)
	}
	return out
}

func TestHiddenElementsAreRemoved(t *testing.T) {
	t.Parallel()
	for style, shown := range map[string]bool{
		"display:none":                          false,
		"color: red; DISPLAY : None !important": false,
		"visibility: hidden;":                   false,
		"visibility:collapse":                   false,
		"display:none;display:block":            true,
		"display: block; visibility: visible":   true,
		"list-style-display:none":               true,
		"":                                      true,
	} {
		want := []string{"before", "after"}
		if shown {
			want = []string{"before", "between", "after"}
		}
		if diff := cmp.Diff(want, texts(t, `<p>before</p><div style="`+style+`"><p>between</p></div><p>after</p>`)); diff != "" {
			t.Errorf("style %q: %s", style, diff)
		}
	}
	// A script shows the page when it is loaded.
	if diff := cmp.Diff([]string{"text"}, texts(t, `<body style="display:none"><p>text</p>`)); diff != "" {
		t.Error(diff)
	}
}

func TestCharacterSets(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ behaviour, page, declared string }{
		{"UTF-8", "<p>café</p>", ""},
		{"as the page says", "<meta charset=iso-8859-1><p>caf\xe9</p>", ""},
		{"as the page says in the old way", "<meta http-equiv='Content-Type' content='text/html; charset=windows-1252'><p>caf\xe9</p>", ""},
		{"as the page says, without a semicolon", "<meta content='text/html charset=windows-1252' http-equiv=content-type><p>caf\xe9</p>", ""},
		{"as the page says far below", "<!--" + strings.Repeat(" ", 2000) + "--><meta charset=latin1><p>caf\xe9</p>", ""},
		{"as the page says in the end", "<meta charset=mine><meta charset=latin1><p>caf\xe9</p>", ""},
		{"as the page says after a script", "<script charset=utf-8>'<meta charset=koi8-r>'</script><meta charset=latin1><p>caf\xe9</p>", ""},
		{"as the upload says", "<p>caf\xe9</p>", "iso-8859-1"},
		{"UTF-16 with a mark", "\xff\xfe<\x00p\x00>\x00c\x00a\x00f\x00\xe9\x00", ""},
	} {
		t.Run(tc.behaviour, func(t *testing.T) {
			t.Parallel()
			_, blocks, err := html.Read([]byte(tc.page), tc.declared)
			if err != nil || len(blocks) != 1 || blocks[0].Text != "café" {
				t.Errorf("%v, %v", blocks, err)
			}
		})
	}
	page, err := html.ReadPage([]byte("<script charset=utf-8 src=a.js></script><p>\x93\xfa\x96{</p>"), "")
	if err != nil || page.Blocks[0].Text != "日本" || page.Metadata["assumed_charset"] != "shift_jis" {
		t.Errorf("%+v, %v, want Shift JIS that no character set states", page, err)
	}
	for _, page := range []string{
		"<p>caf \xe9\xff\xfe</p>",
	} {
		if _, blocks, err := html.Read([]byte(page), ""); !knowledge.IsCode(err, knowledge.CodeMalformed) {
			t.Errorf("%q: %v, %v, want malformed where no character set is stated", page, blocks, err)
		}
	}
}

func TestWrongBytesInAPageOfUTF8(t *testing.T) {
	t.Parallel()
	page, err := html.ReadPage([]byte("<meta charset=UTF-8><p>One caf\xe9 of many caf\u00e9s</p>"), "")
	if err != nil || len(page.Blocks) != 1 || page.Blocks[0].Text != "One caf\ufffd of many caf\u00e9s" {
		t.Errorf("%+v, %v", page.Blocks, err)
	}
}

func TestAPageOfNavigationKeepsIt(t *testing.T) {
	t.Parallel()
	page, err := html.ReadPage([]byte("<nav><ul><li>One</li></ul></nav>"), "")
	if err != nil || len(page.Blocks) != 1 || page.Blocks[0].Kind != knowledge.BlockList {
		t.Errorf("%v, %v", page.Blocks, err)
	}
}

func TestTextThatIsNoPageIsKept(t *testing.T) {
	t.Parallel()
	want := []string{"Home", "Text.", "Sent from a ship"}
	if diff := cmp.Diff(want, texts(t, `<nav>Home</nav><p>Text.<footer class="footer">Sent from a ship</footer>`)); diff != "" {
		t.Error(diff)
	}
}

func TestTables(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		behaviour, page string
		want            []string
	}{
		{
			"a table without header cells, whose first row has a value, has no header",
			"<table><tr><td>Capital expenditures<td>about $400 million<tr><td>New stores<td>30 to 35</table>",
			[]string{"| Capital expenditures | about $400 million |\n| New stores | 30 to 35 |"},
		},
		{
			"a header cell in front of a value names its row",
			"<table><tr><th>Capital expenditures<td>about $400 million<tr><th>New stores<td>30 to 35</table>",
			[]string{"| Capital expenditures | about $400 million |\n| New stores | 30 to 35 |"},
		},
		{
			"header cells beside an empty corner name columns",
			"<table><tr><td><th>2023<th>2022<tr><th>Sales<td>12<td>11</table>",
			[]string{"|  | 2023 | 2022 |\n| --- | --- | --- |\n| Sales | 12 | 11 |"},
		},
		{
			"the period over several columns is above the row that names them, with the signs of currencies in cells of their own",
			"<table><tr><td><td><tr><td><td colspan=5>13 Weeks Ended<tr><td><td colspan=2>April 1, 2023<td><td colspan=2>April 2, 2022" +
				"<tr><td>Net sales<td>$<td>1,927<td><td>$<td>2,175<tr><td>Net loss<td>$<td>(12)<td><td>$<td>(9)</table>",
			[]string{
				"13 Weeks Ended",
				"|  | April 1, 2023 | April 1, 2023 |  | April 2, 2022 | April 2, 2022 |\n| --- | --- | --- | --- | --- | --- |\n| Net sales | $ | 1,927 |  | $ | 2,175 |\n| Net loss | $ | (12) |  | $ | (9) |",
			},
		},
		{
			"a header of two rows that the page states",
			"<table><thead><tr><th><th colspan=2>13 Weeks Ended<tr><th><th>April<th>May</thead><tr><td>Sales<td>12<td>11</table>",
			[]string{"13 Weeks Ended", "|  | April | May |\n| --- | --- | --- |\n| Sales | 12 | 11 |"},
		},
		{
			"a header cell over two columns names both, one over two rows is joined with nothing",
			"<table><thead><tr><th rowspan=2>Plant<th colspan=2>2023<th colspan=2>2024<tr><th>Units<th>EUR<th>Units<th>EUR</thead><tr><td>Kiel<td>1<td>2<td>3<td>4</table>",
			[]string{"| Plant | 2023 Units | 2023 EUR | 2024 Units | 2024 EUR |\n| --- | --- | --- | --- | --- |\n| Kiel | 1 | 2 | 3 | 4 |"},
		},
		{
			"a label over several rows stands in each of them",
			"<table><tr><th>Region<th>Quarter<th>EUR<tr><td rowspan=2>North<td>Q1<td>11<tr><td>Q2<td>12<tr><td rowspan=0>South<td>Q1<td>21<tr><td>Q2<td>22</table>",
			[]string{"| Region | Quarter | EUR |\n| --- | --- | --- |\n| North | Q1 | 11 |\n| North | Q2 | 12 |\n| South | Q1 | 21 |\n| South | Q2 | 22 |"},
		},
		{
			"a title in a header cell over all columns is no name of one",
			"<table><tr><th colspan=3>Prices<tr><th>Item<th>EUR<th>USD<tr><td>Tea<td>2<td>3</table>",
			[]string{"Prices", "| Item | EUR | USD |\n| --- | --- | --- |\n| Tea | 2 | 3 |"},
		},
		{
			"a table in a list stands where the list has it",
			"<ul><li>one<li>two<table><tr><td>a<td>b<tr><td>c<td>d</table><li>three</ul>",
			[]string{"- one\n- two", "| a | b |\n| --- | --- |\n| c | d |", "- three"},
		},
		{
			"the foot of a table stands at its end",
			"<table><thead><tr><th>Item<th>EUR</thead><tfoot><tr><td>Total<td>3</tfoot><tbody><tr><td>a<td>1<tr><td>b<td>2</tbody></table>",
			[]string{"| Item | EUR |\n| --- | --- |\n| a | 1 |\n| b | 2 |\n| Total | 3 |"},
		},
		{
			"names beside their values are no header",
			"<table><tr><th>Pressure<td>42 bar<tr><th>Speed<td>1500 rpm</table>",
			[]string{"| Pressure | 42 bar |\n| Speed | 1500 rpm |"},
		},
		{
			"text that a style raises is an exponent",
			"<p>Area 3 m<span style='vertical-align: super'>2</span> and 10<span style='font-size:70%;vertical-align:super'>6</span> of H<span style='vertical-align:sub'>2</span>O.</p>",
			[]string{"Area 3 m² and 10⁶ of H₂O."},
		},
		{
			"a caption stands above its table",
			"<p>One.</p><table><caption>Prices in francs</caption><tr><th>Item<th>Price<tr><td>Tea<td>2</table><p>Two.</p>",
			[]string{"One.", "Prices in francs", "| Item | Price |\n| --- | --- |\n| Tea | 2 |", "Two."},
		},
	} {
		t.Run(tc.behaviour, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tc.want, texts(t, tc.page)); diff != "" {
				t.Error(diff)
			}
		})
	}
}
