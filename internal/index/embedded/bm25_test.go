package embedded_test

import (
	"math"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/cairn-rag/cairn/internal/index"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// TestRarerWords compares searches that rank only passages with one of the
// rarer words of the question with searches that rank all: the scores are
// equal, and nearly always the passages.
func TestRarerWords(t *testing.T) {
	t.Parallel()
	x := open(t, filepath.Join(t.TempDir(), "index.db"))
	r := rand.New(rand.NewPCG(7, 7))
	var entries []index.Entry
	for i := range 1000 {
		entries = append(entries, randomPassage(r, i, 0))
	}
	if err := x.Upsert(t.Context(), entries); err != nil {
		t.Fatal(err)
	}
	some := index.Query{Principal: member, Limit: 10}
	all := some
	all.Filter = knowledge.Filter{{Field: "tags", Type: "ne", Value: "no such tag"}}
	same, total := 0, 0
	for range 50 {
		question := randomText(r, 12)
		got, err := x.BM25(t.Context(), some, question)
		if err != nil {
			t.Fatal(err)
		}
		want, err := x.BM25(t.Context(), all, question)
		if err != nil {
			t.Fatal(err)
		}
		scores := map[string]float64{}
		for _, h := range want {
			scores[h.ChunkID] = h.Score
		}
		total += len(want)
		for _, h := range got {
			score, ok := scores[h.ChunkID]
			if !ok {
				continue
			}
			same++
			if math.Abs(score-h.Score) > 1e-9 {
				t.Fatalf("%s scores %g, and %g if all passages are ranked", h.ChunkID, h.Score, score)
			}
		}
	}
	if total != 500 || same < 475 {
		t.Errorf("%d of %d passages are the same, want at least .95 of 500", same, total)
	}
}

// TestFrequentWords searches for words that occur in many passages, most of
// which the principal may not see: the allowed ones are still found.
func TestFrequentWords(t *testing.T) {
	t.Parallel()
	x := open(t, filepath.Join(t.TempDir(), "index.db"))
	var entries []index.Entry
	for i := range 300 {
		e := randomPassage(rand.New(rand.NewPCG(1, uint64(i))), i, 0)
		e.Text, e.ACL = "brick brick brick", []string{"u:other"}
		if i%100 == 0 {
			e.Text, e.ACL = "brick and mortar under a roof of slate and some more of it", []string{"w:acme"}
		}
		entries = append(entries, e)
	}
	if err := x.Upsert(t.Context(), entries); err != nil {
		t.Fatal(err)
	}
	hits, err := x.BM25(t.Context(), index.Query{Principal: member, Limit: 3}, "brick")
	if err != nil || len(hits) != 3 {
		t.Errorf("found %d passages, %v; want the 3 allowed ones", len(hits), err)
	}
}
