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
	var dbErr *sqlite.Error
	if errors.As(err, &known) || !errors.As(err, &dbErr) {
		return err
	}
	unavailable := func(message string) error {
		return &knowledge.Error{Code: knowledge.CodeUnavailable, Message: message, Retryable: true, Cause: err}
	}
	switch code := dbErr.Code(); {
	case code&0xff == sqlite3.SQLITE_FULL, code == sqlite3.SQLITE_IOERR_SHMSIZE:
		return unavailable("the disk is full: free some space and try again")
	case code&0xff == sqlite3.SQLITE_IOERR, code&0xff == sqlite3.SQLITE_CANTOPEN, code&0xff == sqlite3.SQLITE_READONLY:
		return unavailable("the database cannot be written: check its disk and try again")
	case code&0xff == sqlite3.SQLITE_BUSY, code&0xff == sqlite3.SQLITE_LOCKED:
		return unavailable("the database is busy: try again")
	}
	return err
}

// isDuplicate reports whether err means that a row with this key exists.
func isDuplicate(err error) bool {
	var dbErr *sqlite.Error
	return errors.As(err, &dbErr) &&
		(dbErr.Code() == sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY || dbErr.Code() == sqlite3.SQLITE_CONSTRAINT_UNIQUE)
}

// isOrphan reports whether err means that a row refers to one that does not exist.
func isOrphan(err error) bool {
	var dbErr *sqlite.Error
	return errors.As(err, &dbErr) && dbErr.Code() == sqlite3.SQLITE_CONSTRAINT_FOREIGNKEY
}

// invalid is the error for one wrong field of a request.
func invalid(location, message string) *knowledge.Error {
	e := knowledge.Errorf(knowledge.CodeInvalid, "%s: %s", location, message)
	e.Fields = []knowledge.Field{{Location: location, Message: message}}
	return e
}
