package retrieve_test

import (
	"net/url"
	"os"
	"path/filepath"
	"testing"

	"github.com/cairn-rag/cairn/internal/index/embedded"
	"github.com/cairn-rag/cairn/internal/retrieve/retrievetest"
	"github.com/cairn-rag/cairn/internal/store"
	"github.com/cairn-rag/cairn/internal/store/postgrestest"
)

func TestMain(m *testing.M) { os.Exit(postgrestest.Main(m)) }

// FuzzIsolation searches while documents and their access change at random.
func FuzzIsolation(f *testing.F) {
	for seed := range uint64(6) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		address := url.URL{Scheme: "sqlite", Path: filepath.Join(t.TempDir(), "cairn.db")} // the folder is named after the seed, with a #
		isolation(t, address.String(), seed, 100)
	})
}

// TestIsolationOnPostgres does the same with the metadata in PostgreSQL.
func TestIsolationOnPostgres(t *testing.T) {
	t.Parallel()
	isolation(t, postgrestest.Migrated(t), 6, 60)
}

func isolation(t *testing.T, database string, seed uint64, changes int) {
	t.Helper()
	s, x := openStores(t, database)
	retrievetest.Isolation(t, s, x, seed, changes)
}

// openStores opens an empty database, and an empty index in a file.
func openStores(t *testing.T, database string) (*store.Store, *embedded.Index) {
	t.Helper()
	s, err := store.Open(t.Context(), store.Config{URL: database})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	x, err := embedded.Open(t.Context(), embedded.Config{Path: filepath.Join(t.TempDir(), "index.db")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = x.Close() })
	return s, x
}
