package store

import (
	"errors"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// failure returns an error with a code for an error of the database that somebody can
// repair. Other errors are returned as they are: they are defects of the program.
func failure(err error) error {
	var known *knowledge.Error
	if err == nil || errors.As(err, &known) {
		return err
	}
	var dbErr *sqlite.Error
	if errors.As(err, &dbErr) {
		return sqliteFailure(dbErr, err)
	}
	return postgresFailure(err)
}

func sqliteFailure(dbErr *sqlite.Error, err error) error {
	switch code := dbErr.Code(); {
	case code == sqlite3.SQLITE_CONSTRAINT_NOTNULL:
		return notStorable(err)
	case isFull(code):
		return unavailable("the disk is full: free some space and try again", err)
	case code&0xff == sqlite3.SQLITE_IOERR, code&0xff == sqlite3.SQLITE_CANTOPEN, code&0xff == sqlite3.SQLITE_READONLY:
		return unavailable("the database cannot be written: check its disk and try again", err)
	case code&0xff == sqlite3.SQLITE_BUSY, code&0xff == sqlite3.SQLITE_LOCKED:
		return unavailable("the database is busy: try again", err)
	}
	return err
}

// isFull reports whether SQLite found the disk full.
func isFull(code int) bool {
	return code&0xff == sqlite3.SQLITE_FULL || code == sqlite3.SQLITE_IOERR_SHMSIZE
}

// isDiskFull reports whether err means that the disk of the database is full.
func isDiskFull(err error) bool {
	var dbErr *sqlite.Error
	if errors.As(err, &dbErr) {
		return isFull(dbErr.Code())
	}
	return postgresState(err) == diskFull
}

// unavailable is the error for a failure that may be over at the next try.
func unavailable(message string, cause error) error {
	return &knowledge.Error{Code: knowledge.CodeUnavailable, Message: message, Retryable: true, Cause: cause}
}

// notStorable is the error for a text that stands as NULL in a statement: no column
// takes NULL.
func notStorable(cause error) error {
	return knowledge.Errorf(knowledge.CodeInvalid, "a text contains a NUL character or is not UTF-8: correct it").WithCause(cause)
}

// isDuplicate reports whether err means that a row with this key exists.
func isDuplicate(err error) bool {
	var dbErr *sqlite.Error
	if errors.As(err, &dbErr) {
		return dbErr.Code() == sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY || dbErr.Code() == sqlite3.SQLITE_CONSTRAINT_UNIQUE
	}
	return postgresState(err) == uniqueViolation
}

// isOrphan reports whether err means that a row refers to one that does not exist.
func isOrphan(err error) bool {
	var dbErr *sqlite.Error
	if errors.As(err, &dbErr) {
		return dbErr.Code() == sqlite3.SQLITE_CONSTRAINT_FOREIGNKEY
	}
	return postgresState(err) == foreignKeyViolation
}

// invalid is the error for one wrong field of a request.
func invalid(location, message string) *knowledge.Error {
	e := knowledge.Errorf(knowledge.CodeInvalid, "%s: %s", location, message)
	e.Fields = []knowledge.Field{{Location: location, Message: message}}
	return e
}
