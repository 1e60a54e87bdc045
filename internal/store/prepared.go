//nolint:sqlclosecheck // Statements stay open until their pool or transaction closes.
package store

import (
	"context"
	"database/sql"
	"slices"
	"sync"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/schema"
	"golang.org/x/sync/semaphore"
)

// pool is a pool of connections and the statements that are prepared on it once:
// preparing a short statement takes as long as running it. It is for those that
// every document and every question needs; the others are built by bun, which
// writes their values into the text.
type pool struct {
	*bun.DB
	twin      func(text string) string // of a statement for SQLite; nil on SQLite
	preparing *semaphore.Weighted      // of 1, held while a statement is prepared
	mu        sync.RWMutex             // held for no longer than the maps need
	prepared  map[string]*sql.Stmt
	wanted    []string // asked for in transactions, and not prepared yet
}

// newPool returns a pool of up to size connections that are kept open.
func newPool(db *sql.DB, size int, dialect schema.Dialect, twin func(string) string) *pool {
	db.SetMaxOpenConns(size)
	db.SetMaxIdleConns(size)
	return &pool{DB: bun.NewDB(db, dialect), twin: twin, preparing: semaphore.NewWeighted(1), prepared: map[string]*sql.Stmt{}}
}

// statement returns a statement for SQLite as the database of the pool knows it.
func (p *pool) statement(text string) string {
	if p.twin == nil {
		return text
	}
	return p.twin(text)
}

// transaction is a transaction, with the statements of its pool.
type transaction struct {
	bun.Tx
	clock
	pool  *pool
	woken *[]WebhookQueue // whose workflows are to be woken once it is committed
}

// querier is a pool or a transaction.
type querier interface {
	query(ctx context.Context, text string, args ...any) (*sql.Rows, error)
}

// query runs a prepared statement that returns rows.
func (p *pool) query(ctx context.Context, text string, args ...any) (*sql.Rows, error) {
	stmt, err := p.prepare(ctx, text)
	if err != nil {
		return nil, err
	}
	return stmt.QueryContext(ctx, storableArguments(args)...)
}

// query runs a prepared statement that returns rows.
func (t transaction) query(ctx context.Context, text string, args ...any) (*sql.Rows, error) {
	if stmt := t.pool.lookup(text); stmt != nil {
		return t.StmtContext(ctx, stmt).QueryContext(ctx, storableArguments(args)...)
	}
	return t.Tx.Tx.QueryContext(ctx, t.pool.statement(text), storableArguments(args)...)
}

// exec runs a prepared statement that returns no rows.
func (t transaction) exec(ctx context.Context, text string, args ...any) (sql.Result, error) {
	if stmt := t.pool.lookup(text); stmt != nil {
		return t.StmtContext(ctx, stmt).ExecContext(ctx, storableArguments(args)...)
	}
	return t.Tx.Tx.ExecContext(ctx, t.pool.statement(text), storableArguments(args)...)
}

// lookup returns a prepared statement, or nil and remembers that it is wanted: the
// transaction that asks may hold the only connection on which it can be prepared.
func (p *pool) lookup(text string) *sql.Stmt {
	if stmt := p.known(text); stmt != nil {
		return stmt
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if !slices.Contains(p.wanted, text) {
		p.wanted = append(p.wanted, text)
	}
	return nil
}

// prepareWanted prepares what transactions have asked for. A statement that cannot
// be prepared is asked for again.
func (p *pool) prepareWanted(ctx context.Context) {
	p.mu.RLock()
	none := len(p.wanted) == 0
	p.mu.RUnlock()
	if none {
		return
	}
	p.mu.Lock()
	wanted := p.wanted
	p.wanted = nil
	p.mu.Unlock()
	for _, text := range wanted {
		if _, err := p.prepare(ctx, text); err != nil {
			return // its next use runs it unprepared, and shows the error
		}
	}
}

// prepare returns a statement that is prepared once. Callers prepare one after the other
// and never hold mu meanwhile: a second statement for a text would have to be closed,
// and its Close waits for the connections that know it, on which a transaction may wait
// for its turn behind one that asks for a statement.
func (p *pool) prepare(ctx context.Context, text string) (*sql.Stmt, error) {
	if stmt := p.known(text); stmt != nil {
		return stmt, nil
	}
	if err := p.preparing.Acquire(ctx, 1); err != nil {
		return nil, err
	}
	defer p.preparing.Release(1)
	if stmt := p.known(text); stmt != nil {
		return stmt, nil
	}
	stmt, err := p.DB.DB.PrepareContext(ctx, p.statement(text))
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.prepared[text] = stmt
	return stmt, nil
}

// known returns a prepared statement, nil if it is not prepared yet.
func (p *pool) known(text string) *sql.Stmt {
	p.mu.RLock()
	defer p.mu.RUnlock()
	return p.prepared[text]
}

// each calls scan for every row of a query.
func each(ctx context.Context, db querier, text string, args []any, scan func(*sql.Rows) error) error {
	rows, err := db.query(ctx, text, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := scan(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// first scans the first row of a query. It reports whether there is one.
func first(ctx context.Context, db querier, targets []any, text string, args ...any) (bool, error) {
	rows, err := db.query(ctx, text, args...)
	if err != nil {
		return false, err
	}
	defer rows.Close()
	if !rows.Next() {
		return false, rows.Err()
	}
	if err := rows.Scan(targets...); err != nil {
		return true, err
	}
	return true, rows.Close()
}
