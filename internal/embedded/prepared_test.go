package embedded_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"modernc.org/sqlite"

	"github.com/cairn-rag/cairn/internal/embedded"
)

// watched is SQLite's driver. Each statement that its connections prepare is the one that watch
// returns for it.
type watched struct {
	watch func(c embedded.Connection, text string, s bothContexts) driver.Stmt
}

func (d watched) Open(dsn string) (driver.Conn, error) {
	opened, err := new(sqlite.Driver).Open(dsn)
	if err != nil {
		return nil, err
	}
	return watchedConnection{opened.(embedded.Connection), d}, nil
}

type watchedConnection struct {
	embedded.Connection
	driver watched
}

func (c watchedConnection) PrepareContext(ctx context.Context, text string) (driver.Stmt, error) {
	s, err := c.Connection.PrepareContext(ctx, text)
	if err != nil {
		return nil, err
	}
	return c.driver.watch(c.Connection, text, s.(bothContexts)), nil
}

// counts are the statements that connections have prepared, by their texts, and how many of them
// are closed.
type counts struct {
	prepared map[string]int
	closed   int
}

func (n *counts) watch(_ embedded.Connection, text string, s bothContexts) driver.Stmt {
	n.prepared[text]++
	return countingStatement{s, n}
}

type bothContexts interface {
	driver.Stmt
	driver.StmtExecContext
	driver.StmtQueryContext
}

type countingStatement struct {
	bothContexts
	counts *counts
}

func (s countingStatement) Close() error {
	s.counts.closed++
	return s.bothContexts.Close()
}

// preparing returns one connection to a new database with the numbers 1 to 3 in table t.
func preparing(t *testing.T) (*sql.DB, *counts) {
	t.Helper()
	counted := &counts{prepared: map[string]int{}}
	db := sql.OpenDB(embedded.PreparingConnector(watched{counted.watch}, "file:"+filepath.Join(t.TempDir(), "test.db"), false))
	db.SetMaxOpenConns(1)
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	for _, text := range []string{"CREATE TABLE t (n INTEGER PRIMARY KEY)", "INSERT INTO t VALUES (1), (2), (3)"} {
		if _, err := db.ExecContext(t.Context(), text); err != nil {
			t.Fatal(err)
		}
	}
	return db, counted
}

