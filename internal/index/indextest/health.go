package indextest

import (
	"testing"

	"github.com/cairn-rag/cairn/internal/index"
)

func testHealth(t *testing.T, open Open) {
	f := newFixture(t, open, entry("a", "common"))
	if err := f.Ping(f.ctx); err != nil {
		t.Errorf("ping of an open index: %v", err)
	}
	if err := f.Close(); err != nil {
		t.Fatalf("close: %v", err)
	}
	if err := f.Ping(f.ctx); err == nil {
		t.Error("Ping of a closed index returned nil")
	}
	q := index.Query{Principal: member(), Limit: 10}
	if hits, err := f.BM25(f.ctx, q, "common"); err == nil {
		t.Errorf("a closed index found %v", ids(hits))
	}
	if hits, err := f.Dense(f.ctx, q, []float32{1, 0, 0, 0}); err == nil {
		t.Errorf("a closed index found %v", ids(hits))
	}
	if err := f.Upsert(f.ctx, []index.Entry{entry("b", "common")}); err == nil {
		t.Error("a closed index accepted an entry")
	}
	if err := f.Close(); err != nil {
		t.Errorf("close again: %v", err)
	}
}
