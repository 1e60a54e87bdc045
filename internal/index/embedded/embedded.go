package embedded

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"sync"

	_ "modernc.org/sqlite" // the database/sql driver

	"github.com/cairn-rag/cairn/internal/erase"
)

// Config configures an Index.
type Config struct {
	// Path is the path of the SQLite file. Open creates the file and its
	// directory if they do not exist.
	Path string
	// Readers is the number of concurrent queries. Defaults to the number of
	// processors, at least 4.
	Readers int
	// Logger receives the index's log records. Defaults to one that discards
	// them.
	Logger *slog.Logger
}

// Index is an index.Index in an SQLite file. Several processes may have the file
// open; each finds what the others have committed.
type Index struct {
	writer *sql.DB // one connection; every transaction takes the write lock when it begins
	reader *sql.DB
	file   *erase.File
	path   string
	log    *slog.Logger

	statements *statements // of reader
	passages   *passageCache
	sketches   *sketchCache
	tidier     *tidier

	mu          sync.RWMutex
	workspaces  map[string]int64      // name -> id of committed workspaces
	generations map[string]generation // that are committed, by name
}

// Open opens the index. It creates the file if there is none.
func Open(ctx context.Context, cfg Config) (*Index, error) {
	if cfg.Path == "" {
		return nil, errors.New("open index: no path")
	}
	if cfg.Readers < 1 {
		cfg.Readers = max(4, runtime.NumCPU())
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	if err := create(ctx, cfg.Path); err != nil {
		return nil, fmt.Errorf("open index %s: %w", cfg.Path, err)
	}
	x := &Index{path: cfg.Path, log: cfg.Logger, workspaces: map[string]int64{}, generations: map[string]generation{},
		sketches: &sketchCache{generations: map[generation]*sketches{}, rotations: map[int]*rotation{}}}
	if err := x.connect(ctx, cfg.Readers); err != nil {
		return nil, errors.Join(fmt.Errorf("open index %s: %w", cfg.Path, err), x.Close())
	}
	x.log.Debug("opened the index", "path", cfg.Path, "readers", cfg.Readers)
	return x, nil
}

// Ping returns an error if the index cannot be read.
func (x *Index) Ping(ctx context.Context) error {
	var n int
	if err := x.reader.QueryRowContext(ctx, `SELECT count(*) FROM workspaces`).Scan(&n); err != nil {
		return fmt.Errorf("read index %s: %w", x.path, err)
	}
	return nil
}

// Close waits for running statements and closes the file.
func (x *Index) Close() error {
	var errs []error
	if x.tidier != nil {
		x.tidier.close()
	}
	if x.statements != nil {
		errs = append(errs, x.statements.close())
	}
	if x.file != nil {
		x.file.Close()
	}
	if x.writer != nil {
		errs = append(errs, x.writer.Close())
	}
	return errors.Join(errs...)
}

func (x *Index) connect(ctx context.Context, readers int) (err error) {
	// A page of the cache takes twice its size in memory.
	pragmas := url.Values{"_pragma": {
		"busy_timeout(10000)", "journal_mode(WAL)", "synchronous(FULL)", "foreign_keys(1)",
		"secure_delete(1)", "temp_store(MEMORY)", "cache_size(-4000)", "journal_size_limit(16777216)",
	}}
	file := (&url.URL{Path: x.path}).EscapedPath()
	pragmas.Set("_txlock", "immediate")
	if x.writer, err = sql.Open("sqlite", "file:"+file+"?"+pragmas.Encode()); err != nil {
		return err
	}
	x.writer.SetMaxOpenConns(1)
	x.file = erase.New(x.writer, x.path)
	if err := x.migrate(ctx); err != nil {
		return err
	}
	pragmas.Del("_txlock")
	// Vectors are read from the mapped file, where it is small: one read call per
	// page took a third of a search's time. The writer does not map it, because the
	// pages that each connection maps count as memory of the process.
	for _, pragma := range []string{"query_only(1)", "cache_size(-2000)", "mmap_size(134217728)"} {
		pragmas.Add("_pragma", pragma)
	}
	if x.reader, err = sql.Open("sqlite", "file:"+file+"?"+pragmas.Encode()); err != nil {
		return err
	}
	x.reader.SetMaxOpenConns(readers)
	x.reader.SetMaxIdleConns(readers)
	x.statements = newStatements(x.reader)
	x.sketches.db = x.statements
	x.passages = &passageCache{db: x.statements, workspaces: map[int64]*passages{}}
	x.tidier = startTidier(x)
	return x.Ping(ctx)
}

// pageBytes is the size of a page in a new file. A vector of 512 dimensions takes 2 KB and
// some bytes, so pages of 4 KB hold one, and pages of 8 KB three.
const pageBytes = 8192

// create creates the file, readable by its owner only. A file that is there keeps the size of
// its pages.
func create(ctx context.Context, path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	return erase.Prepare(ctx, path, pageBytes)
}

// write runs change in a transaction on the single writer connection.
func (x *Index) write(ctx context.Context, change func(*sql.Tx) error) error {
	tx, err := x.writer.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	x.file.NoteWritten()
	if err := change(tx); err != nil {
		return errors.Join(err, rollback(tx))
	}
	return tx.Commit()
}

func rollback(tx *sql.Tx) error {
	if err := tx.Rollback(); err != nil && !errors.Is(err, sql.ErrTxDone) {
		return err
	}
	return nil
}
