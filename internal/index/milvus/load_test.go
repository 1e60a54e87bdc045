package milvus_test

import (
	"strings"
	"testing"
	"time"

	"github.com/cairn-rag/cairn/internal/index"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// TestALongLoad has a server need long to load a collection after its restart: the index can
// be opened meanwhile, searches say what they wait for, and one load is asked for.
func TestALongLoad(t *testing.T) {
	t.Parallel()
	cfg := config(shared(t))
	x := open(t, cfg)
	if err := x.Upsert(t.Context(), []index.Entry{passage("document")}); err != nil {
		t.Fatal(err)
	}
	p := proxied(t, cfg.Address)
	loading := make(chan struct{})
	p.loading.Store(&loading)
	cfg.Address = p.address
	opened := open(t, cfg.WithLoadPatience(100*time.Millisecond))
	query := index.Query{Principal: member(), Limit: 1}
	for range 3 {
		_, err := opened.BM25(t.Context(), query, "common")
		if e := knowledge.AsError(err); err == nil || e.Code != knowledge.CodeUnavailable || !e.Retryable || !strings.Contains(e.Message, "is loading the collection") {
			t.Errorf("a search while the server loads: %v", err)
		}
	}
	if loads := p.loads.Load(); loads != 1 {
		t.Errorf("%d loads were asked for, want 1", loads)
	}
	close(loading)
	for deadline := time.Now().Add(20 * time.Second); ; {
		hits, err := opened.BM25(t.Context(), query, "common")
		if err == nil && len(hits) == 1 {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("a search after the load: %v, %v", hits, err)
		}
	}
}
