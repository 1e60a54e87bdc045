package store

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/uptrace/bun"
)

// Config configures a Store.
type Config struct {
	// URL is sqlite:///absolute/path/to/cairn.db, escaped as the path of a URL. The
	// file is created. Or it is postgres://user:password@host/database, with the
	// parameters of libpq and pool_max_conns behind a "?".
	URL string
	// Joined opens a SQLite database that a server on this machine has open. Open
	// then creates and migrates nothing: it refuses a database of another version.
	Joined bool
	// Generation is that of the vectors of projects that name no model. Defaults to "".
	Generation string
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
	engine engine
	writer *pool
	reader *pool
	log    *slog.Logger
	clock  func() time.Time
	woken  chan<- WebhookQueue

	generation string   // of projects that name none
	revised    sync.Map // base generation -> the one that UseGeneration named
}

// engine is what SQLite and PostgreSQL do in different ways, beside their SQL.
type engine interface {
	// transact runs work in a transaction that behaves as if it were the only one:
	// what it reads is still true when it commits. work may run several times, and
	// must begin each time from the same values.
	transact(ctx context.Context, writer *pool, work func(ctx context.Context, tx bun.Tx) error) error
	// ping returns an error if the database cannot be read or cannot be written. It
	// writes nothing, and waits for no writer.
	ping(ctx context.Context, reader *pool) error
	// erase is EraseDeleted.
	erase(ctx context.Context) error
	// close is called before the connections are closed.
	close()
}

// Open opens the database. A SQLite database is created if it does not exist, and its
// tables are migrated. The tables of a PostgreSQL database must be those that Migrate
// makes: older ones are CodeUnavailable, which Migrate repairs, newer ones and
// those older than the first migration CodeConflict.
func Open(ctx context.Context, cfg Config) (*Store, error) {
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	if cfg.Clock == nil {
		cfg.Clock = time.Now
	}
	s := &Store{id: rand.Text(), log: cfg.Logger, clock: cfg.Clock, woken: cfg.Woken, generation: cfg.Generation}
	open := s.openSQLite
	if isPostgres(cfg.URL) {
		open = s.openPostgres
	}
	if err := open(ctx, cfg); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// Migrate creates the tables of a database, or changes those of an older version of
// the program to the present ones. Of several calls at once, one works and the others
// wait for it.
func Migrate(ctx context.Context, databaseURL string) error {
	if isPostgres(databaseURL) {
		return migratePostgres(ctx, databaseURL)
	}
	s, err := Open(ctx, Config{URL: databaseURL})
	if err != nil {
		return err
	}
	return s.Close()
}

// Close closes the database. It waits for running statements.
func (s *Store) Close() error {
	if s.engine != nil {
		s.engine.close()
	}
	var err error
	for _, db := range []*pool{s.reader, s.writer} { // the writer last: in SQLite it folds the log into the file
		if db != nil {
			err = errors.Join(err, db.Close())
		}
	}
	return err
}

// Ping reports whether the database can be read and written. It writes nothing and
// takes no lock that a writer holds, so a long write does not make the store look
// broken.
func (s *Store) Ping(ctx context.Context) error {
	if err := s.engine.ping(ctx, s.reader); err != nil {
		return fmt.Errorf("ping database: %w", failure(err))
	}
	return nil
}

// EraseDeleted returns once the bytes of rows that were deleted stand nowhere in the
// files of the database. It does nothing on PostgreSQL, which overwrites its files in
// its own time.
func (s *Store) EraseDeleted(ctx context.Context) error { return failure(s.engine.erase(ctx)) }
