package blob

import (
	"context"
	"database/sql"
	"errors"
	"iter"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/cairn-rag/cairn/internal/erase"
)

const (
	// smallBytes is the largest blob that is stored in the small file.
	smallBytes = 64 << 10
	// smallName is the name of the small file in the store's folder, and the
	// beginning of the names of the files that SQLite keeps beside it.
	smallName = "small.db"
	// smallReaders is the number of connections that read.
	smallReaders = 4
	// listedRows is the number of rows that a listing reads at a time. Between
	// two reads no connection is held, so a slow consumer keeps nobody waiting.
	listedRows = 500
)

// smallFile is a SQLite file that holds small blobs as rows. A file for each of
// them would cost two syncs and some new folders. The cache is not told of writes by
// other processes, so it is used by a process that is alone.
//
// Its methods may be called at the same time. Reads do not wait for writes.
type smallFile struct {
	*committer
	reader *sql.DB
	alone  func() bool

	selectData, selectExists, selectPage, selectHeads *sql.Stmt
}

// openSmall opens the small file in a folder and creates it if it is missing.
// With synced, a finished write outlives a loss of power, otherwise a kill of the
// process only.
func openSmall(ctx context.Context, folder string, synced bool, alone func() bool) (*smallFile, error) {
	path := filepath.Join(folder, smallName)
	// SQLite creates the files beside it with the same mode.
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := file.Close(); err != nil {
		return nil, err
	}
	if err := erase.Prepare(ctx, path, 0); err != nil {
		return nil, err
	}
	level := "synchronous(FULL)"
	if !synced {
		level = "synchronous(NORMAL)"
	}
	s := &smallFile{alone: alone}
	if s.committer, err = openCommitter(ctx, smallDSN(path, "rw", "journal_mode(WAL)", level, "secure_delete(ON)", "cache_size(-2048)"), path); err != nil {
		return nil, err
	}
	if err := s.openReader(ctx, smallDSN(path, "ro", "cache_size(-512)")); err != nil {
		return nil, errors.Join(err, s.close())
	}
	return s, nil
}

func (s *smallFile) openReader(ctx context.Context, dsn string) error {
	var err error
	if s.reader, err = openPool(dsn, smallReaders); err != nil {
		return err
	}
	if s.selectData, err = s.reader.PrepareContext(ctx, "SELECT data FROM blobs WHERE key = ?"); err != nil {
		return err
	}
	if s.selectExists, err = s.reader.PrepareContext(ctx, "SELECT 1 FROM blobs WHERE key = ?"); err != nil {
		return err
	}
	if s.selectHeads, err = s.reader.PrepareContext(ctx, "SELECT key, substr(data, 1, ?) FROM blobs WHERE key > ? ORDER BY key LIMIT ?"); err != nil {
		return err
	}
	s.selectPage, err = s.reader.PrepareContext(ctx, "SELECT key, length(data), modified FROM blobs WHERE key > ? AND key < ? ORDER BY key LIMIT ?")
	return err
}

// smallDSN returns the address of a SQLite file for the driver. The path may hold
// any character. The mode is rw or ro. Each pragma is written as name(value).
func smallDSN(path, mode string, pragmas ...string) string {
	query := url.Values{"mode": {mode}, "_pragma": append(pragmas, "busy_timeout(10000)")}
	if mode == "rw" {
		query.Set("_txlock", "immediate")
	}
	return (&url.URL{Scheme: "file", Path: filepath.ToSlash(path), RawQuery: query.Encode()}).String()
}

// openPool opens up to size connections that are kept open.
func openPool(dsn string, size int) (*sql.DB, error) {
	db, err := sql.Open("sqlite", dsn)
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(size)
	db.SetMaxIdleConns(size)
	return db, nil
}

// get returns the bytes under key, which the caller must not change. found is
// false when there is no such row.
func (s *smallFile) get(ctx context.Context, key string) (data []byte, found bool, err error) {
	if data, found = s.cached(key); found {
		return data, true, nil
	}
	found, err = lookUp(ctx, s.selectData, key, &data)
	return data, found, err
}

// cached returns the bytes under key if the cache has them and may be used.
func (s *smallFile) cached(key string) (data []byte, found bool) {
	if data, found = s.cache.get(key); found && !s.alone() {
		return nil, false
	}
	return data, found
}

// exists reports whether there is a row for key.
func (s *smallFile) exists(ctx context.Context, key string) (bool, error) {
	if _, ok := s.cached(key); ok {
		return true, nil
	}
	var one int
	return lookUp(ctx, s.selectExists, key, &one)
}

// lookUp reads the row of a key, and reports whether there is one. It takes
// microseconds. To watch ctx meanwhile would take as long again, and an interrupted
// connection is closed.
func lookUp(ctx context.Context, statement *sql.Stmt, key string, to any) (bool, error) {
	if err := ctx.Err(); err != nil {
		return false, err
	}
	err := statement.QueryRowContext(context.WithoutCancel(ctx), key).Scan(to)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	return err == nil, err
}

// list returns the rows whose keys begin with prefix, which is empty or ends in
// "/", ordered by key. It stops at the first error.
func (s *smallFile) list(ctx context.Context, prefix string) iter.Seq2[Object, error] {
	end := "\xff" // above every key, for keys are UTF-8
	if prefix != "" {
		end = prefix[:len(prefix)-1] + "0" // the character after "/"
	}
	return func(yield func(Object, error) bool) {
		after := prefix
		for {
			page, err := s.page(ctx, after, end)
			if err != nil {
				yield(Object{}, err)
				return
			}
			for _, o := range page {
				if !yield(o, nil) {
					return
				}
			}
			if len(page) < listedRows {
				return
			}
			after = page[len(page)-1].Key
		}
	}
}

func (s *smallFile) page(ctx context.Context, after, end string) ([]Object, error) {
	rows, err := s.selectPage.QueryContext(ctx, after, end, listedRows)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var page []Object
	for rows.Next() {
		var o Object
		var microseconds int64
		if err := rows.Scan(&o.Key, &o.Bytes, &microseconds); err != nil {
			return nil, err
		}
		o.Modified = time.UnixMicro(microseconds)
		page = append(page, o)
	}
	return page, rows.Err()
}

// storedHead is the beginning of the stored bytes of a row.
type storedHead struct {
	key  string
	head []byte
}

// heads returns the first bytes of the next rows behind a key.
func (s *smallFile) heads(ctx context.Context, after string, bytes int) ([]storedHead, error) {
	rows, err := s.selectHeads.QueryContext(ctx, bytes, after, listedRows)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var page []storedHead
	for rows.Next() {
		var h storedHead
		if err := rows.Scan(&h.key, &h.head); err != nil {
			return nil, err
		}
		page = append(page, h)
	}
	return page, rows.Err()
}

// ping reports whether the file is there and can be read. It takes no lock that
// a write needs.
func (s *smallFile) ping(ctx context.Context, folder string) error {
	if _, err := os.Stat(filepath.Join(folder, smallName)); err != nil {
		return err
	}
	_, err := s.exists(ctx, "")
	return err
}

// close waits for the writes that were accepted and closes the file.
func (s *smallFile) close() error {
	var err error
	if s.reader != nil {
		err = s.reader.Close()
	}
	return errors.Join(err, s.committer.close()) // the last to close folds the log into the file
}

// isFull reports whether SQLite found the disk full.
func isFull(err error) bool {
	var failed *sqlite.Error
	return errors.As(err, &failed) && (failed.Code()&0xff == sqlite3.SQLITE_FULL || failed.Code() == sqlite3.SQLITE_IOERR_SHMSIZE)
}
