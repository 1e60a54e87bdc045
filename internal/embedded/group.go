package embedded

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// The bounds of what shares a commit.
const (
	groupSize = 64
	groupTime = 3 * time.Millisecond
)

// errGroupLost is the error of a transaction that is not in the file because SQLite rolled
// back, or could not commit, the group that it was in.
var errGroupLost = errors.New("the transactions that share a commit were rolled back")

// writer is the connection of a file that writes. Its users take turns. The transaction of
// each is a savepoint in a transaction of SQLite, which is committed when nobody waits for a
// turn: those who write at the same time share the sync of one commit, and one who is alone
// does not wait for others. Each is told of its commit when the shared one is done.
type writer struct {
	turn    sync.Mutex
	waiting atomic.Int64 // for the turn
	conn    *preparingConnection
	longest time.Duration // between the begin of a group and its commit, if others wait
	group   *group        // what the next commit has, nil = nothing. Guarded by turn
}

// group is what shares a commit.
type group struct {
	began time.Time
	size  int // ended transactions
	ended chan struct{}
	err   error // of the commit, set before ended is closed
}

// wait waits for the commit.
func (g *group) wait() error {
	<-g.ended
	return g.err
}

// take waits for the turn. It has no context: whoever waits lets others share its commit.
func (w *writer) take() {
	w.waiting.Add(1)
	w.turn.Lock()
	w.waiting.Add(-1)
}

// leave ends the turn. If nobody waits for it, leave commits the group first.
func (w *writer) leave() {
	if g := w.group; g != nil && (w.waiting.Load() == 0 || g.size >= groupSize || time.Since(g.began) >= w.longest) {
		w.commit()
	}
	w.turn.Unlock()
}

// commit commits the group. The caller has the turn.
func (w *writer) commit() {
	if err := w.run("COMMIT"); err != nil {
		w.lose(err)
		return
	}
	w.end(nil)
}

// lose rolls the group back. The caller has the turn.
func (w *writer) lose(cause error) {
	_ = w.run("ROLLBACK") // SQLite may have done it itself
	w.end(fmt.Errorf("%w: %w", errGroupLost, cause))
}

func (w *writer) end(err error) {
	w.group.err = err
	close(w.group.ended)
	w.group, w.conn.inTransaction = nil, false
}

// join begins a group if there is none. The caller has the turn.
func (w *writer) join() error {
	if w.group != nil {
		return nil
	}
	if err := w.run("BEGIN IMMEDIATE"); err != nil {
		return err
	}
	w.group, w.conn.inTransaction = &group{began: time.Now(), ended: make(chan struct{})}, true
	return nil
}

// failed loses the group if SQLite has rolled it back because of an error, as it does when
// the disk is full. The caller has the turn.
func (w *writer) failed(cause error) {
	if w.group != nil && w.run("BEGIN") == nil { // SQLite refuses that in a transaction
		w.lose(cause)
	}
}

// run runs a statement that has no arguments. It has no context, because SQLite would roll the
// whole group back if one of its callers ended.
func (w *writer) run(text string) error {
	ctx := context.Background() // as above
	_, err := w.conn.ExecContext(ctx, text, nil)
	return err
}

// exec runs a statement as a transaction of its own.
func (w *writer) exec(ctx context.Context, text string, args []driver.NamedValue) (driver.Result, error) {
	w.take()
	own := strings.HasPrefix(text, "PRAGMA") // most of them do nothing in a transaction
	if own && w.group != nil {
		w.commit()
	}
	if own || w.group == nil && w.waiting.Load() == 0 {
		defer w.leave()
		return w.conn.ExecContext(ctx, text, args)
	}
	if err := w.join(); err != nil {
		w.leave()
		return nil, err
	}
	g := w.group
	result, err := w.conn.ExecContext(context.WithoutCancel(ctx), text, args)
	if err != nil {
		w.failed(err)
		w.leave()
		return nil, err
	}
	g.size++
	w.leave()
	return result, g.wait()
}

// query runs a statement that may write and returns rows, such as a PRAGMA, in no transaction.
// The turn ends when the rows are closed.
func (w *writer) query(ctx context.Context, text string, args []driver.NamedValue) (driver.Rows, error) {
	w.take()
	if w.group != nil {
		w.commit()
	}
	rows, err := w.conn.QueryContext(ctx, text, args)
	if err != nil {
		w.leave()
		return nil, err
	}
	return &lentRows{Rows: rows, giveBack: w.leave}, nil
}

// begin takes the turn and begins a transaction.
func (w *writer) begin() error {
	w.take()
	err := w.join()
	if err == nil {
		if err = w.run("SAVEPOINT one"); err == nil {
			return nil
		}
		w.failed(err)
	}
	w.leave()
	return err
}

// commitOne ends a transaction, and the turn, and waits for the commit.
func (w *writer) commitOne() error {
	g := w.group
	if g == nil { // an error of a statement has lost it
		w.leave()
		return errGroupLost
	}
	if err := w.run("RELEASE one"); err != nil {
		w.lose(err)
		w.leave()
		return err
	}
	g.size++
	w.leave()
	return g.wait()
}

// rollbackOne undoes a transaction, and ends the turn.
func (w *writer) rollbackOne() error {
	defer w.leave()
	if w.group == nil {
		return nil
	}
	for _, text := range []string{"ROLLBACK TO one", "RELEASE one"} {
		if err := w.run(text); err != nil {
			w.lose(err)
			return err
		}
	}
	return nil
}
