package citation_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestBrackets: marks in brackets as models write them, and brackets that are no marks.
func TestBrackets(t *testing.T) {
	t.Parallel()
	one, two := cite("1", "aaa"), cite("2", "bbb")
	for name, c := range map[string]struct{ in, want string }{
		"lenticular":               {"42 bar 【1】.", "42 bar " + one + "."},
		"with a dagger":            {"42 bar 【1†pump.md】.", "42 bar " + one + "."},
		"lines behind a dagger":    {"42 bar【2†L3-L5】.", "42 bar" + two + "."},
		"a footnote":               {"42 bar [^1].", "42 bar " + one + "."},
		"a number sign":            {"42 bar [#1].", "42 bar " + one + "."},
		"a cite tag":               {"42 bar <cite>1</cite>, <ref>[2]</ref>.", "42 bar " + one + ", " + two + "."},
		"a raised number":          {"42 bar.<sup>1</sup> Then <sup>[1, 2]</sup>.", "42 bar." + one + " Then " + one + two + "."},
		"an exponent":              {"12 m<sup>2</sup> and 10<sup>1</sup>, x<sup>th</sup>", "12 m<sup>2</sup> and 10<sup>1</sup>, x<sup>th</sup>"},
		"a source with an id":      {`42 bar <source id="1">, <source id='2'></source>.`, "42 bar " + one + ", " + two + "."},
		"tags of something else":   {`<cite>Moby-Dick</cite> <sup>th</sup> <source src="a.mp4"> <cite>7</cite> <ref>`, `<cite>Moby-Dick</cite> <sup>th</sup> <source src="a.mp4"> <cite>7</cite> <ref>`},
		"spaces":                   {"42 bar [ 1 ].", "42 bar " + one + "."},
		"a word":                   {"42 bar [Source 1].", "42 bar " + one + "."},
		"a word and a colon":       {"42 bar [source: 2]", "42 bar " + two},
		"a word and a title":       {"42 bar [Source 1: pump.md, page 3].", "42 bar " + one + "."},
		"a German word":            {"42 bar [Quelle 1, Quelle 2].", "42 bar " + one + two + "."},
		"a word of Chinese":        {"42 bar【来源2】", "42 bar" + two},
		"a word, round":            {"42 bar (Source 1, 2).", "42 bar " + one + two + "."},
		"full width":               {"42 bar［2］", "42 bar" + two},
		"a page":                   {"42 bar [1, p. 3]", "42 bar " + one},
		"several":                  {"42 bar 【1】【2】 [1; 2] [1 and 2]", "42 bar " + one + two + " " + one + two + " " + one + two},
		"a range":                  {"42 bar [1-2]", "42 bar " + one + two},
		"joined to a word":         {"42 bar[1]. Then", "42 bar" + one + ". Then"},
		"unknown, with a dagger":   {"42 bar 【7†a.md】【4:0†source】.", "42 bar."},
		"unknown, as our own":      {"42 bar [source_7].", "42 bar."},
		"a citation of a judgment": {"Smith v Jones [2021] UKSC 12 [1]", "Smith v Jones [2021] UKSC 12 " + one},
		"an index":                 {"arr[0] and arr[1], arr [0]", "arr[0] and arr[1], arr [0]"},
		"an index by name":         {"a[i] + a[1]", "a[i] + a[1]"},
		"an index with a use":      {"total[1] = 5, rows[2].name", "total[1] = 5, rows[2].name"},
		"a name of code":           {"row_values[1] is", "row_values[1] is"},
		"an interval":              {"in [0, 1], in [1, 100]", "in [0, 1], in [1, 100]"},
		"an unknown number":        {"y [7], z [Source 9] 【9】 (1) (Document 7)", "y [7], z [Source 9] 【9】 (1) (Document 7)"},
		"a heading":                {"【重要】 x [sic] [to do] [ ] [x]", "【重要】 x [sic] [to do] [ ] [x]"},
		"a range of pages":         {"[0-9], [1–2000], [2-1]", "[0-9], [1–2000], [2-1]"},
		"a known and an unknown":   {"x [1, 9], [Source 2, 7]", "x " + one + ", " + two},
		"a line end":               {"[1\n] (Source\n1)", "[1\n] (Source\n1)"},
		"code":                     {"`x 【1】 (source 1)`", "`x 【1】 (source 1)`"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, _ := rewrite(c.in)
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
			checkCuts(t, c.in, nil)
		})
	}
}
