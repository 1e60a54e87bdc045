package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"github.com/uptrace/bun/dialect/pgdialect"
	"modernc.org/sqlite"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// Pool is a pool of connections and the statements that are prepared on it.
type Pool = pool

// NewPool returns a pool on connections of a test.
func NewPool(db *sql.DB, size int) *Pool { return newPool(db, size, pgdialect.New(), nil) }

// Prepare returns a statement that is prepared once.
func (p *pool) Prepare(ctx context.Context, text string) (*sql.Stmt, error) {
	return p.prepare(ctx, text)
}

// Exec runs a statement on the connection that writes, so that tests can set
// the database limits.
func (s *Store) Exec(ctx context.Context, statement string) error {
	_, err := s.writer.ExecContext(ctx, statement)
	return err
}

// BeforeCommit has f called before each commit from now on, while the transaction
// still holds the connection that writes.
func (s *Store) BeforeCommit(ctx context.Context, f func()) (err error) {
	conn, err := s.writer.DB.DB.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	return conn.Raw(func(driver any) error {
		hooks, ok := driver.(sqlite.HookRegisterer)
		if !ok {
			return fmt.Errorf("a connection of type %T has no hooks", driver)
		}
		hooks.RegisterCommitHook(func() int32 { f(); return 0 })
		return nil
	})
}

// Waited is how many transactions had to wait for the connection that writes.
func (s *Store) Waited() int64 { return s.writer.Stats().WaitCount }

// CountChunks counts the rows of chunks in a transaction that writes.
func (s *Store) CountChunks(ctx context.Context) (n int, err error) {
	err = s.write(ctx, "count chunks", func(ctx context.Context, tx transaction) error {
		return tx.QueryRowContext(ctx, "SELECT COUNT(*) FROM chunks").Scan(&n)
	})
	return n, err
}

// Prepared counts the statements that are prepared, on all connections.
func (s *Store) Prepared() int {
	n := 0
	for _, p := range []*pool{s.writer, s.reader} {
		p.mu.RLock()
		n += len(p.prepared)
		p.mu.RUnlock()
	}
	return n
}

// PreparedFor counts the prepared statements whose text contains a word.
func (s *Store) PreparedFor(word string) int {
	n := 0
	for _, p := range []*pool{s.writer, s.reader} {
		p.mu.RLock()
		for text := range p.prepared {
			if strings.Contains(text, word) {
				n++
			}
		}
		p.mu.RUnlock()
	}
	return n
}

// PagePlans returns how SQLite reads the pages of documents that follow a document, one
// line for each table.
func (s *Store) PagePlans(ctx context.Context) (plans map[string][]string, err error) {
	plans = map[string][]string{}
	for name, query := range map[string]string{
		"PublishedVersions": strings.Replace(publishedPage, "LIMIT ?", "LIMIT 100", 1), "OutdatedDocuments": outdatedPage,
	} {
		if plans[name], err = s.plan(ctx, query, "w", "p", "d"); err != nil {
			return nil, err
		}
	}
	return plans, nil
}

// ListPlan returns how SQLite reads the list of documents with a status.
func (s *Store) ListPlan(ctx context.Context, p knowledge.Principal, status knowledge.Status) ([]string, error) {
	var list []documentRow
	q, err := s.queryDocuments(ctx, &list, p, DocumentQuery{Status: status})
	if err != nil {
		return nil, err
	}
	if q, _, err = newestFirst(q, "d", "documents", Page{}, defaultDocumentsLimit); err != nil {
		return nil, err
	}
	return s.plan(ctx, q.String())
}

// DuePlans returns how SQLite finds the conversations and runs whose time is over.
func (s *Store) DuePlans(ctx context.Context) (conversations, runs []string, err error) {
	if conversations, err = s.plan(ctx, "SELECT c.id FROM conversations AS c WHERE "+dueConversations+dueConversationsOrder, "w", "p", 1, 100); err == nil {
		runs, err = s.plan(ctx, "SELECT r.id FROM runs AS r WHERE "+dueRuns+dueRunsOrder, "w", "p", 1, 100)
	}
	return conversations, runs, err
}

func (s *Store) plan(ctx context.Context, query string, args ...any) (steps []string, err error) {
	rows, err := s.writer.DB.DB.QueryContext(ctx, "EXPLAIN QUERY PLAN "+query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var id, parent, unused int
		var step string
		if err := rows.Scan(&id, &parent, &unused, &step); err != nil {
			return nil, err
		}
		steps = append(steps, step)
	}
	return steps, rows.Err()
}
