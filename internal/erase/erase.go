// Package erase makes deleted bytes leave the files of an SQLite database.
//
// With secure_delete SQLite overwrites the rows that it deletes. Two kinds of copies
// remain. The write-ahead log holds earlier contents of pages. And when SQLite moves
// rows from a full page to its neighbours, it leaves their bytes in the free space of
// the page; a row that is deleted later is overwritten only where it is by then.
//
// The space of deleted rows leaves the file too: some seconds after the last write a
// File returns its free pages to the file system and truncates its write-ahead log.
package erase

import (
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"sync"
)

// ErrBusy is returned while readers keep the write-ahead log open. Trying again may help.
var ErrBusy = errors.New("the database is being read: try again")

const (
	// batch is the number of pages that one transaction looks at. It takes
	// milliseconds, because other writers wait.
	batch = 256
	// maxPages is the number of pages from which on the first byte of an overflow
	// page may equal the first byte of a b-tree page, so that they cannot be told apart. It is
	// 128 GiB.
	maxPages = 1 << 25
)

// File is an SQLite file in WAL mode with secure_delete. It is safe for concurrent use.
type File struct {
	db   *sql.DB // one connection, whose transactions take the write lock when they begin
	path string

	turn         sync.Mutex // held while an erasure runs
	begun, ended int        // erasures, counted; ended is the last one that succeeded
	dataVersion  int64      // of the connection, at the last erasure

	mu  sync.Mutex
	log logReader

	shrinker *shrinker
}

// New returns the file at path, which the single connection of db writes. Prepare made
// it able to shrink. Close it before db.
func New(db *sql.DB, path string) *File {
	f := &File{db: db, path: path, log: logReader{path: path + "-wal", lost: true}}
	f.shrinker = newShrinker(f)
	return f
}

// NoteWritten notes the pages that earlier transactions wrote. Every transaction of
// the connection calls it before it writes: from then on the log may be overwritten.
func (f *File) NoteWritten() {
	f.shrinker.noteWritten()
	f.noteLog()
}

func (f *File) noteLog() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.log.read()
}

// Erase returns once the bytes of rows that were deleted before the call stand
// nowhere in the file and its log. It looks at the pages that were written since the
// last call, and at all pages in the first call and after another process wrote.
// Calls at the same time share the work. A file of 128 GiB or more is not looked at.
func (f *File) Erase(ctx context.Context) error {
	f.mu.Lock()
	before := f.begun
	f.mu.Unlock()
	f.turn.Lock()
	defer f.turn.Unlock()
	if f.ended > before {
		return nil // by an erasure that began after this call
	}
	f.mu.Lock()
	f.begun++
	f.mu.Unlock()
	if err := f.erase(ctx); err != nil {
		return fmt.Errorf("erase deleted bytes of %s: %w", f.path, err)
	}
	f.ended = f.begun
	return nil
}

func (f *File) erase(ctx context.Context) error {
	if err := f.emptyLog(ctx); err != nil {
		return err
	}
	pages, err := f.pages(ctx)
	if err != nil {
		return err
	}
	cleared := 0
	for i := 0; i < len(pages) && err == nil; i += batch {
		var n int
		n, err = f.clear(ctx, pages[i:min(i+batch, len(pages))])
		cleared += n
	}
	if err == nil && cleared > 0 {
		err = f.emptyLog(ctx)
	}
	if err != nil {
		f.mu.Lock()
		f.log.lost = true // so that the next call looks at all pages
		f.mu.Unlock()
	}
	return err
}

// emptyLog notes the pages in the write-ahead log, moves them into the file and
// truncates the log. It keeps the connection meanwhile, so that nobody writes between
// the two.
func (f *File) emptyLog(ctx context.Context) error {
	connection, err := f.db.Conn(ctx)
	if err != nil {
		return err
	}
	f.noteLog()
	var busy, frames, moved int
	err = connection.QueryRowContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &frames, &moved)
	if err == nil && busy != 0 {
		err = ErrBusy
	}
	return errors.Join(err, connection.Close())
}

