package retrieve_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/retrieve"
)

// explained returns a trace as a line for each chunk and each drop.
func explained(t *retrieve.Trace, ids ...string) []string {
	var lines []string
	leg := func(r *retrieve.LegRank) string {
		if r == nil {
			return "-"
		}
		return fmt.Sprintf("%d:%.1f", r.Rank, r.Score)
	}
	score := func(s *float64) string {
		if s == nil {
			return "-"
		}
		return fmt.Sprintf("%.2f", *s)
	}
	for _, id := range ids {
		if r, ok := t.Rankings[id]; ok {
			lines = append(lines, fmt.Sprintf("%s dense %s bm25 %s fused %s rerank %s", id, leg(r.Dense), leg(r.BM25), score(r.Fused), score(r.Rerank)))
		}
	}
	for _, d := range t.Dropped {
		lines = append(lines, fmt.Sprintf("%s dropped: %s", d.Chunk.ID, d.Reason))
	}
	return lines
}

func TestTrace(t *testing.T) {
	t.Parallel()
	x := &scripted{dense: hits("a", .9, "b", .7, "hidden", .6, "c", .5), words: hits("d", 20.0, "b", 15.0, "a", 10.0)}
	config := knowledge.RetrievalConfig{Weights: &knowledge.Weights{Dense: .75, BM25: .25}, NumberOfChunks: 2, MinScore: .1}
	t.Run("says where each leg found a candidate and why it was dropped", func(t *testing.T) {
		t.Parallel()
		c := showing("a", "b", "c", "d")
		c.put("b", c["a"].Text)
		r := find(t, x, c, retrieve.Request{Config: config, Explain: true})
		want := []string{
			"a dense 1:0.9 bm25 3:10.0 fused 0.78 rerank -",
			"b dense 2:0.7 bm25 2:15.0 fused 0.55 rerank -",
			"c dense 4:0.5 bm25 - fused 0.08 rerank -",
			"d dense - bm25 1:20.0 fused 0.25 rerank -",
			"b dropped: duplicate", "c dropped: minScore",
		}
		if diff := cmp.Diff(want, explained(r.Trace, "a", "b", "c", "d", "hidden")); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("names what is behind the last result", func(t *testing.T) {
		t.Parallel()
		r := find(t, x, showing("a", "b", "c", "d"), retrieve.Request{Config: config, Explain: true})
		if got := strings.Join(explained(r.Trace), ", "); got != "d dropped: numberOfChunks, c dropped: minScore" {
			t.Error(got)
		}
	})
	t.Run("is not made unless it is asked for", func(t *testing.T) {
		t.Parallel()
		if r := find(t, x, showing("a"), retrieve.Request{}); r.Trace != nil {
			t.Errorf("%+v", r.Trace)
		}
	})
}
