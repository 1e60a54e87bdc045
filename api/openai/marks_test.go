package openai

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestMarker reads an answer in pieces of every length.
func TestMarker(t *testing.T) {
	t.Parallel()
	const answer = `Été: 30 days <citation id="a">[1]</citation>, a<b, <citations> and <web_citation url="https://x.test/?a=1&amp;b" title="A &quot;page&quot;">[2]</web_citation> <cit`
	const want = `Été: 30 days [1], a<b, <citations> and [2] <cit`
	marks := []citationMark{{ChunkID: "a", Start: 13, End: 16}, {URL: "https://x.test/?a=1&b", Title: `A "page"`, Start: 39, End: 42}}
	for size := 1; size <= len(answer); size++ {
		m, got := &marker{}, ""
		for rest := answer; rest != ""; {
			n := min(size, len(rest))
			got += m.Write(rest[:n])
			rest = rest[n:]
		}
		if got += m.Close(); got != want && size > 1 { // a single byte of a letter is not a whole one
			t.Fatalf("in pieces of %d bytes: %q", size, got)
		}
		if diff := cmp.Diff(marks, m.marks); diff != "" && size == len(answer) {
			t.Error(diff)
		}
	}
}
