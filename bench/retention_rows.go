package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // the database/sql driver "pgx"
	_ "modernc.org/sqlite"             // the database/sql driver "sqlite"

	"github.com/cairn-rag/cairn/internal/childserver"
	"github.com/cairn-rag/cairn/internal/client"
	"github.com/cairn-rag/cairn/internal/service"
)

// insertAtOnce is how many documents one statement writes.
const insertAtOnce = 100_000

// aged is a server with many old documents.
type aged struct {
	server   *server
	other    *client.Client // of another workspace
	postgres *service.Process
	rows     *rows
}

func (d *aged) close() error {
	var errs []error
	if d.rows != nil {
		errs = append(errs, d.rows.db.Close())
	}
	if d.server != nil {
		errs = append(errs, d.server.remove())
	}
	if d.postgres != nil {
		errs = append(errs, d.postgres.Close())
	}
	return errors.Join(errs...)
}

// agedDocuments starts a server, publishes a document, and copies its rows while the server is
// stopped.
func (b *bench) agedDocuments(ctx context.Context) (d *aged, err error) {
	d = &aged{rows: &rows{postgres: b.database == "postgres"}}
	defer func() {
		if err != nil {
			err = errors.Join(err, d.close())
		}
	}()
	var env []string
	driver, address := "sqlite", ""
	if d.rows.postgres {
		if d.postgres, err = service.Postgres("max_connections=100", "shared_buffers=256MB"); err != nil {
			return nil, err
		}
		if err := errors.Join(d.postgres.Start(ctx), d.postgres.CreateDatabase(ctx, "cairn")); err != nil {
			return nil, err
		}
		driver, address = "pgx", d.postgres.PostgresURL("cairn")
		env = append(env, "CAIRN_DATABASE__URL="+address)
	}
	if d.server, _, err = b.serve(ctx, env...); err != nil {
		return nil, err
	}
	if !d.rows.postgres {
		address = "file:" + filepath.Join(d.server.folder, "data", "cairn.db") + "?_pragma=synchronous(OFF)"
	}
	if d.rows.db, err = sql.Open(driver, address); err != nil {
		return nil, err
	}
	d.rows.db.SetMaxOpenConns(1)
	if err := d.fill(ctx, b); err != nil {
		return nil, err
	}
	d.other, err = d.server.otherWorkspace(ctx)
	return d, err
}

// fill publishes a document and copies it.
func (d *aged) fill(ctx context.Context, b *bench) error {
	c, err := d.server.Client()
	if err != nil {
		return err
	}
	doc, err := c.AddDocument(ctx, client.NewDocument{Project: "default", Name: "template", Content: client.Content{Text: "A text that is old."}})
	if err != nil {
		return err
	}
	if _, err := c.Wait(ctx, doc.RunID, nil); err != nil {
		return err
	}
	if err := d.server.Stop(); err != nil {
		return err
	}
	begin := time.Now()
	for first := 0; first < b.aged; first += insertAtOnce {
		if err := childserver.CopyDocument(ctx, d.rows.db, doc.ID, first, min(insertAtOnce, b.aged-first)); err != nil {
			return err
		}
	}
	fmt.Fprintf(b.out, "%d documents were written in %.0f s\n\n", b.aged, time.Since(begin).Seconds())
	_, err = d.server.start(ctx)
	return err
}

// rows are the tables of a server.
type rows struct {
	db       *sql.DB
	postgres bool
}

// watchWrites measures the transactions that write, until ended is closed. On SQLite it asks for
// the write lock again and again: it waits for no less than what is left of the transaction that
// holds it. PostgreSQL says how long its transactions with changes run.
func (r *rows) watchWrites(ctx context.Context, ended <-chan struct{}) *samples {
	seen := &samples{}
	for {
		select {
		case <-ended:
			return seen
		case <-ctx.Done():
			return seen
		case <-time.After(10 * time.Millisecond):
		}
		took, err := r.wait(ctx)
		if err == nil {
			seen.add(took)
		}
	}
}

func (r *rows) wait(ctx context.Context) (time.Duration, error) {
	if r.postgres {
		var microseconds float64
		err := r.db.QueryRowContext(ctx, `SELECT coalesce(max(extract(epoch FROM clock_timestamp() - xact_start)), 0) * 1e6
			FROM pg_stat_activity WHERE backend_xid IS NOT NULL AND datname = current_database()`).Scan(&microseconds)
		return time.Duration(microseconds) * time.Microsecond, err
	}
	for begin := time.Now(); ; time.Sleep(time.Millisecond) {
		_, err := r.db.ExecContext(ctx, "BEGIN IMMEDIATE")
		if err == nil {
			_, err = r.db.ExecContext(ctx, "ROLLBACK")
			return time.Since(begin), err
		}
		if !strings.Contains(err.Error(), "SQLITE_BUSY") {
			return 0, err
		}
	}
}
