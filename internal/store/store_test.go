package store_test

import (
	"testing"

	"github.com/cairn-rag/cairn/internal/store"
	"github.com/cairn-rag/cairn/internal/store/storetest"
)

// open returns a store in a file of its own.
func open(t *testing.T) *store.Store {
	t.Helper()
	s, _ := openAt(t)
	return s
}

func openAt(t testing.TB) (*store.Store, string) {
	t.Helper()
	path := t.TempDir() + "/cairn.db"
	s, err := store.Open(t.Context(), store.Config{URL: "sqlite://" + path})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s, path
}

func TestContract(t *testing.T) {
	t.Parallel()
	storetest.Run(t, func(t *testing.T) storetest.Store { return open(t) })
}
