package embedded_test

import (
	"cmp"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"testing"

	"github.com/cairn-rag/cairn/internal/index"
)

// TestDenseRecall compares the hits with the nearest vectors, where vectors lie in
// clusters so that many are about equally near.
func TestDenseRecall(t *testing.T) {
	t.Parallel()
	const dimension, limit, questions = 192, 10, 50
	x := open(t, filepath.Join(t.TempDir(), "index.db"))
	r := randomNumbers(t, 5)
	centres := make([][]float32, 10)
	for i := range centres {
		centres[i] = randomVector(r, dimension)
	}
	near := func() []float32 {
		v := randomVector(r, dimension)
		for i, f := range centres[r.IntN(len(centres))] {
			v[i] += f
		}
		return v
	}
	var entries []index.Entry
	for i := range 4000 {
		entries = append(entries, index.Entry{ChunkID: fmt.Sprint(i), Workspace: "acme", Project: fmt.Sprint("p", i/100%2),
			DocumentID: fmt.Sprint("d", i/100), Version: 1, Vector: near(), ACL: []string{"w:acme"}})
	}
	if err := x.Upsert(t.Context(), entries); err != nil {
		t.Fatal(err)
	}
	found := 0
	for range questions {
		vector := near()
		hits, err := x.Dense(t.Context(), index.Query{Principal: member, Limit: limit}, vector)
		if err != nil {
			t.Fatal(err)
		}
		want := map[string]float64{}
		for _, c := range byCosine(entries, vector)[:limit] {
			want[c.chunk] = c.score
		}
		for _, h := range hits {
			if score, ok := want[h.ChunkID]; ok {
				found++
				if math.Abs(score-h.Score) > 1e-5 {
					t.Errorf("%s scores %g, want its cosine %g", h.ChunkID, h.Score, score)
				}
			}
		}
	}
	if recall := float64(found) / (limit * questions); recall < .99 {
		t.Errorf("recall@%d is %.3f, want at least .99", limit, recall)
	}
}

type chunkScore struct {
	chunk string
	score float64
}

// byCosine returns the chunks of entries, the nearest to vector first.
func byCosine(entries []index.Entry, vector []float32) []chunkScore {
	length := func(v []float32) (sum float64) {
		for _, f := range v {
			sum += float64(f) * float64(f)
		}
		return math.Sqrt(sum)
	}
	list := make([]chunkScore, len(entries))
	for i, e := range entries {
		product := 0.0
		for j, f := range vector {
			product += float64(f) * float64(e.Vector[j])
		}
		list[i] = chunkScore{e.ChunkID, product / length(vector) / length(e.Vector)}
	}
	slices.SortFunc(list, func(a, b chunkScore) int { return cmp.Compare(b.score, a.score) })
	return list
}

// TestVectorsOfAnotherProcess searches in one process while another replaces and
// removes vectors that the first one holds in memory.
func TestVectorsOfAnotherProcess(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "index.db")
	server, worker := open(t, path), open(t, path)
	entries := make([]index.Entry, 300)
	for i := range entries {
		entries[i] = passage("m", i, 1, []float32{1, float32(i)})
	}
	if err := worker.Upsert(t.Context(), entries); err != nil {
		t.Fatal(err)
	}
	check := func(when string, vector []float32, want string, n int) {
		t.Helper()
		hits, err := server.Dense(t.Context(), index.Query{Principal: member, Limit: 1000}, vector)
		if err != nil || len(hits) != n {
			t.Fatalf("%s: %d hits, %v; want %d", when, len(hits), err, n)
		}
		if n > 0 && hits[0].ChunkID != want {
			t.Errorf("%s: %s is nearest, want %s", when, hits[0].ChunkID, want)
		}
	}
	check("at first", []float32{1, 0}, entries[0].ChunkID, 300)
	entries[0].Vector, entries[7].Vector = []float32{-1, 0}, []float32{1, .1}
	if err := worker.Upsert(t.Context(), []index.Entry{entries[0], entries[7]}); err != nil {
		t.Fatal(err)
	}
	check("after two vectors were replaced", []float32{1, 0}, entries[7].ChunkID, 300)
	for i := range 200 {
		if err := worker.RemoveVersion(t.Context(), "acme", entries[i].DocumentID, 1); err != nil {
			t.Fatal(err)
		}
	}
	check("after most were removed", []float32{1, 0}, entries[200].ChunkID, 100)
	if err := worker.RemoveGeneration(t.Context(), "acme", "p", ""); err != nil {
		t.Fatal(err)
	}
	check("after the generation was removed", []float32{1, 0}, "", 0)
}
