package embedded_test

import (
	"path/filepath"
	"testing"

	"github.com/cairn-rag/cairn/internal/index"
	"github.com/cairn-rag/cairn/internal/index/embedded"
	"github.com/cairn-rag/cairn/internal/index/indextest"
)

func open(t *testing.T, path string) *embedded.Index {
	t.Helper()
	x, err := embedded.Open(t.Context(), embedded.Config{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := x.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return x
}

func TestContract(t *testing.T) {
	t.Parallel()
	indextest.Run(t, func(t *testing.T) index.Index {
		return open(t, filepath.Join(t.TempDir(), "new directory?#", "index%.db"))
	})
}
