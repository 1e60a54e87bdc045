package store

import (
	"context"
	"crypto/rand"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/pressly/goose/v3"
	"github.com/uptrace/bun"
	"golang.org/x/sys/unix"
	_ "modernc.org/sqlite" // the database/sql driver "sqlite"

	"github.com/cairn-rag/cairn/internal/erase"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

//go:embed migrations/sqlite/*.sql
var migrations embed.FS

// Config configures a Store.
type Config struct {
	// URL is sqlite:///absolute/path/to/cairn.db, escaped as the path of a URL. The
	// file is created.
	URL string
	// Joined opens a database that a server on this machine has open. Open then
	// creates and migrates nothing: it refuses a database of another version.
	Joined bool
	// Logger receives the migrations that run. Defaults to none.
	Logger *slog.Logger
	// Clock returns the time for writes that name none. Defaults to time.Now.
	Clock func() time.Time
	// Woken receives each webhook whose workflow has to be started or woken. The
	// store does not wait for a receiver: RestlessQueues lists what it missed.
	// Defaults to none.
	Woken chan<- WebhookQueue
}

// Store is the database. It is safe for concurrent use.
type Store struct {
	id     string // of this opening, as the owner of leases
	writer *pool  // one connection, so that writes queue up in the process
	reader *pool
	file   *erase.File
	path   string // of the file
	log    *slog.Logger
	clock  func() time.Time
	woken  chan<- WebhookQueue
}

// The caches of the connections, in KiB. A page takes twice its size in memory. What
// they do not hold is in the cache of the operating system.
const (
	writerCache = "cache_size(-8192)"
	readerCache = "cache_size(-4096)"
)

// Open opens the database, creates it if it does not exist, and migrates its tables.
func Open(ctx context.Context, cfg Config) (*Store, error) {
	path, err := sqlitePath(cfg.URL)
	if err != nil {
		return nil, err
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	if cfg.Clock == nil {
		cfg.Clock = time.Now
	}
	if !cfg.Joined {
		if err := createFile(path); err != nil {
			return nil, fmt.Errorf("create database %s: %w", path, err)
		}
	}
	s := &Store{id: rand.Text(), path: path, log: cfg.Logger, clock: cfg.Clock, woken: cfg.Woken}
	if s.writer, err = openPool(path, 1, "_txlock=immediate", "secure_delete(ON)", "synchronous(FULL)", writerCache); err != nil {
		return nil, err
	}
	s.file = erase.New(s.writer.DB.DB, path)
	if s.reader, err = openPool(path, readers(), "_txlock=deferred", "query_only(ON)", readerCache); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	prepare := s.migrate
	if cfg.Joined {
		prepare = s.checkVersion
	}
	if err := prepare(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("migrate database %s: %w", path, failure(err)), s.Close())
	}
	return s, nil
}

// Close closes the database. It waits for running statements.
func (s *Store) Close() error {
	var err error
	for _, db := range []*pool{s.reader, s.writer} { // the writer last: it folds the log into the file
		if db != nil {
			err = errors.Join(err, db.Close())
		}
	}
	return err
}

// Ping reports whether the database can be read, and whether its file is there
// and may be written. It takes no lock that a writer holds, so a long write does
// not make the store look broken.
func (s *Store) Ping(ctx context.Context) error {
	if err := unix.Access(s.path, unix.W_OK); err != nil {
		return fmt.Errorf("ping database: write %s: %w", s.path, err)
	}
	var settings int
	if err := s.reader.QueryRowContext(ctx, "SELECT count(*) FROM settings").Scan(&settings); err != nil {
		return fmt.Errorf("ping database: %w", failure(err))
	}
	return nil
}

func (s *Store) migrate(ctx context.Context) error {
	provider, err := s.migrations()
	if err != nil {
		return err
	}
	results, err := provider.Up(ctx)
	for _, r := range results {
		s.log.DebugContext(ctx, "database migrated", "migration", filepath.Base(r.Source.Path), "seconds", r.Duration.Seconds())
	}
	return err
}

// checkVersion refuses a database that another version of the program has migrated.
func (s *Store) checkVersion(ctx context.Context) error {
	provider, err := s.migrations()
	if err != nil {
		return err
	}
	current, target, err := provider.GetVersions(ctx)
	if err == nil && current != target {
		err = fmt.Errorf("its tables have version %d, and this program needs %d: use the version of cairn that the server has", current, target)
	}
	return err
}

func (s *Store) migrations() (*goose.Provider, error) {
	files, err := fs.Sub(migrations, "migrations/sqlite")
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
		return "", knowledge.Errorf(knowledge.CodeInvalid, "database.url must be sqlite:///absolute/path/cairn.db, with a %% written as %%25")
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

// openPool opens up to size connections that are kept open. Options are PRAGMAs,
// or parameters of the driver where they hold a "=".
func openPool(path string, size int, options ...string) (*pool, error) {
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
	db.SetMaxOpenConns(size)
	db.SetMaxIdleConns(size)
	return &pool{DB: bun.NewDB(db, newDialect()), prepared: map[string]*sql.Stmt{}}, nil
}

// readers is how many connections read.
func readers() int { return min(max(2*runtime.GOMAXPROCS(0), 4), 8) }
