package backup

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

const (
	// lockPatience bounds how long the cut waits for the write lock of one file. Beyond it
	// all locks are released, so that no writer that has one and waits for another is held up.
	lockPatience = 200 * time.Millisecond
	// cutPatience bounds how long the cut is tried.
	cutPatience = time.Minute
	// holdLimit bounds how long the writers wait. They give up after ten seconds.
	holdLimit = 4 * time.Second
	// copiedPages is the number of pages that are copied between two looks at ctx.
	copiedPages = 2048
)

// file is one SQLite file, and its read transaction at the moment of the cut.
type file struct {
	path string
	db   *sql.DB
	view *sql.Conn // in a read transaction once the cut is made
}

// openFile opens a SQLite file that another process may have open.
func openFile(ctx context.Context, path string) (*file, error) {
	query := url.Values{"mode": {"rw"}, "_pragma": {fmt.Sprintf("busy_timeout(%d)", lockPatience.Milliseconds())}}
	db, err := sql.Open("sqlite", "file:"+escapePath(path)+"?"+query.Encode())
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	f := &file{path: path, db: db}
	if f.view, err = db.Conn(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("open %s: %w", path, err), db.Close())
	}
	return f, nil
}

func escapePath(path string) string { return (&url.URL{Path: filepath.ToSlash(path)}).EscapedPath() }

func (f *file) close() error {
	// A transaction that was not begun cannot be ended.
	_, _ = f.view.ExecContext(context.Background(), "ROLLBACK")
	return errors.Join(f.view.Close(), f.db.Close())
}

// see begins the read transaction.
func (f *file) see(ctx context.Context) error {
	if _, err := f.view.ExecContext(ctx, "BEGIN"); err != nil {
		return fmt.Errorf("read %s: %w", f.path, err)
	}
	var n int
	if err := f.view.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_schema").Scan(&n); err != nil {
		return fmt.Errorf("read %s: %w", f.path, err)
	}
	return nil
}

// cut makes the files and the rest show one moment. The writers of locked stand still for
// it, and rest is called meanwhile.
//
// The files of free keep their writers: what Temporal does then changes no other store,
// because each of its steps ends in one of the stores that stand still. They are seen in
// their order, so a later one may be ahead of an earlier one.
func cut(ctx context.Context, locked, free []*file, rest func(context.Context) error) error {
	for deadline := time.Now().Add(cutPatience); ; {
		err := tryCut(ctx, locked, free, rest)
		if !isBusy(err) || time.Now().After(deadline) {
			return err
		}
		select {
		case <-time.After(lockPatience / 4): // the writer that was in the way ends
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func tryCut(ctx context.Context, locked, free []*file, rest func(context.Context) error) (err error) {
	for _, f := range locked {
		writer, openErr := f.db.Conn(ctx)
		if openErr != nil {
			return fmt.Errorf("lock %s: %w", f.path, openErr)
		}
		defer func() { err = errors.Join(err, writer.Close()) }()
		if _, err := writer.ExecContext(ctx, "BEGIN IMMEDIATE"); err != nil {
			return fmt.Errorf("lock %s: %w", f.path, err)
		}
		defer func() {
			_, rollback := writer.ExecContext(context.WithoutCancel(ctx), "ROLLBACK")
			err = errors.Join(err, rollback)
		}()
	}
	for _, f := range slices.Concat(free, locked) {
		// An earlier try may have begun it. One that was not begun cannot be ended.
		_, _ = f.view.ExecContext(ctx, "ROLLBACK")
		if err := f.see(ctx); err != nil {
			return err
		}
	}
	return rest(ctx)
}

// isBusy reports whether another connection had a lock.
func isBusy(err error) bool {
	failed, ok := errors.AsType[*sqlite.Error](err)
	return ok && failed.Code()&0xff == sqlite3.SQLITE_BUSY
}

// copyTo writes the file as the read transaction sees it, and ends the transaction.
func (f *file) copyTo(ctx context.Context, path string) error {
	err := f.view.Raw(func(connection any) (err error) {
		b, err := connection.(interface {
			NewBackup(string) (*sqlite.Backup, error)
		}).NewBackup("file:" + escapePath(path))
		if err != nil {
			return err
		}
		for more := true; more && err == nil; {
			if more, err = b.Step(copiedPages); err == nil {
				err = ctx.Err()
			}
		}
		return errors.Join(err, b.Finish())
	})
	if err == nil {
		_, err = f.view.ExecContext(ctx, "ROLLBACK")
	}
	if err != nil {
		return fmt.Errorf("copy %s: %w", f.path, err)
	}
	return nil
}
