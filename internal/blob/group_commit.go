package blob

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"sync"
	"time"
)

// maxGroup bounds how many changes one commit holds.
const maxGroup = 256

var errClosed = errors.New("the blob store is closed")

// row is a row to write, or to delete.
type row struct {
	key    string
	data   []byte
	delete bool
}

// change is a number of rows that are written together or not at all.
type change struct {
	rows []row
	// emptyLog asks that deleted bytes stand nowhere once the change is done.
	emptyLog bool

	taken bool // by the commit that runs; guarded by committer.mu
	done  chan struct{}
	err   error // to be read once done is closed
}

// committer writes the small file. Changes that arrive while a commit runs are
// committed together by the next one, so many writers share a sync.
type committer struct {
	db              *sql.DB // one connection
	upsert, removal *sql.Stmt
	cache           *cache
	// beforeCommit is nil but in tests. They count, delay or fail a commit by it.
	beforeCommit func(rows []row) error

	mu      sync.Mutex
	arrived *sync.Cond // the queue is not empty, or closed is set
	queue   []*change
	closed  bool
	ended   chan struct{} // closed when the goroutine that commits has ended

	// logHoldsDeleted is set while the log may hold bytes of deleted rows. Only
	// the goroutine that commits uses it.
	logHoldsDeleted bool
}

func openCommitter(ctx context.Context, dsn string) (*committer, error) {
	db, err := openPool(dsn, 1)
	if err != nil {
		return nil, err
	}
	c := &committer{db: db, cache: newCache(maxCached), ended: make(chan struct{})}
	c.arrived = sync.NewCond(&c.mu)
	if err := c.prepare(ctx); err != nil {
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
	// A process that was killed may have deleted rows and not emptied the log. If
	// that fails now, because somebody reads, the next removal does it.
	c.logHoldsDeleted = emptyLog(ctx, c.db) != nil
	c.upsert, err = c.db.PrepareContext(ctx, "INSERT INTO blobs (key, modified, data) VALUES (?, ?, ?) ON CONFLICT (key) DO UPDATE SET modified = excluded.modified, data = excluded.data")
	if err != nil {
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
	return c.submit(ctx, &change{emptyLog: true})
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
		if !ch.emptyLog || ch.err != nil {
			close(ch.done)
		}
	}
	if !slices.ContainsFunc(group, func(ch *change) bool { return ch.emptyLog }) {
		return
	}
	err = c.emptyLog()
	for _, ch := range group {
		if ch.emptyLog && ch.err == nil {
			ch.err = err
			close(ch.done)
		}
	}
}

func (c *committer) emptyLog() error {
	if !c.logHoldsDeleted {
		return nil
	}
	err := emptyLog(context.Background(), c.db) // for several callers at once
	c.logHoldsDeleted = err != nil
	return err
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
	// Readers of a cached key see the old bytes until here, and no reader asks the
	// file for them: none sees old bytes after another has seen the new ones.
	c.cache.keep(rows)
	return nil
}

func (c *committer) exec(tx *sql.Tx, rows []row) error {
	upsert, removal := tx.Stmt(c.upsert), tx.Stmt(c.removal)
	now := time.Now().UnixMicro()
	for _, r := range rows {
		var err error
		if r.delete {
			c.logHoldsDeleted = true
			_, err = removal.Exec(r.key)
		} else {
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
	return c.db.Close()
}
