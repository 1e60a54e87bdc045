//nolint:sqlclosecheck // Statements stay open until their pool closes.
package store_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cairn-rag/cairn/internal/store"
)

// slowDriver is a driver of database/sql. Its Prepare returns when the test allows it.
type slowDriver struct {
	asked  chan struct{} // gets an element when Prepare is called
	answer chan struct{} // each element ends one Prepare
	count  atomic.Int64
}

func (d *slowDriver) Connect(context.Context) (driver.Conn, error) { return slowConn{d}, nil }

func (d *slowDriver) Driver() driver.Driver { return nil }

type slowConn struct{ *slowDriver }

func (c slowConn) Prepare(string) (driver.Stmt, error) {
	c.count.Add(1)
	c.asked <- struct{}{}
	<-c.answer
	return slowStmt{}, nil
}

func (slowConn) Close() error { return nil }

func (slowConn) Begin() (driver.Tx, error) { return nil, errors.ErrUnsupported }

type slowStmt struct{}

func (slowStmt) Close() error { return nil }

func (slowStmt) NumInput() int { return -1 }

func (slowStmt) Exec([]driver.Value) (driver.Result, error) { return nil, errors.ErrUnsupported }

func (slowStmt) Query([]driver.Value) (driver.Rows, error) { return nil, errors.ErrUnsupported }

// TestAStatementIsPreparedOnce has two callers prepare a statement at the same time. A
// second statement would have to be closed, for which database/sql waits until the
// connections that know it are idle: with the pool's lock in its hands, until a
// transaction that waits for its turn behind a holder of that lock gives up.
func TestAStatementIsPreparedOnce(t *testing.T) {
	t.Parallel()
	d := &slowDriver{asked: make(chan struct{}, 2), answer: make(chan struct{}, 2)}
	p := store.NewPool(sql.OpenDB(d), 2)
	t.Cleanup(func() { _ = p.Close() })
	done := make(chan *sql.Stmt, 2)
	prepare := func() {
		stmt, err := p.Prepare(t.Context(), "SELECT 1")
		if err != nil {
			t.Error(err)
		}
		done <- stmt
	}
	go prepare()
	<-d.asked
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := p.Prepare(ctx, "SELECT 1"); !errors.Is(err, context.Canceled) {
		t.Errorf("a caller that has gone waits: %v", err)
	}
	go prepare()
	select {
	case <-d.asked: // the second is prepared as well
	case <-time.After(50 * time.Millisecond): // it waits for the first, as it should
	}
	d.answer <- struct{}{}
	d.answer <- struct{}{}
	if one, two := <-done, <-done; one != two || d.count.Load() != 1 {
		t.Errorf("it was prepared %d times", d.count.Load())
	}
}
