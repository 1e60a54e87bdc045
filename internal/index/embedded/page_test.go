package embedded_test

import (
	"context"
	"database/sql"
	"path/filepath"
	"testing"

	"github.com/cairn-rag/cairn/internal/index/embedded"
)

// TestPageSize checks that a new file has larger pages, and that an older one keeps its own.
func TestPageSize(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		before string // what made the file
		want   int
	}{
		"a_new_file":    {"", 8192},
		"an_older_file": {"PRAGMA page_size = 4096; CREATE TABLE other (id INTEGER)", 4096},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "index.db")
			db, err := sql.Open("sqlite", "file:"+path)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = db.Close() }) // it is only read
			if test.before != "" {
				if _, err := db.ExecContext(t.Context(), test.before); err != nil {
					t.Fatal(err)
				}
			}
			for range 2 { // the second time it is there
				x, err := embedded.Open(context.WithoutCancel(t.Context()), embedded.Config{Path: path})
				if err != nil {
					t.Fatal(err)
				}
				if err := x.Close(); err != nil {
					t.Fatal(err)
				}
			}
			var size int
			if err := db.QueryRowContext(t.Context(), "PRAGMA page_size").Scan(&size); err != nil || size != test.want {
				t.Errorf("pages have %d bytes, %v, want %d", size, err, test.want)
			}
		})
	}
}
