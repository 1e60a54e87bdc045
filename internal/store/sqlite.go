package store

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/pressly/goose/v3"
	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect/sqlitedialect"
	"golang.org/x/sys/unix"
	_ "modernc.org/sqlite" // the database/sql driver "sqlite"

	"github.com/cairn-rag/cairn/internal/erase"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

//go:embed migrations/sqlite/*.sql
var sqliteMigrations embed.FS

// sqliteEngine is SQLite in the file path. One connection writes, so that writes
// queue up in the process, and a few others read.
type sqliteEngine struct {
	path string
	file *erase.File
}

// The caches of the connections, in KiB. A page takes twice its size in memory. What
// they do not hold is in the cache of the operating system. SQLite keeps the caches of
// all files of the process as one: a busy connection also uses what idle ones may.
const (
	writerCache = "cache_size(-4096)"
	readerCache = "cache_size(-1024)"
)

func (s *database) openSQLite(ctx context.Context, cfg Config) error {
	path, err := sqlitePath(cfg.URL)
	if err != nil {
		return err
	}
	if !cfg.Joined {
		if err := createFile(path); err != nil {
			return fmt.Errorf("create database %s: %w", path, err)
		}
		if err := erase.Prepare(ctx, path, 0); err != nil {
			return err
		}
	}
	if s.writer, err = openSQLitePool(path, 1, "_txlock=immediate", "secure_delete(ON)", "synchronous(FULL)", writerCache); err != nil {
		return err
	}
	s.engine = sqliteEngine{path: path, file: erase.New(s.writer.DB.DB, path)}
	if s.reader, err = openSQLitePool(path, sqliteReaders(), "_txlock=deferred", "query_only(ON)", readerCache); err != nil {
		return err
	}
	prepare := s.migrateSQLite
	if cfg.Joined {
		prepare = s.checkSQLiteVersion
	}
	if err := prepare(ctx); err != nil {
		return fmt.Errorf("migrate database %s: %w", path, failure(err))
	}
	return nil
}

// transact runs work in a transaction that holds the write lock from its start.
func (e sqliteEngine) transact(ctx context.Context, writer *pool, work func(ctx context.Context, tx bun.Tx) error) error {
	return writer.RunInTx(ctx, nil, func(ctx context.Context, tx bun.Tx) error {
		e.file.NoteWritten()
		return work(ctx, tx)
	})
}

func (e sqliteEngine) ping(ctx context.Context, reader *pool) error {
	if err := unix.Access(e.path, unix.W_OK); err != nil {
		return fmt.Errorf("write %s: %w", e.path, err)
	}
	var settings int
	return reader.QueryRowContext(ctx, "SELECT count(*) FROM settings").Scan(&settings)
}

// alone is true: one transaction writes at a time.
func (e sqliteEngine) alone(context.Context, transaction, string) (bool, error) { return true, nil }

func (e sqliteEngine) erase(ctx context.Context) error {
	err := e.file.Erase(ctx)
	if errors.Is(err, erase.ErrBusy) {
		return unavailable("the database is busy: try again", nil)
	}
	return err
}

func (e sqliteEngine) close() { e.file.Close() }

func (s *database) migrateSQLite(ctx context.Context) error {
	provider, err := s.sqliteMigrations()
	if err != nil {
		return err
	}
	current, target, err := provider.GetVersions(ctx)
	if err == nil {
		err = migratable(current, target)
	}
	if err != nil {
		return err
	}
	results, err := provider.Up(ctx)
	for _, r := range results {
		s.log.DebugContext(ctx, "database migrated", "migration", filepath.Base(r.Source.Path), "seconds", r.Duration.Seconds())
	}
	return err
}

// checkSQLiteVersion refuses a database that another version of the program has
// migrated.
func (s *database) checkSQLiteVersion(ctx context.Context) error {
	provider, err := s.sqliteMigrations()
	if err != nil {
		return err
	}
	current, target, err := provider.GetVersions(ctx)
	if err == nil {
		err = sameVersion(current, target)
	}
	return err
}

func (s *database) sqliteMigrations() (*goose.Provider, error) {
	files, err := fs.Sub(sqliteMigrations, "migrations/sqlite")
	if err != nil {
		return nil, err
	}
	return goose.NewProvider(goose.DialectSQLite3, s.writer.DB.DB, files, goose.WithSlog(s.log), goose.WithDisableGlobalRegistry(true))
}

// sqlitePath returns the path in a URL sqlite:///path, unescaped once.
func sqlitePath(databaseURL string) (string, error) {
	u, err := url.Parse(databaseURL)
	switch {
	case err != nil, !strings.HasPrefix(databaseURL, "sqlite:///"), !filepath.IsAbs(u.Path):
		return "", knowledge.Errorf(knowledge.CodeInvalid, "database.url must be sqlite:///absolute/path/cairn.db, with a %% written as %%25, or postgres://user:password@host/database")
	case u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		return "", knowledge.Errorf(knowledge.CodeInvalid, "database.url must be a path alone: write ? as %%3F and # as %%23")
	}
	return filepath.Clean(u.Path), nil
}

// createFile creates the file with access for its owner alone; SQLite creates the files
// beside it with the same mode.
func createFile(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	return f.Close()
}

// openSQLitePool opens up to size connections that are kept open. Options are PRAGMAs,
// or parameters of the driver where they hold a "=".
func openSQLitePool(path string, size int, options ...string) (*pool, error) {
	query := url.Values{}
	for _, option := range append(options,
		"busy_timeout(10000)", "journal_mode(WAL)", "foreign_keys(ON)", "temp_store(MEMORY)") {
		if name, value, ok := strings.Cut(option, "="); ok {
			query.Set(name, value)
			continue
		}
		query.Add("_pragma", option)
	}
	dsn := url.URL{Scheme: "file", Path: path, RawQuery: query.Encode()}
	db, err := sql.Open("sqlite", dsn.String())
	if err != nil {
		return nil, fmt.Errorf("open database %s: %w", path, err)
	}
	return newPool(db, size, sqliteDialect{sqlitedialect.New()}, nil), nil
}

// sqliteReaders is how many connections read.
func sqliteReaders() int { return min(max(2*runtime.GOMAXPROCS(0), 4), 8) }
