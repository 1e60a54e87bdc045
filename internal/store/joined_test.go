package store_test

import (
	"database/sql"
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cairn-rag/cairn/internal/knowledge"
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
	refused := func(how string, code knowledge.Code, says string, opens func() error) {
		t.Helper()
		err := opens()
		if !knowledge.IsCode(err, code) || !strings.Contains(err.Error(), says) || knowledge.AsError(err).Retryable != (code == knowledge.CodeUnavailable) {
			t.Errorf("%s: %v; want code %s that says %q", how, err, code, says)
		}
	}
	openAs := func(c store.Config) func() error {
		return func() error { _, err := store.Open(t.Context(), c); return err }
	}
	must(t, server.Close())
	_, err = db.ExecContext(t.Context(), "INSERT INTO goose_db_version (version_id, is_applied) VALUES (99999, 1)")
	must(t, err)
	newer := "use the version of cairn that migrated them"
	refused("a role at newer tables", knowledge.CodeConflict, newer, openAs(joined))
	refused("a server at newer tables", knowledge.CodeConflict, newer, openAs(config))
	refused("a migration of newer tables", knowledge.CodeConflict, newer, func() error { return store.Migrate(t.Context(), config.URL) })
	_, err = db.ExecContext(t.Context(), "DELETE FROM goose_db_version WHERE version_id IN (99999, (SELECT MAX(version_id) FROM goose_db_version WHERE version_id < 99999))")
	must(t, err)
	refused("a role at older tables", knowledge.CodeUnavailable, "run cairn migrate", openAs(joined))
}
