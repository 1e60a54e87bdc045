package embedded

import (
	"context"
	"database/sql/driver"
	"errors"
	"strings"
)

// readersOfFile are the connections that read a file beside the one that writes.
const readersOfFile = 2

// groupingConnector opens connections to one file, which share one connection of SQLite for
// what they write and a few for what they read. A connection that reads sees what is
// committed, and so synced, and nothing else.
type groupingConnector struct {
	driver preparingDriver
	file   *groupedFile
}

// groupedFile are the connections of SQLite to a file. They stay open.
type groupedFile struct {
	writer  *writer
	readers chan *preparingConnection
}

func newGroupingConnector(ctx context.Context, writing, reading preparingConnector) (*groupingConnector, error) {
	opened, err := openPreparing(ctx, writing)
	if err != nil {
		return nil, err
	}
	c := &groupingConnector{writing.driver, &groupedFile{&writer{conn: opened, longest: groupTime}, make(chan *preparingConnection, readersOfFile)}}
	for range readersOfFile {
		reader, err := openPreparing(ctx, reading)
		if err != nil {
			return nil, errors.Join(err, c.Close())
		}
		c.file.readers <- reader
	}
	return c, nil
}

func openPreparing(ctx context.Context, c preparingConnector) (*preparingConnection, error) {
	opened, err := c.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return opened.(*preparingConnection), nil
}

// Connect returns a connection.
func (c *groupingConnector) Connect(context.Context) (driver.Conn, error) {
	return &groupedConnection{file: c.file}, nil
}

// Driver returns the driver of the connections.
func (c *groupingConnector) Driver() driver.Driver { return c.driver }

// Close closes the connections of SQLite. database/sql calls it with the last connection closed.
func (c *groupingConnector) Close() error {
	c.file.writer.take()
	defer c.file.writer.turn.Unlock()
	errs := []error{c.file.writer.conn.Close()}
	for len(c.file.readers) > 0 {
		errs = append(errs, (<-c.file.readers).Close())
	}
	return errors.Join(errs...)
}

// groupedConnection is a connection of database/sql. As with every such connection, one
// goroutine at a time uses it.
type groupedConnection struct {
	file          *groupedFile
	inTransaction bool // it has the writer's turn
}

var _ connection = (*groupedConnection)(nil)

// BeginTx begins a transaction, when those before it have ended.
func (c *groupedConnection) BeginTx(context.Context, driver.TxOptions) (driver.Tx, error) {
	if err := c.file.writer.begin(); err != nil {
		return nil, err
	}
	c.inTransaction = true
	return groupedTransaction{c}, nil
}

// ExecContext runs a statement that returns no rows. A statement of a transaction is not
// interrupted when ctx ends, because SQLite would roll the group back.
func (c *groupedConnection) ExecContext(ctx context.Context, text string, args []driver.NamedValue) (driver.Result, error) {
	w := c.file.writer
	if !c.inTransaction {
		return w.exec(ctx, text, args)
	}
	if w.group == nil {
		return nil, errGroupLost
	}
	result, err := w.conn.ExecContext(context.WithoutCancel(ctx), text, args)
	if err != nil {
		w.failed(err)
	}
	return result, err
}

// QueryContext runs a statement that returns rows: within a transaction, or if it is no SELECT,
// on the connection that writes, else on one that reads.
func (c *groupedConnection) QueryContext(ctx context.Context, text string, args []driver.NamedValue) (driver.Rows, error) {
	w := c.file.writer
	if c.inTransaction {
		if w.group == nil {
			return nil, errGroupLost
		}
		rows, err := w.conn.QueryContext(context.WithoutCancel(ctx), text, args)
		if err != nil {
			w.failed(err)
		}
		return rows, err
	}
	if words := strings.Fields(text); len(words) == 0 || !strings.EqualFold(words[0], "SELECT") {
		return w.query(ctx, text, args)
	}
	select {
	case reader := <-c.file.readers:
		rows, err := reader.QueryContext(ctx, text, args)
		if err != nil {
			c.file.readers <- reader
			return nil, err
		}
		return &lentRows{Rows: rows, giveBack: func() { c.file.readers <- reader }}, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// PrepareContext returns a statement that runs as its text would. SQLite's own statement is
// kept by the connection that runs it.
func (c *groupedConnection) PrepareContext(_ context.Context, text string) (driver.Stmt, error) {
	return groupedStatement{c, text}, nil
}

// Prepare is PrepareContext.
func (c *groupedConnection) Prepare(text string) (driver.Stmt, error) {
	return groupedStatement{c, text}, nil
}

// Begin is BeginTx.
func (c *groupedConnection) Begin() (driver.Tx, error) {
	return c.BeginTx(context.Background(), driver.TxOptions{}) // the interface has none
}

// Ping, ResetSession and IsValid have nothing to do: the connections of SQLite stay open.
func (c *groupedConnection) Ping(context.Context) error         { return nil }
func (c *groupedConnection) ResetSession(context.Context) error { return nil }
func (c *groupedConnection) IsValid() bool                      { return true }

// Close closes nothing that others use.
func (c *groupedConnection) Close() error { return nil }

// groupedTransaction is a transaction of a groupedConnection.
type groupedTransaction struct{ connection *groupedConnection }

// Commit ends the transaction when it is synced.
func (t groupedTransaction) Commit() error {
	t.connection.inTransaction = false
	return t.connection.file.writer.commitOne()
}

// Rollback undoes the transaction.
func (t groupedTransaction) Rollback() error {
	t.connection.inTransaction = false
	return t.connection.file.writer.rollbackOne()
}

// lentRows are rows of a connection that others wait for.
type lentRows struct {
	driver.Rows
	giveBack func() // nil = they are closed
}

// Close gives the connection back.
func (r *lentRows) Close() error {
	if r.giveBack == nil {
		return nil
	}
	err := r.Rows.Close()
	r.giveBack()
	r.giveBack = nil
	return err
}

// groupedStatement is the text of a statement.
type groupedStatement struct {
	connection *groupedConnection
	text       string
}

// Close has nothing to do.
func (s groupedStatement) Close() error { return nil }

// NumInput returns that the number of arguments is not checked here.
func (s groupedStatement) NumInput() int { return -1 }

// ExecContext runs the statement.
func (s groupedStatement) ExecContext(ctx context.Context, args []driver.NamedValue) (driver.Result, error) {
	return s.connection.ExecContext(ctx, s.text, args)
}

// QueryContext runs the statement.
func (s groupedStatement) QueryContext(ctx context.Context, args []driver.NamedValue) (driver.Rows, error) {
	return s.connection.QueryContext(ctx, s.text, args)
}

// Exec and Query are not called where there are the methods with a context.
func (s groupedStatement) Exec([]driver.Value) (driver.Result, error) { return nil, driver.ErrSkip }
func (s groupedStatement) Query([]driver.Value) (driver.Rows, error)  { return nil, driver.ErrSkip }