// pages returns the numbers of the pages to look at.
func (f *File) pages(ctx context.Context) ([]uint32, error) {
	var dataVersion, count, vacuum, size int64
	row := f.db.QueryRowContext(ctx, "SELECT data_version, page_count, auto_vacuum, page_size FROM pragma_data_version, pragma_page_count, pragma_auto_vacuum, pragma_page_size")
	if err := row.Scan(&dataVersion, &count, &vacuum, &size); err != nil || count >= maxPages {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if dataVersion != f.dataVersion { // another process wrote
		f.log.lost = true
	}
	f.dataVersion = dataVersion
	pages := f.log.take(uint32(count)) //nolint:gosec // less than maxPages
	if vacuum != 0 {
		pages = slices.DeleteFunc(pages, func(page uint32) bool { return isPointerMap(page, uint32(size)) }) //nolint:gosec // at most 64 KiB
	}
	return pages, nil
}

// isPointerMap reports whether a page of a file that can shrink says where other pages
// are used. Its first byte may equal the first byte of a b-tree page. See "Pointer Map or Ptrmap Pages"
// in https://www.sqlite.org/fileformat2.html.
func isPointerMap(page, pageBytes uint32) bool {
	const entry, lockedByte = 5, 1 << 30 // bytes of an entry; the page of this byte is not used
	if page < 2 {
		return false
	}
	group := pageBytes/entry + 1
	begin := (page-2)/group*group + 2
	if begin == lockedByte/pageBytes+1 {
		begin++
	}
	return page == begin
}

// clear overwrites the free space of the pages, as far as they hold bytes there. It
// returns the number of these pages.
func (f *File) clear(ctx context.Context, pages []uint32) (cleared int, err error) {
	tx, err := f.db.BeginTx(ctx, nil)
	if err != nil {
		return 0, err
	}
	defer func() { _ = tx.Rollback() }() // nothing after a commit
	f.noteLog()
	read, err := tx.PrepareContext(ctx, "SELECT data FROM sqlite_dbpage WHERE pgno = ?")
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, read.Close()) }()
	for _, number := range pages {
		page, err := readPage(ctx, read, number)
		if err != nil {
			return 0, err
		}
		if !clearFreeSpace(page) {
			continue
		}
		if _, err := tx.ExecContext(ctx, "UPDATE sqlite_dbpage SET data = ? WHERE pgno = ?", page, number); err != nil {
			return 0, err
		}
		cleared++
	}
	if cleared == 0 {
		return 0, nil
	}
	return cleared, tx.Commit()
}

// readPage returns nothing for a page that the file no longer has.
func readPage(ctx context.Context, read *sql.Stmt, number uint32) ([]byte, error) {
	var page []byte
	err := read.QueryRowContext(ctx, number).Scan(&page)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	return page, err
}

// The kinds of b-tree pages, by their first byte.
const (
	interiorIndex = 2
	interiorTable = 5
	leafIndex     = 10
	leafTable     = 13
)

// clearFreeSpace overwrites the bytes between the array of pointers to rows, at the
// begin of a b-tree page, and the first row, and reports whether one was not zero. It
// leaves other pages alone. See "B-tree Pages" in https://www.sqlite.org/fileformat2.html.
func clearFreeSpace(page []byte) bool {
	if len(page) < 512 {
		return false
	}
	header := 8
	switch page[0] {
	case interiorIndex, interiorTable:
		header = 12
	case leafIndex, leafTable:
	default:
		return false
	}
	rows, first := int(binary.BigEndian.Uint16(page[3:])), int(binary.BigEndian.Uint16(page[5:]))
	begin := header + 2*rows
	if begin > first || first > len(page) {
		return false
	}
	dirty := false
	for i, b := range page[begin:first] {
		if b != 0 {
			dirty = true
			page[begin+i] = 0
		}
	}
	return dirty
}
