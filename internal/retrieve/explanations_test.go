package retrieve_test

import (
	"path/filepath"
	"testing"

	"github.com/cairn-rag/cairn/internal/retrieve/retrievetest"
	"github.com/cairn-rag/cairn/internal/store/postgrestest"
)

// TestExplanationsAgreeWithSearches compares explanations with searches 10,000 times.
func TestExplanationsAgreeWithSearches(t *testing.T) {
	t.Parallel()
	explanations(t, "sqlite://"+filepath.Join(t.TempDir(), "cairn.db"), 1, 10_000)
}

// TestExplanationsAgreeOnPostgres does the same with the metadata in PostgreSQL.
func TestExplanationsAgreeOnPostgres(t *testing.T) {
	t.Parallel()
	explanations(t, postgrestest.Migrated(t), 2, 2_000)
}

func explanations(t *testing.T, database string, seed uint64, comparisons int) {
	t.Helper()
	s, x := openStores(t, database)
	retrievetest.Explanations(t, s, x, seed, comparisons)
}
