package embedded_test

import (
	"fmt"
	"path/filepath"
	"sync"
	"testing"

	"github.com/cairn-rag/cairn/internal/index"
)

// TestSharedFile opens a file twice, as two processes do: each finds what the other
// has written, also a workspace and a dimension that it has asked for in vain before.
func TestSharedFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "index.db")
	server, worker := open(t, path), open(t, path)
	random := randomNumbers(t, 1)
	vector := randomVector(random, 16)
	query := index.Query{Principal: member, Limit: 5}
	found := func() (dense, words int) {
		t.Helper()
		near, err := server.Dense(t.Context(), query, vector)
		if err != nil {
			t.Fatal(err)
		}
		hits, err := server.BM25(t.Context(), query, "theirword1")
		if err != nil {
			t.Fatal(err)
		}
		return len(near), len(hits)
	}
	if dense, words := found(); dense+words != 0 {
		t.Fatalf("the empty index has %d and %d hits", dense, words)
	}
	if err := worker.Upsert(t.Context(), []index.Entry{passage("their", 1, 1, vector)}); err != nil {
		t.Fatal(err)
	}
	if dense, words := found(); dense != 1 || words != 1 {
		t.Errorf("found %d by vector and %d by words", dense, words)
	}

	var writers sync.WaitGroup
	for n, x := range []index.Index{server, worker} {
		vectors := make([][]float32, 20)
		for i := range vectors {
			vectors[i] = randomVector(random, 16)
		}
		writers.Go(func() {
			for i, v := range vectors {
				if err := x.Upsert(t.Context(), []index.Entry{passage(fmt.Sprint("both", n), i, 1, v)}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	writers.Wait()
	query.Limit = 100
	near, err := server.Dense(t.Context(), query, vector)
	if err != nil || len(near) != 41 {
		t.Errorf("found %d of 41 by vector, %v", len(near), err)
	}
	if err := server.RemoveDocument(t.Context(), "acme", "their-document-1", 1); err != nil {
		t.Fatal(err)
	}
	if counts, err := worker.Count(t.Context(), "acme", "their-document-1"); err != nil || len(counts) != 0 {
		t.Errorf("after its removal the document has %v, %v", counts, err)
	}
}
