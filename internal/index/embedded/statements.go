package embedded

import (
	"context"
	"database/sql"
	"errors"
	"sync"
)

// maxStatements is the largest number of prepared statements that are kept:
// the statements of searches that only permission narrows, a few for each workspace. All
// others are prepared each time.
const maxStatements = 512

// statements is the pool of readers with its prepared statements: preparing
// takes a tenth of a search's time. Kept statements write a limit as +?,
// because SQLite plans a statement with LIMIT ? again whenever a value is
// bound.
type statements struct {
	pool *sql.DB

	mu       sync.Mutex
	prepared map[string]*sql.Stmt
}

func newStatements(pool *sql.DB) *statements {
	return &statements{pool: pool, prepared: map[string]*sql.Stmt{}}
}

// query is a statement with its values.
type query struct {
	sql  string
	args []any
	keep bool // keep the prepared statement
}

func (s *statements) query(ctx context.Context, q query) (*sql.Rows, error) {
	if !q.keep {
		return s.pool.QueryContext(ctx, q.sql, q.args...)
	}
	prepared, err := s.prepare(ctx, q.sql)
	if err != nil {
		return nil, err
	}
	if prepared == nil {
		return s.pool.QueryContext(ctx, q.sql, q.args...)
	}
	return prepared.QueryContext(ctx, q.args...)
}

// scan reads the only row of a query.
func (s *statements) scan(ctx context.Context, q query, into ...any) error {
	rows, err := s.query(ctx, q)
	if err != nil {
		return err
	}
	defer rows.Close()
	if !rows.Next() {
		return errors.Join(rows.Err(), sql.ErrNoRows)
	}
	return errors.Join(rows.Scan(into...), rows.Err())
}

// prepare returns nil if maxStatements are kept already.
func (s *statements) prepare(ctx context.Context, statement string) (*sql.Stmt, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p := s.prepared[statement]; p != nil || len(s.prepared) >= maxStatements {
		return p, nil
	}
	p, err := s.pool.PrepareContext(ctx, statement)
	if err == nil {
		s.prepared[statement] = p
	}
	return p, err
}

func (s *statements) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var errs []error
	for _, p := range s.prepared {
		errs = append(errs, p.Close())
	}
	clear(s.prepared)
	return errors.Join(append(errs, s.pool.Close())...)
}
