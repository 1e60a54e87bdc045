package blob

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cairn-rag/cairn/internal/erase"
)

// maxGroup bounds how many changes one commit holds.
const maxGroup = 256

var errClosed = errors.New("the blob store is closed")

// row is a row to write, or to delete.
type row struct {
	key    string
	data   []byte
	delete bool
	// replaces are the bytes in whose place data is written: nothing is written if others are
	// there. nil = whatever is there. The time of the write stays.
	replaces []byte
}

// change is a number of rows that are written together or not at all.
type change struct {
	rows []row

	taken bool // by the commit that runs; guarded by committer.mu
	done  chan struct{}
	err   error // to be read once done is closed
}

// committer writes the small file. Changes that arrive while a commit runs are
// committed together by the next one, so many writers share a sync.
type committer struct {
	db              *sql.DB // one connection
	upsert, removal *sql.Stmt
	exchange        *sql.Stmt
	cache           *cache
	// beforeCommit is nil but in tests. They count, delay or fail a commit by it.
	beforeCommit func(rows []row) error

	mu      sync.Mutex
	arrived *sync.Cond // the queue is not empty, or closed is set
	queue   []*change
	closed  bool
	ended   chan struct{} // closed when the goroutine that commits has ended

	file *erase.File
	// deletions counts commits that delete rows, and erased is the number of them
	// whose bytes stand nowhere. One of an earlier process may be unfinished.
	deletions, erased atomic.Int64
}

func openCommitter(ctx context.Context, dsn, path string) (*committer, error) {
	db, err := openPool(dsn, 1)
	if err != nil {
		return nil, err
	}
	c := &committer{db: db, cache: newCache(maxCached), ended: make(chan struct{}), file: erase.New(db, path)}
	c.deletions.Store(1)
	c.arrived = sync.NewCond(&c.mu)
	if err := c.prepare(ctx); err != nil {
		c.file.Close()
		return nil, errors.Join(err, db.Close())
	}
	go c.run()
	return c, nil
}

func (c *committer) prepare(ctx context.Context) error {
	_, err := c.db.ExecContext(ctx, "CREATE TABLE IF NOT EXISTS blobs (key TEXT PRIMARY KEY, modified INTEGER NOT NULL, data BLOB NOT NULL)")
	if err != nil {
		return err
	}
	c.upsert, err = c.db.PrepareContext(ctx, "INSERT INTO blobs (key, modified, data) VALUES (?, ?, ?) ON CONFLICT (key) DO UPDATE SET modified = excluded.modified, data = excluded.data")
	if err != nil {
		return err
	}
	if c.exchange, err = c.db.PrepareContext(ctx, "UPDATE blobs SET data = ? WHERE key = ? AND data = ?"); err != nil {
		return err
	}
	c.removal, err = c.db.PrepareContext(ctx, "DELETE FROM blobs WHERE key = ?")
	return err
}

// write commits rows together and returns once that is done. If ctx ends before
// their commit began, nothing of them is written; after that write waits for the
// commit and returns what became of it. The rows must not change meanwhile.
func (c *committer) write(ctx context.Context, rows ...row) error {
	return c.submit(ctx, &change{rows: rows})
}

// forget returns once the bytes of rows that were deleted stand nowhere in the
// files.
func (c *committer) forget(ctx context.Context) error {
	deletions := c.deletions.Load()
	if c.erased.Load() >= deletions {
		return nil
	}
	if err := c.file.Erase(ctx); err != nil {
		return err
	}
	for {
		erased := c.erased.Load()
		if erased >= deletions || c.erased.CompareAndSwap(erased, deletions) {
			return nil
		}
	}
}

func (c *committer) submit(ctx context.Context, ch *change) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	ch.done = make(chan struct{})
	if err := c.enqueue(ch); err != nil {
		return err
	}
	select {
	case <-ch.done:
		return ch.err
	case <-ctx.Done():
	}
	if c.withdraw(ch) {
		return ctx.Err()
	}
	<-ch.done
	return ch.err
}

func (c *committer) enqueue(ch *change) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return errClosed
	}
	c.queue = append(c.queue, ch)
	c.arrived.Signal()
	return nil
}

// withdraw reports whether a change was taken back before its commit began.
func (c *committer) withdraw(ch *change) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if ch.taken {
		return false
	}
	c.queue = slices.DeleteFunc(c.queue, func(other *change) bool { return other == ch })
	return true
}

func (c *committer) run() {
	defer close(c.ended)
	for group := c.take(); len(group) > 0; group = c.take() {
		c.commitGroup(group)
	}
}

// take blocks until there are changes and returns them, in the order in which
// they came. It returns none once the store is closed and nothing is left.
func (c *committer) take() []*change {
	c.mu.Lock()
	defer c.mu.Unlock()
	for len(c.queue) == 0 && !c.closed {
		c.arrived.Wait()
	}
	n := min(len(c.queue), maxGroup)
	group := slices.Clone(c.queue[:n])
	c.queue = slices.Delete(c.queue, 0, n)
	for _, ch := range group {
		ch.taken = true
	}
	return group
}

// commitGroup commits changes together. If that fails they are committed one by
// one, so that each fails only for a reason of its own.
func (c *committer) commitGroup(group []*change) {
	err := c.commit(group...)
	for _, ch := range group {
		if ch.err = err; err != nil && len(group) > 1 {
			ch.err = c.commit(ch)
		}
		close(ch.done)
	}
}

// commit writes the rows of changes in one transaction.
func (c *committer) commit(changes ...*change) error {
	var rows []row
	for _, ch := range changes {
		rows = append(rows, ch.rows...)
	}
	if len(rows) == 0 {
		return nil
	}
	tx, err := c.db.Begin()
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // nothing after a commit
	c.file.NoteWritten()
	if err := c.exec(tx, rows); err != nil {
		return err
	}
	if c.beforeCommit != nil {
		if err := c.beforeCommit(rows); err != nil {
			return err
		}
	}
	if err := tx.Commit(); err != nil {
		return err
	}
	if slices.ContainsFunc(rows, func(r row) bool { return r.delete || r.replaces != nil }) {
		c.deletions.Add(1)
	}
	// Readers of a cached key see the old bytes until here, and no reader asks the
	// file for them: none sees old bytes after another has seen the new ones.
	c.cache.keep(rows)
	return nil
}

func (c *committer) exec(tx *sql.Tx, rows []row) error {
	upsert, removal, exchange := tx.Stmt(c.upsert), tx.Stmt(c.removal), tx.Stmt(c.exchange)
	now := time.Now().UnixMicro()
	for _, r := range rows {
		var err error
		switch {
		case r.delete:
			_, err = removal.Exec(r.key)
		case r.replaces != nil:
			_, err = exchange.Exec(r.data, r.key, r.replaces)
		default:
			_, err = upsert.Exec(r.key, now, r.data)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// close waits for the changes that were accepted. Those that come later fail.
func (c *committer) close() error {
	c.mu.Lock()
	c.closed = true
	c.arrived.Signal()
	c.mu.Unlock()
	<-c.ended
	c.file.Close()
	return c.db.Close()
}
