package retrieve_test

import (
	"net/url"
	"path/filepath"
	"testing"

	"github.com/cairn-rag/cairn/internal/index/embedded"
	"github.com/cairn-rag/cairn/internal/retrieve/retrievetest"
	"github.com/cairn-rag/cairn/internal/store"
)

// FuzzIsolation searches while documents and their access change at random.
func FuzzIsolation(f *testing.F) {
	for seed := range uint64(6) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		address := url.URL{Scheme: "sqlite", Path: filepath.Join(t.TempDir(), "cairn.db")} // the folder is named after the seed, with a #
		s, err := store.Open(t.Context(), store.Config{URL: address.String()})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = s.Close() })
		x, err := embedded.Open(t.Context(), embedded.Config{Path: filepath.Join(t.TempDir(), "index.db")})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = x.Close() })
		retrievetest.Isolation(t, s, x, seed, 100)
	})
}
