package store_test

import (
	"context"
	"database/sql"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
	"github.com/cairn-rag/cairn/internal/store/postgrestest"
	"github.com/cairn-rag/cairn/internal/store/storetest"
)

// openPostgres returns a store in a database of its own.
func openPostgres(t testing.TB) *store.Store {
	t.Helper()
	return openPostgresAt(t, postgrestest.Migrated(t))
}

func openPostgresAt(t testing.TB, address string) *store.Store {
	t.Helper()
	s, err := store.Open(t.Context(), store.Config{URL: address})
	must(t, err)
	t.Cleanup(func() { must(t, s.Close()) })
	return s
}

func TestPostgresContract(t *testing.T) {
	t.Parallel()
	storetest.Run(t, func(t *testing.T) storetest.Store { return openPostgres(t) })
}

// TestTablesAreTwins compares the tables, columns and indexes of both databases: every
// migration has a twin.
func TestTablesAreTwins(t *testing.T) {
	t.Parallel()
	_, path := openAt(t)
	address := postgrestest.Migrated(t)
	const skip = " NOT IN ('goose_db_version', 'write_turns')"
	want := columns(t, "sqlite", path, `SELECT m.name || '.' || c.name FROM sqlite_master AS m, pragma_table_info(m.name) AS c
		WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite_%' AND m.name`+skip+`
		UNION SELECT 'index ' || name FROM sqlite_master WHERE type = 'index' AND name NOT LIKE 'sqlite_%' ORDER BY 1`)
	got := columns(t, "pgx", address, `SELECT table_name || '.' || column_name FROM information_schema.columns WHERE table_schema = 'public' AND table_name`+skip+`
		UNION SELECT 'index ' || indexname FROM pg_indexes WHERE schemaname = 'public' AND indexname NOT LIKE '%_pkey' AND indexname NOT LIKE '%_key' ORDER BY 1`)
	slices.Sort(want)
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("SQLite and PostgreSQL differ (-SQLite +PostgreSQL):\n%s", diff)
	}
	kinds := columns(t, "pgx", address, `SELECT table_name || '.' || column_name || ' ' || data_type || ' ' || is_nullable || ' ' || COALESCE(collation_name, '')
		FROM information_schema.columns WHERE table_schema = 'public' AND table_name`+skip+`
		AND (is_nullable = 'YES' OR data_type = 'text' AND COALESCE(collation_name, '') <> 'C' OR data_type NOT IN ('text', 'bigint', 'boolean', 'double precision', 'bytea'))`)
	if len(kinds) > 0 {
		t.Errorf("columns are NOT NULL, and texts are compared byte by byte: %q", kinds)
	}
}

func columns(t *testing.T, driver, source, query string) []string {
	t.Helper()
	db, err := sql.Open(driver, source)
	must(t, err)
	defer func() { must(t, db.Close()) }()
	rows, err := db.QueryContext(t.Context(), query)
	must(t, err)
	defer rows.Close()
	var list []string
	for rows.Next() {
		var name string
		must(t, rows.Scan(&name))
		list = append(list, name)
	}
	must(t, rows.Err())
	return list
}

