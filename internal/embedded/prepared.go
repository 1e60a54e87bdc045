package embedded

import (
	"context"
	"database/sql/driver"
	"errors"
	"strings"
)

// maxPrepared bounds the statements that a connection keeps prepared. The server has some
// hundred texts of statements, and more where somebody lists workflows by other conditions.
const maxPrepared = 500

// preparingDriver is SQLite's driver with connections that parse and plan each statement
// once. The server's plugin runs every statement by its text, and SQLite's driver prepares
// it anew each time, which takes a sixteenth of the processor time of a question.
type preparingDriver struct{ sqlite driver.Driver }

// Open opens a connection.
func (d preparingDriver) Open(dsn string) (driver.Conn, error) {
	opened, err := d.sqlite.Open(dsn)
	if err != nil {
		return nil, err
	}
	conn, ok := opened.(connection)
	if !ok {
		return nil, errors.Join(errors.New("SQLite's driver lacks a method that a connection needs"), opened.Close())
	}
	return &preparingConnection{connection: conn, prepared: map[string]*statement{}}, nil
}

// preparingConnector opens connections to one database.
type preparingConnector struct {
	driver preparingDriver
	dsn    string
	synced bool // each commit is synced
}

// Connect opens a connection.
func (c preparingConnector) Connect(context.Context) (driver.Conn, error) {
	opened, err := c.driver.Open(c.dsn)
	if conn, ok := opened.(*preparingConnection); ok {
		conn.synced = c.synced
	}
	return opened, err
}

// Driver returns the driver of the connections.
func (c preparingConnector) Driver() driver.Driver { return c.driver }

// connection is what SQLite's driver opens.
type connection interface {
	driver.Conn
	driver.ConnPrepareContext
	driver.ConnBeginTx
	driver.ExecerContext
	driver.QueryerContext
	driver.SessionResetter
	driver.Validator
	driver.Pinger
}

// preparingConnection keeps the statements of a connection by their texts. As with every
// connection of database/sql, one goroutine at a time uses it.
type preparingConnection struct {
	connection
	prepared      map[string]*statement
	synced        bool // each commit is synced, but for the commits of withoutSync
	inTransaction bool
}

// statement is a prepared statement.
type statement struct {
	driver.Stmt
	reading bool // its rows are not closed, so it cannot run again yet
}

// ExecContext runs a statement that returns no rows.
func (c *preparingConnection) ExecContext(ctx context.Context, text string, args []driver.NamedValue) (driver.Result, error) {
	s, err := c.statement(ctx, text)
	if err != nil {
		return nil, err
	}
	prepared, ok := s.Stmt.(driver.StmtExecContext)
	if s.reading || !ok {
		return c.connection.ExecContext(ctx, text, args)
	}
	if c.synced && !c.inTransaction && strings.HasPrefix(text, addEvents) {
		return c.withoutSync(ctx, func() (driver.Result, error) { return prepared.ExecContext(ctx, args) })
	}
	return prepared.ExecContext(ctx, args)
}

// addEvents is how the statement begins with which the server adds events to a history.
const addEvents = "REPLACE INTO history_node "

// withoutSync runs a statement whose commit need not be synced. Events are read only once a
// later commit, which stores the workflow's state, names them. That commit is behind them in the
// write-ahead log, so its sync keeps them too, and a loss of power before it leaves neither.
func (c *preparingConnection) withoutSync(ctx context.Context, run func() (driver.Result, error)) (driver.Result, error) {
	// SQLite changes the level when it prepares these statements.
	if _, err := c.connection.ExecContext(ctx, "PRAGMA synchronous="+synchronousNormal, nil); err != nil {
		return nil, err
	}
	result, err := run()
	if _, back := c.connection.ExecContext(context.WithoutCancel(ctx), "PRAGMA synchronous="+synchronousFull, nil); back != nil {
		return nil, errors.Join(err, back, driver.ErrBadConn) // a new connection syncs again
	}
	return result, err
}

// QueryContext runs a statement that returns rows.
func (c *preparingConnection) QueryContext(ctx context.Context, text string, args []driver.NamedValue) (driver.Rows, error) {
	s, err := c.statement(ctx, text)
	if err != nil {
		return nil, err
	}
	prepared, ok := s.Stmt.(driver.StmtQueryContext)
	if s.reading || !ok {
		return c.connection.QueryContext(ctx, text, args)
	}
	rows, err := prepared.QueryContext(ctx, args)
	if err != nil {
		return nil, err
	}
	s.reading = true
	return &preparedRows{Rows: rows, statement: s}, nil
}

// statement returns the prepared statement with a text.
func (c *preparingConnection) statement(ctx context.Context, text string) (*statement, error) {
	if s := c.prepared[text]; s != nil {
		return s, nil
	}
	prepared, err := c.PrepareContext(ctx, text)
	if err != nil {
		return nil, err
	}
	if len(c.prepared) >= maxPrepared {
		if err := c.dropOne(); err != nil {
			return nil, errors.Join(err, prepared.Close())
		}
	}
	s := &statement{Stmt: prepared}
	c.prepared[text] = s
	return s, nil
}

// dropOne closes any one of the statements that have no open rows.
func (c *preparingConnection) dropOne() error {
	for text, s := range c.prepared {
		if !s.reading {
			delete(c.prepared, text)
			return s.Close()
		}
	}
	return nil
}

// BeginTx starts a transaction whose own statements are prepared once, too.
func (c *preparingConnection) BeginTx(ctx context.Context, _ driver.TxOptions) (driver.Tx, error) {
	if _, err := c.ExecContext(ctx, "BEGIN", nil); err != nil {
		return nil, err
	}
	c.inTransaction = true
	return preparedTransaction{c}, nil
}

// Close closes the statements and the connection.
func (c *preparingConnection) Close() error {
	var errs []error
	for _, s := range c.prepared {
		errs = append(errs, s.Close())
	}
	clear(c.prepared)
	return errors.Join(append(errs, c.connection.Close())...)
}

// preparedRows are the rows of a prepared statement.
type preparedRows struct {
	driver.Rows
	statement *statement
}

// Close lets the statement run again.
func (r *preparedRows) Close() error {
	r.statement.reading = false
	return r.Rows.Close()
}

// preparedTransaction is a transaction of a preparingConnection.
type preparedTransaction struct{ connection *preparingConnection }

// Commit ends the transaction.
func (t preparedTransaction) Commit() error { return t.end("COMMIT") }

// Rollback undoes the transaction.
func (t preparedTransaction) Rollback() error { return t.end("ROLLBACK") }

func (t preparedTransaction) end(text string) error {
	t.connection.inTransaction = false
	// A driver's transaction has no context: its caller must learn what became of it.
	_, err := t.connection.ExecContext(context.Background(), text, nil)
	return err
}
