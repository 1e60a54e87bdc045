package citation_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/citation"
)

// TestPlainText reads an answer in pieces of every length.
func TestPlainText(t *testing.T) {
	t.Parallel()
	const answer = `Été: 30 days <citation id="a">[1]</citation>, a<b, <citations> and <web_citation url="https://x.test/?a=1&amp;b" title="A &quot;page&quot;">[2]</web_citation> <source_3><cit`
	const want = `Été: 30 days [1], a<b, <citations> and [2] [3]<cit`
	marks := []citation.Cited{{ChunkID: "a", Start: 13, End: 16}, {URL: "https://x.test/?a=1&b", Title: `A "page"`, Start: 39, End: 42}}
	for size := 1; size <= len(answer); size++ {
		m, got := &citation.PlainText{}, ""
		for rest := answer; rest != ""; {
			n := min(size, len(rest))
			got += m.Write(rest[:n])
			rest = rest[n:]
		}
		if got += m.Close(); got != want && size > 1 { // a single byte of a letter is not a whole one
			t.Fatalf("in pieces of %d bytes: %q", size, got)
		}
		if diff := cmp.Diff(marks, m.Cited); diff != "" && size == len(answer) {
			t.Error(diff)
		}
	}
}