// TestPostgresOpen opens databases of other versions of the program.
func TestPostgresOpen(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	refused := func(t *testing.T, address string, code knowledge.Code, says string) {
		t.Helper()
		s, err := store.Open(ctx, store.Config{URL: address})
		if !knowledge.IsCode(err, code) || !strings.Contains(err.Error(), says) || knowledge.AsError(err).Retryable != (code == knowledge.CodeUnavailable) {
			t.Errorf("opened %v, %v; want code %s that says %q", s, err, code, says)
		}
	}
	t.Run("only_a_migration_makes_the_tables", func(t *testing.T) {
		t.Parallel()
		address := postgrestest.Empty(t)
		refused(t, address, knowledge.CodeUnavailable, "cairn migrate")
		if tables := columns(t, "pgx", address, "SELECT tablename FROM pg_tables WHERE schemaname = 'public'"); len(tables) > 0 {
			t.Errorf("opening made %q", tables)
		}
		var wg sync.WaitGroup
		for range 3 { // at once, and later again
			wg.Go(func() {
				if err := store.Migrate(ctx, address); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		must(t, store.Migrate(ctx, address))
		must(t, openPostgresAt(t, address).Ping(ctx))
	})
	t.Run("other_tables_are_refused", func(t *testing.T) {
		t.Parallel()
		address := postgrestest.Empty(t)
		must(t, store.Migrate(ctx, address))
		db, err := sql.Open("pgx", address)
		must(t, err)
		defer func() { must(t, db.Close()) }()
		_, err = db.ExecContext(ctx, "INSERT INTO goose_db_version (version_id, is_applied) VALUES (99999, TRUE)")
		must(t, err)
		refused(t, address, knowledge.CodeConflict, "use the version of cairn that migrated them")
		if err := store.Migrate(ctx, address); !knowledge.IsCode(err, knowledge.CodeConflict) {
			t.Errorf("a migration of newer tables: %v", err)
		}
		_, err = db.ExecContext(ctx, "DELETE FROM goose_db_version WHERE version_id IN (99999, (SELECT MAX(version_id) FROM goose_db_version WHERE version_id < 99999))")
		must(t, err)
		refused(t, address, knowledge.CodeUnavailable, "run cairn migrate")
	})
	t.Run("a_server_that_is_not_there_can_be_tried_again", func(t *testing.T) {
		t.Parallel()
		refused(t, "postgres://ann:hunter2@127.0.0.1:1/cairn?sslmode=disable", knowledge.CodeUnavailable, "cannot be reached")
		_, err := store.Open(ctx, store.Config{URL: "postgres://ann:hunter2@127.0.0.1:1/cairn?sslmode=disable"})
		if strings.Contains(err.Error(), "hunter2") {
			t.Errorf("the error shows the password: %v", err)
		}
	})
}

// TestPostgresConnectionsAreLost ends every connection to the database: the store says
// that it is unavailable at most once each, and goes on.
func TestPostgresConnectionsAreLost(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	address := postgrestest.Migrated(t)
	s := openPostgresAt(t, address)
	publish(t, s, "a", "text", 3)
	db, err := sql.Open("pgx", address)
	must(t, err)
	defer func() { must(t, db.Close()) }()
	_, err = db.ExecContext(ctx, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()")
	must(t, err)
	for i := 0; ; i++ {
		_, _, err := s.AddVersion(ctx, newVersion("b"))
		if err == nil {
			break
		}
		if !knowledge.IsCode(err, knowledge.CodeUnavailable) || !knowledge.AsError(err).Retryable || i > 20 {
			t.Fatalf("try %d: %v", i, err)
		}
	}
	publish(t, s, "c", "text", 3)
}

// TestWritersRunSideBySide holds a transaction open: another one, of other rows, does
// not wait for it.
func TestWritersRunSideBySide(t *testing.T) {
	t.Parallel()
	s := openPostgresAt(t, postgrestest.Migrated(t))
	open, goOn, done := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	go func() {
		_, err := s.Setting(t.Context(), "slow", func() string {
			close(open)
			<-goOn
			return "value"
		})
		done <- err
	}()
	<-open
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	_, _, err := s.AddVersion(ctx, newVersion("a"))
	close(goOn)
	must(t, err)
	must(t, <-done)
}

// TestWritersWaitForTheirTurn holds the turn of writers for longer than lock_timeout: a
// writer behind it waits, as one does behind many on a busy machine.
func TestWritersWaitForTheirTurn(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	address := postgrestest.Migrated(t)
	s := openPostgresAt(t, address+"&lock_timeout=100")
	db, err := sql.Open("pgx", address)
	must(t, err)
	defer func() { must(t, db.Close()) }()
	other, err := db.BeginTx(ctx, nil)
	must(t, err)
	_, err = other.ExecContext(ctx, "LOCK TABLE write_turns IN EXCLUSIVE MODE")
	must(t, err)
	done := make(chan error, 1)
	go func() {
		_, _, err := s.AddVersion(ctx, newVersion("a"))
		done <- err
	}()
	select {
	case err = <-done:
		t.Errorf("the writer did not wait: %v", err)
		must(t, other.Rollback())
	case <-time.After(time.Second):
		must(t, other.Rollback())
		must(t, <-done)
	}
}

// TestPostgresStatementsAreBounded has a table locked by another program: a read and a
// write end at their time limits, and can be tried again.
func TestPostgresStatementsAreBounded(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	address := postgrestest.Migrated(t)
	s := openPostgresAt(t, address+"&statement_timeout=300&lock_timeout=200")
	db, err := sql.Open("pgx", address)
	must(t, err)
	defer func() { must(t, db.Close()) }()
	other, err := db.BeginTx(ctx, nil)
	must(t, err)
	_, err = other.ExecContext(ctx, "LOCK TABLE documents, settings IN ACCESS EXCLUSIVE MODE")
	must(t, err)
	for what, call := range map[string]func() error{
		"a health check": func() error { return s.Ping(ctx) },
		"a read":         func() error { _, err := s.Document(ctx, manager(), "a"); return err },
		"a write":        func() error { _, _, err := s.AddVersion(ctx, newVersion("a")); return err },
	} {
		if err := call(); !knowledge.IsCode(err, knowledge.CodeUnavailable) || !knowledge.AsError(err).Retryable {
			t.Errorf("%s: %v", what, err)
		}
	}
	must(t, other.Rollback())
	must(t, s.Ping(ctx))
}

// TestPostgresHealthCheckWritesNothing checks the health over connections that cannot
// write.
func TestPostgresHealthCheckWritesNothing(t *testing.T) {
	t.Parallel()
	s := openPostgresAt(t, postgrestest.Migrated(t)+"&default_transaction_read_only=on")
	if _, _, err := s.AddVersion(t.Context(), newVersion("a")); err == nil {
		t.Error("a document was added, so this proves nothing")
	}
	must(t, s.Ping(t.Context()))
}
