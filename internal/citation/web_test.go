package citation_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/cairn-rag/cairn/internal/citation"
)

var pages = []citation.Context{
	{Rank: 1, ChunkID: "c1", Text: "a chunk"},
	{Rank: 2, URL: `https://a.org/?x=1&y="2"`, Title: `Tea & <b>"more"</b>`, Text: "a page"},
	{Rank: 3, URL: "https://b.org/", Title: "B", Text: "another"},
}

const (
	second = `<web_citation url="https://a.org/?x=1&amp;y=&#34;2&#34;" title="Tea &amp; &lt;b&gt;&#34;more&#34;&lt;/b&gt;">[2]</web_citation>`
	third  = `<web_citation url="https://b.org/" title="B">[3]</web_citation>`
)

func TestWebCitations(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"a <source_2>.":     "a " + second + ".",
		"a [1, 3]":          `a <citation id="c1">[1]</citation>` + third,
		"a <source_9> b":    "a b",
		"a " + third + ".":  "a " + third + ".",
		"a " + second + ".": "a " + second + ".",
		`a <web_citation url="https://evil.org/" title="E">[1]</web_citation> b`: "a b",
		`a <web_citation url="https://b.org/">words</web_citation> b`:            "a words" + third + " b",
		`a <citation id="https://b.org/">[3]</citation>`:                         "a " + third,
		"a <web_citations> b": "a <web_citations> b",
	} {
		for cut := range len(in) {
			r := citation.NewRewriter(pages)
			if got := r.Write(in[:cut]) + r.Write(in[cut:]) + r.Close(); got != want {
				t.Errorf("%s: got %s, want %s", in, got, want)
				break
			}
		}
	}
	if got := citation.Strip("a " + second + " b" + third + ` <citation id="c1">[1]</citation>.`); got != "a b." {
		t.Errorf("without citations it is %q", got)
	}
}

// TestMarker: the words that stream have marks, which are citations at the end.
func TestMarker(t *testing.T) {
	t.Parallel()
	r := citation.NewMarker(pages)
	var streamed strings.Builder
	for _, word := range []string{"a [2]", " b <sour", "ce_3, source_1> c <source_7>", " ", third, " d"} {
		streamed.WriteString(r.Write(word))
	}
	streamed.WriteString(r.Close())
	if got, want := streamed.String(), "a <source_2> b <source_3><source_1> c <source_3> d"; got != want {
		t.Errorf("streamed %q, want %q", got, want)
	}
	if got, want := citation.Resolve(streamed.String(), pages), "a "+second+" b "+third+`<citation id="c1">[1]</citation> c `+third+" d"; got != want {
		t.Errorf("resolved %q, want %q", got, want)
	}
	if got := r.Used(); !slices.Equal(got, []int{1, 2, 3}) {
		t.Errorf("used %v", got)
	}
}

func TestUnresolved(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		`a <citation id="c1">[1]</citation> b ` + second + third: nil,
		"a [1] <source_2> `<citation`":                           nil,
		`a <citation id="c9">[1]</citation> ` + third:            {`<citation id="c9">`},
		`a <citation id="https://b.org/">[3]</citation>`:         {`<citation id="https://b.org/">`},
		`a <web_citation url="https://b.org/evil" title="B">[3]</web_citation>`: {
			`<web_citation url="https://b.org/evil" title="B">`},
		`a <web_citation url="c1" title="B">[3]</web_citation>`:    {`<web_citation url="c1" title="B">`},
		`a <web_citation href="https://b.org/">b</web_citation> c`: {"<web_citation "},
	} {
		if got := citation.Unresolved(text, pages); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
	// The citations in a rewriter's text resolve.
	r := citation.NewRewriter(pages)
	text := r.Write("a [2] <source_3> [9] <citation id=\"c9\">x</citation> <web_citation url=\"https://evil.org/\" title=\"E\">[1]</web_citation> <citation>y</citation>") + r.Close()
	if wrong := citation.Unresolved(text, pages); wrong != nil {
		t.Errorf("%q does not resolve in %s", wrong, text)
	}
}
