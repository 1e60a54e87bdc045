package embedded_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cairn-rag/cairn/internal/embedded"
)

// committing counts commits.
type committing struct{ atomic.Int64 }

func (n *committing) watch(_ embedded.Connection, text string, s bothContexts) driver.Stmt {
	if text != "COMMIT" {
		return s
	}
	return committingStatement{s, n}
}

type committingStatement struct {
	bothContexts
	commits *committing
}

func (s committingStatement) ExecContext(ctx context.Context, args []driver.NamedValue) (driver.Result, error) {
	s.commits.Add(1)
	return s.bothContexts.ExecContext(ctx, args)
}

// groupedTable is a new file with table t.
type groupedTable struct {
	db      *sql.DB // the connections of a server
	other   *sql.DB // of somebody else
	commits *committing
	waiting func() int64 // for a turn to write
}

func grouping(t testing.TB) groupedTable {
	t.Helper()
	dsn := "file:" + filepath.Join(t.TempDir(), "test.db") + "?_pragma=journal_mode=wal&_pragma=synchronous=2&_pragma=busy_timeout=10000"
	commits := new(committing)
	connector, waiting, err := embedded.GroupingConnector(t.Context(), watched{commits.watch}, dsn)
	if err != nil {
		t.Fatal(err)
	}
	table := groupedTable{db: sql.OpenDB(connector), commits: commits, waiting: waiting}
	if table.other, err = sql.Open("sqlite", dsn); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(table.other.Close(), table.db.Close()); err != nil {
			t.Error(err)
		}
	})
	if _, err := table.db.ExecContext(t.Context(), "CREATE TABLE t (n INTEGER PRIMARY KEY)"); err != nil {
		t.Fatal(err)
	}
	return table
}

// insert inserts a number in a transaction, and commits it if there is no error.
func insert(ctx context.Context, db *sql.DB, n int) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, "INSERT INTO t VALUES (?)", n); err != nil {
		return errors.Join(err, tx.Rollback())
	}
	return tx.Commit()
}

func TestTransactionsShareCommits(t *testing.T) {
	t.Parallel()
	table := grouping(t)
	db := table.db
	const many = 400
	before := table.commits.Load()
	var all sync.WaitGroup
	for n := range many {
		all.Go(func() {
			if n%4 == 0 { // a statement of its own
				if _, err := db.ExecContext(t.Context(), "INSERT INTO t VALUES (?)", n); err != nil {
					t.Error(err)
				}
			} else if err := insert(t.Context(), db, n); err != nil {
				t.Error(err)
			}
			// Every reader finds a row whose commit has returned.
			for _, reader := range []*sql.DB{db, table.other} {
				var there int
				if err := reader.QueryRowContext(t.Context(), "SELECT count(*) FROM t WHERE n = ?", n).Scan(&there); err != nil || there != 1 {
					t.Errorf("%d rows have number %d, %v", there, n, err)
				}
			}
		})
	}
	all.Wait()
	if made := table.commits.Load() - before; made < many/embedded.GroupSize || made > many/2 {
		t.Errorf("%d transactions made %d commits", many, made)
	}
	// One who is alone has a commit of his own.
	before = table.commits.Load()
	if err := insert(t.Context(), db, many); err != nil {
		t.Fatal(err)
	}
	if made := table.commits.Load() - before; made != 1 {
		t.Errorf("one transaction made %d commits", made)
	}
}

func TestReadersSeeWhatIsCommitted(t *testing.T) {
	t.Parallel()
	db := grouping(t).db
	tx, err := db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.ExecContext(t.Context(), "INSERT INTO t VALUES (1)"); err != nil {
		t.Fatal(err)
	}
	var own int
	if err := tx.QueryRowContext(t.Context(), "SELECT count(*) FROM t").Scan(&own); err != nil || own != 1 {
		t.Errorf("the transaction sees %d rows, %v", own, err)
	}
	if n := count(t, db); n != 0 {
		t.Errorf("others see %d rows before the commit", n)
	}
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	if n := count(t, db); n != 1 {
		t.Errorf("others see %d rows after the commit", n)
	}
	// A statement that writes and returns rows has the writer's turn until they are closed.
	var removed int
	if err := db.QueryRowContext(t.Context(), "DELETE FROM t RETURNING n").Scan(&removed); err != nil || removed != 1 {
		t.Errorf("the number %d was removed, %v", removed, err)
	}
	if err := insert(t.Context(), db, 2); err != nil || count(t, db) != 1 {
		t.Errorf("afterwards: %v", err)
	}
}

