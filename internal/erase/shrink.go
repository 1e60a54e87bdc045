package erase

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"sync/atomic"
	"time"
)

const (
	// rest is the time without writes after which a file shrinks.
	rest = 2 * time.Second
	// keptFree is the number of free bytes that stay in a file for the next writes.
	keptFree = 1 << 20
	// vacuumed is the number of pages that one transaction gives back. It takes
	// milliseconds, because other writers wait.
	vacuumed = 128
	// maxRebuilt is the size of the largest file that Prepare rebuilds. That takes less
	// than a second, and its size in memory.
	maxRebuilt = 64 << 20
)

// Prepare makes the SQLite file at path able to shrink. The file exists and may be
// empty; an empty one gets pages of the given size, 0 for SQLite's. A file of an older
// version of the program is rebuilt, unless it has more than 64 MB. No connection of
// this process may have the file open.
func Prepare(ctx context.Context, path string, pageBytes int) (err error) {
	db, err := sql.Open("sqlite", (&url.URL{Scheme: "file", Path: filepath.ToSlash(path), RawQuery: "_pragma=busy_timeout(10000)&_pragma=temp_store(MEMORY)&_pragma=secure_delete(ON)"}).String())
	if err != nil {
		return err
	}
	db.SetMaxOpenConns(1)
	defer func() { err = errors.Join(err, db.Close()) }()
	var mode int
	var size int64
	row := db.QueryRowContext(ctx, "SELECT auto_vacuum, page_size * page_count FROM pragma_auto_vacuum, pragma_page_size, pragma_page_count")
	if err := row.Scan(&mode, &size); err != nil {
		return fmt.Errorf("read the header of %s: %w", path, err)
	}
	if mode != 0 || size > maxRebuilt {
		return nil
	}
	setting := "PRAGMA auto_vacuum = INCREMENTAL; VACUUM" // which writes the first page
	if size == 0 && pageBytes > 0 {
		setting = fmt.Sprintf("PRAGMA page_size = %d; ", pageBytes) + setting
	}
	if _, err := db.ExecContext(ctx, setting); err != nil {
		return fmt.Errorf("prepare %s to shrink: %w", path, err)
	}
	return nil
}

// shrinker shrinks a file once nothing has been written for a while. It costs a write
// two operations on atomic values.
type shrinker struct {
	file  *File
	stop  context.CancelFunc
	timer *time.Timer

	writes atomic.Int64 // counts transactions
	armed  atomic.Bool  // the timer runs
	seen   int64        // writes at the last time that the timer ended
}

func newShrinker(f *File) *shrinker {
	ctx, stop := context.WithCancel(context.Background()) // canceled by Close
	s := &shrinker{file: f, stop: stop}
	s.timer = time.AfterFunc(time.Hour, func() { s.rested(ctx) })
	s.timer.Stop()
	return s
}

func (s *shrinker) noteWritten() {
	s.writes.Add(1)
	s.arm()
}

func (s *shrinker) arm() {
	if s.armed.CompareAndSwap(false, true) {
		s.timer.Reset(rest)
	}
}

// rested shrinks the file if nothing was written while the timer ran.
func (s *shrinker) rested(ctx context.Context) {
	s.armed.Store(false) // first, so that a write from here on arms it again
	if ctx.Err() != nil {
		return
	}
	if writes := s.writes.Load(); writes != s.seen {
		s.seen = writes
		s.arm()
		return
	}
	resting := func() bool { return s.writes.Load() == s.seen }
	if err := s.file.shrink(ctx, resting); errors.Is(err, ErrBusy) {
		s.arm()
	} // Other errors leave the file as it is, and the rest after the next write tries again.
}

// shrink moves the write-ahead log into the file, returns the free pages of the file to
// the file system, and truncates the log. It returns no more pages once resting returns
// false.
func (f *File) shrink(ctx context.Context, resting func() bool) error {
	f.turn.Lock()
	defer f.turn.Unlock()
	free, err := f.freePages(ctx)
	for ; free > 0 && err == nil && resting(); free -= vacuumed {
		f.noteLog()
		_, err = f.db.ExecContext(ctx, fmt.Sprintf("PRAGMA incremental_vacuum(%d)", vacuumed))
	}
	if err != nil || !resting() {
		return err
	}
	f.noteLog()
	// It moves most of the log while others write, so that the truncation takes a moment.
	if _, err := f.db.ExecContext(ctx, "PRAGMA wal_checkpoint(PASSIVE)"); err != nil {
		return err
	}
	return f.emptyLog(ctx)
}

// freePages returns the number of pages to give back.
func (f *File) freePages(ctx context.Context) (free int64, err error) {
	var size int64
	row := f.db.QueryRowContext(ctx, "SELECT freelist_count, page_size FROM pragma_freelist_count, pragma_page_size")
	if err := row.Scan(&free, &size); err != nil || free*size <= keptFree {
		return 0, err
	}
	return free, nil
}

// Close ends the shrinking. The caller then closes the database.
func (f *File) Close() {
	f.shrinker.stop()
	f.shrinker.timer.Stop()
	f.turn.Lock() // until a shrinking under way has ended
	defer f.turn.Unlock()
}
