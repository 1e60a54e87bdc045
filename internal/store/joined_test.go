package store_test

import (
	"database/sql"
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cairn-rag/cairn/internal/store"
)

// TestJoined opens a database that another process has open.
func TestJoined(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "cairn.db")
	config := store.Config{URL: (&url.URL{Scheme: "sqlite", Path: path}).String()}
	joined := config
	joined.Joined = true
	if s, err := store.Open(t.Context(), joined); err == nil {
		t.Errorf("a database that is not there was opened, %v", s.Close())
	}
	server, err := store.Open(t.Context(), config)
	must(t, err)
	t.Cleanup(func() { must(t, server.Close()) })
	worker, err := store.Open(t.Context(), joined)
	must(t, err)
	v, _ := publish(t, worker, "a.txt", "A text.", 3)
	if d, err := server.Document(t.Context(), manager(), v.Document); err != nil || d.PublishedVersion != 1 {
		t.Errorf("the server sees %+v, %v", d, err)
	}
	must(t, worker.Close())

	db, err := sql.Open("sqlite", path)
	must(t, err)
	t.Cleanup(func() { must(t, db.Close()) })
	_, err = db.ExecContext(t.Context(), "INSERT INTO goose_db_version (version_id, is_applied) VALUES (99999, 1)")
	must(t, err)
	if s, err := store.Open(t.Context(), joined); err == nil || !strings.Contains(err.Error(), "use the version of cairn that the server has") {
		t.Errorf("a database of another version: %v, %v", s, err)
	}
}
