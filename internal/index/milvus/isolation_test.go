package milvus_test

import (
	"net/url"
	"path/filepath"
	"testing"

	"github.com/cairn-rag/cairn/internal/retrieve/retrievetest"
	"github.com/cairn-rag/cairn/internal/store"
)

// TestIsolation searches while documents and their access change at random.
func TestIsolation(t *testing.T) {
	t.Parallel()
	address := url.URL{Scheme: "sqlite", Path: filepath.Join(t.TempDir(), "cairn.db")}
	s, err := store.Open(t.Context(), store.Config{URL: address.String()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	retrievetest.Isolation(t, s, open(t, config(shared(t))), 1, 60)
}
