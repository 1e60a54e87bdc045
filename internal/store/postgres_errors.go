package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"io"
	"net"

	"github.com/jackc/pgx/v5/pgconn"
)

// The states of PostgreSQL that the store tells apart.
const (
	notNullViolation     = "23502"
	foreignKeyViolation  = "23503"
	uniqueViolation      = "23505"
	serializationFailure = "40001"
	deadlockDetected     = "40P01"
	diskFull             = "53100"
	tooManyConnections   = "53300"
	programLimitExceeded = "54000"
	lockNotAvailable     = "55P03"
	queryCanceled        = "57014"
	readOnly             = "25006"
)

// postgresState returns the state of an error of PostgreSQL, "" for any other error.
func postgresState(err error) string {
	var dbErr *pgconn.PgError
	if errors.As(err, &dbErr) {
		return dbErr.Code
	}
	return ""
}

// postgresFailure is failure for an error of PostgreSQL or of its connection.
func postgresFailure(err error) error {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	state := postgresState(err)
	switch state {
	case "":
		if connectionLost(err) {
			return unavailable("the database cannot be reached: check that PostgreSQL runs and that database.url is right", err)
		}
		return err
	case notNullViolation:
		return notStorable(err)
	case programLimitExceeded: // a word is longer than an entry of an index may be
		return invalid("body", "a name is too long to be stored: use a shorter one").WithCause(err)
	case serializationFailure, deadlockDetected, lockNotAvailable:
		return unavailable("the database is busy: try again", err)
	case queryCanceled:
		return unavailable("the database took too long to answer: try again", err)
	case tooManyConnections:
		return unavailable("PostgreSQL has no connection left: raise its max_connections, or lower pool_max_conns in database.url", err)
	case readOnly:
		return unavailable("the database is read-only: check that database.url names the primary server", err)
	}
	switch state[:2] {
	case "08", "57": // lost, or the server stops or starts
		return unavailable("the database cannot be reached: check that PostgreSQL runs and that database.url is right", err)
	case "53", "58": // disk full, out of memory, an error of its disk
		return unavailable("PostgreSQL lacks disk or memory: see its log, and try again", err)
	}
	return err
}

// connectionLost reports whether an error comes from a connection.
func connectionLost(err error) bool {
	var connect *pgconn.ConnectError
	var network net.Error
	return errors.As(err, &connect) || errors.As(err, &network) ||
		errors.Is(err, pgconn.ErrConnClosed) || errors.Is(err, driver.ErrBadConn) || errors.Is(err, sql.ErrConnDone) ||
		errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
}