// TestOneRollbackLeavesTheOthers rolls back each third of the transactions that share commits,
// after an error, by itself, or because its context has ended.
func TestOneRollbackLeavesTheOthers(t *testing.T) {
	t.Parallel()
	db := grouping(t).db
	if err := insert(t.Context(), db, -1); err != nil {
		t.Fatal(err)
	}
	const many = 300
	var all sync.WaitGroup
	for n := range many {
		all.Go(func() {
			if n%3 != 0 {
				if err := insert(t.Context(), db, n); err != nil {
					t.Error(err)
				}
				return
			}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			tx, err := db.BeginTx(ctx, nil)
			if err != nil {
				t.Error(err)
				return
			}
			if _, err := tx.ExecContext(ctx, "INSERT INTO t VALUES (?)", n); err != nil {
				t.Error(err)
			}
			switch n % 9 {
			case 0:
				if _, err := tx.ExecContext(ctx, "INSERT INTO t VALUES (-1)"); err == nil {
					t.Error("a number was inserted twice")
				}
			case 3:
				cancel()
			}
			if err := tx.Rollback(); err != nil && !errors.Is(err, sql.ErrTxDone) && !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if n := count(t, db); n != 1+many/3*2 {
		t.Errorf("there are %d rows, want %d", n, 1+many/3*2)
	}
}

// TestALostGroup lets SQLite roll back the transaction that several share. None of them is told
// that it was committed, and the connections work afterwards.
func TestALostGroup(t *testing.T) {
	t.Parallel()
	table := grouping(t)
	db := table.db
	if err := insert(t.Context(), db, -1); err != nil {
		t.Fatal(err)
	}
	first, err := db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := first.ExecContext(t.Context(), "INSERT INTO t VALUES (1)"); err != nil {
		t.Fatal(err)
	}
	lost := make(chan error, 1)
	second := make(chan error, 1)
	go func() { // waits for its turn, so that the first one does not commit alone
		tx, err := db.BeginTx(t.Context(), nil)
		if err == nil {
			_, err = tx.ExecContext(t.Context(), "INSERT OR ROLLBACK INTO t VALUES (-1)")
			if err == nil {
				err = errors.New("a number was inserted twice")
			} else if commit := tx.Commit(); commit == nil {
				err = errors.New("a lost transaction was committed")
			} else {
				err = nil
			}
		}
		second <- err
	}()
	for table.waiting() == 0 {
		time.Sleep(time.Millisecond)
	}
	go func() { lost <- first.Commit() }()
	if err := <-second; err != nil {
		t.Error(err)
	}
	if err := <-lost; !errors.Is(err, embedded.ErrGroupLost) {
		t.Errorf("the first transaction ended with %v", err)
	}
	if n := count(t, db); n != 1 {
		t.Errorf("there are %d rows, want 1", n)
	}
	if err := insert(t.Context(), db, 2); err != nil || count(t, db) != 2 {
		t.Errorf("the next transaction: %v, %d rows", err, count(t, db))
	}
}

// BenchmarkTransactions inserts rows by a number of writers, each in a transaction.
func BenchmarkTransactions(b *testing.B) {
	for _, writers := range []int{1, 8, 32} {
		b.Run(fmt.Sprint(writers), func(b *testing.B) {
			table := grouping(b)
			b.SetParallelism(writers)
			before := table.commits.Load()
			var last atomic.Int64
			b.ResetTimer()
			b.RunParallel(func(p *testing.PB) {
				for p.Next() {
					if err := insert(b.Context(), table.db, int(last.Add(1))); err != nil {
						b.Error(err)
					}
				}
			})
			b.ReportMetric(float64(table.commits.Load()-before)/float64(b.N), "commits/op")
		})
	}
}