func count(t *testing.T, db *sql.DB) (n int) {
	t.Helper()
	if err := db.QueryRowContext(t.Context(), "SELECT count(*) FROM t").Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

func TestPreparedStatements(t *testing.T) {
	t.Parallel()

	t.Run("a text is prepared once, in transactions too", func(t *testing.T) {
		t.Parallel()
		db, counted := preparing(t)
		for n := range 5 {
			tx, err := db.BeginTx(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := tx.ExecContext(t.Context(), "INSERT INTO t VALUES (?)", 10+n); err != nil {
				t.Fatal(err)
			}
			if err := tx.Commit(); err != nil {
				t.Fatal(err)
			}
		}
		if n := count(t, db); n != 8 {
			t.Errorf("%d rows, want 8", n)
		}
		for text, times := range counted.prepared {
			if times != 1 {
				t.Errorf("%q was prepared %d times", text, times)
			}
		}
		if counted.prepared["BEGIN"] != 1 || counted.prepared["COMMIT"] != 1 {
			t.Errorf("prepared: %v", counted.prepared)
		}
	})

	t.Run("statements follow a change of the schema", func(t *testing.T) {
		t.Parallel()
		db, _ := preparing(t)
		count(t, db)
		for _, text := range []string{"ALTER TABLE t ADD COLUMN word TEXT", "DROP TABLE t", "CREATE TABLE t (word TEXT)"} {
			if _, err := db.ExecContext(t.Context(), text); err != nil {
				t.Fatal(err)
			}
		}
		if n := count(t, db); n != 0 {
			t.Errorf("%d rows", n)
		}
	})

	t.Run("the number of statements is bounded", func(t *testing.T) {
		t.Parallel()
		db, counted := preparing(t)
		for i := range embedded.MaxPrepared + 50 {
			var n int
			if err := db.QueryRowContext(t.Context(), fmt.Sprintf("SELECT %d", i)).Scan(&n); err != nil || n != i {
				t.Fatal(strconv.Itoa(n), err)
			}
		}
		if open := len(counted.prepared) - counted.closed; open != embedded.MaxPrepared {
			t.Errorf("%d statements are open, want %d", open, embedded.MaxPrepared)
		}
	})
}

func TestPreparedStatementsRunAgain(t *testing.T) {
	t.Parallel()

	t.Run("a transaction that is rolled back leaves nothing, and the next one works", func(t *testing.T) {
		t.Parallel()
		db, _ := preparing(t)
		for range 2 {
			tx, err := db.BeginTx(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := tx.ExecContext(t.Context(), "DELETE FROM t"); err != nil {
				t.Fatal(err)
			}
			if err := tx.Rollback(); err != nil {
				t.Fatal(err)
			}
		}
		if n := count(t, db); n != 3 {
			t.Errorf("%d rows, want 3", n)
		}
	})

	t.Run("a text runs again while its rows are read", func(t *testing.T) {
		t.Parallel()
		db, _ := preparing(t)
		tx, err := db.BeginTx(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		const next = "SELECT n FROM t WHERE n >= ? ORDER BY n"
		rows, err := tx.QueryContext(t.Context(), next, 1)
		if err != nil {
			t.Fatal(err)
		}
		defer rows.Close()
		var read []int
		for rows.Next() {
			var n, first int
			if err := errors.Join(rows.Scan(&n), tx.QueryRowContext(t.Context(), next, n).Scan(&first)); err != nil || n != first {
				t.Fatal(n, first, err)
			}
			read = append(read, n)
		}
		if err := errors.Join(rows.Err(), tx.Commit()); err != nil || len(read) != 3 {
			t.Errorf("read %v: %v", read, err)
		}
	})

	t.Run("a failed statement runs again", func(t *testing.T) {
		t.Parallel()
		db, _ := preparing(t)
		const insert = "INSERT INTO t VALUES (?)"
		if _, err := db.ExecContext(t.Context(), insert, 1); err == nil {
			t.Fatal("the same key twice")
		}
		if _, err := db.ExecContext(t.Context(), insert, 4); err != nil || count(t, db) != 4 {
			t.Error(err)
		}
	})
}

// levels are the levels of synchronous at which events were added.
type levels struct{ seen []int }

func (l *levels) watch(c embedded.Connection, text string, s bothContexts) driver.Stmt {
	if !strings.HasPrefix(text, "REPLACE INTO history_node ") {
		return s
	}
	return levelStatement{s, c, l}
}

type levelStatement struct {
	bothContexts
	connection embedded.Connection
	levels     *levels
}

func (s levelStatement) ExecContext(ctx context.Context, args []driver.NamedValue) (driver.Result, error) {
	level, err := s.level(ctx)
	if err != nil {
		return nil, err
	}
	s.levels.seen = append(s.levels.seen, level)
	return s.bothContexts.ExecContext(ctx, args)
}

// level returns the connection's level of synchronous.
func (s levelStatement) level(ctx context.Context) (int, error) {
	rows, err := s.connection.QueryContext(ctx, "PRAGMA synchronous", nil)
	if err != nil {
		return 0, err
	}
	value := make([]driver.Value, 1)
	err = rows.Next(value)
	level, _ := value[0].(int64)
	return int(level), errors.Join(err, rows.Close())
}

func TestEventsAreSyncedWithTheState(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name           string
		synchronous    int
		alone, between int // levels at which events are added, and after that
	}{
		{"every commit is synced but a commit of events alone", 2, 1, 2},
		{"no commit is synced", 1, 1, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			noted := levels{seen: []int{}}
			dsn := fmt.Sprintf("file:%s?_pragma=journal_mode=wal&_pragma=synchronous=%d", filepath.Join(t.TempDir(), "test.db"), c.synchronous)
			db := sql.OpenDB(embedded.PreparingConnector(watched{noted.watch}, dsn, c.synchronous == 2))
			db.SetMaxOpenConns(1)
			t.Cleanup(func() {
				if err := db.Close(); err != nil {
					t.Error(err)
				}
			})
			if _, err := db.ExecContext(t.Context(), "CREATE TABLE history_node (n INTEGER PRIMARY KEY)"); err != nil {
				t.Fatal(err)
			}
			const add = "REPLACE INTO history_node (n) VALUES (?)"
			after := []int{}
			between := func() (level int) { // a text of its own, because SQLite reads the level when it prepares it
				if err := db.QueryRowContext(t.Context(), fmt.Sprintf("PRAGMA synchronous -- %d", len(after))).Scan(&level); err != nil {
					t.Fatal(err)
				}
				return level
			}
			if _, err := db.ExecContext(t.Context(), add, 1); err != nil {
				t.Fatal(err)
			}
			after = append(after, between())
			tx, err := db.BeginTx(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := tx.ExecContext(t.Context(), add, 2); err != nil {
				t.Fatal(err)
			}
			if err := tx.Commit(); err != nil {
				t.Fatal(err)
			}
			if _, err := db.ExecContext(t.Context(), add, "no number"); err == nil {
				t.Error("an event with a wrong key was added")
			}
			after = append(after, between())
			if want := []int{c.alone, c.between, c.alone}; !slices.Equal(noted.seen, want) {
				t.Errorf("events were added at the levels %v, want %v", noted.seen, want)
			}
			if want := []int{c.between, c.between}; !slices.Equal(after, want) {
				t.Errorf("the levels after that are %v, want %v", after, want)
			}
		})
	}
}
