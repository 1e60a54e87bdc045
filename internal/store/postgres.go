package store

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"
	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect/pgdialect"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

//go:embed migrations/postgres/*.sql
var postgresMigrations embed.FS

// postgresEngine is a database of a PostgreSQL server, which any number of processes
// share.
type postgresEngine struct{}

const (
	// defaultConnections is how many connections a process has at most.
	defaultConnections = 20
	// connectionLife is when a connection is replaced, so that the process follows
	// its server behind a balancer.
	connectionLife = time.Hour
	// poolParameter is the parameter of database.url that replaces defaultConnections.
	poolParameter = "pool_max_conns"
)

// isPostgres reports whether a URL names a PostgreSQL database.
func isPostgres(databaseURL string) bool {
	return strings.HasPrefix(databaseURL, "postgres://") || strings.HasPrefix(databaseURL, "postgresql://")
}

// parsePostgres returns how to connect, and with how many connections at most.
func parsePostgres(databaseURL string) (*pgx.ConnConfig, int, error) {
	u, err := url.Parse(databaseURL)
	if err != nil || !isPostgres(databaseURL) { // the error would show the password
		return nil, 0, knowledge.Errorf(knowledge.CodeInvalid, "database.url must be postgres://user:password@host:5432/database, with special characters of the password escaped as %%XX")
	}
	connections, query := defaultConnections, u.Query()
	if text := query.Get(poolParameter); text != "" {
		if connections, err = strconv.Atoi(text); err != nil || connections < 2 || connections > 1000 {
			return nil, 0, knowledge.Errorf(knowledge.CodeInvalid, "database.url: %s must be between 2 and 1000", poolParameter)
		}
	}
	query.Del(poolParameter)
	u.RawQuery = query.Encode()
	config, err := pgx.ParseConfig(u.String())
	if err != nil {
		return nil, 0, knowledge.Errorf(knowledge.CodeInvalid, "database.url: %s", strings.ReplaceAll(err.Error(), "\n", " "))
	}
	config.RuntimeParams["standard_conforming_strings"] = "on"
	if config.RuntimeParams["application_name"] == "" {
		config.RuntimeParams["application_name"] = "cairn"
	}
	// Statements of package bun have their values in the text, so that none comes
	// twice. Those that do are prepared by package store.
	config.DefaultQueryExecMode = pgx.QueryExecModeExec
	return config, connections, nil
}

func (s *database) openPostgres(ctx context.Context, cfg Config) error {
	config, connections, err := parsePostgres(cfg.URL)
	if err != nil {
		return err
	}
	for name, milliseconds := range map[string]int{"statement_timeout": 60_000, "lock_timeout": 10_000, "idle_in_transaction_session_timeout": 60_000} {
		if config.RuntimeParams[name] == "" {
			config.RuntimeParams[name] = strconv.Itoa(milliseconds)
		}
	}
	s.engine = postgresEngine{}
	s.writer = openPostgresPool(*config, connections/2)
	s.reader = openPostgresPool(*config, connections-connections/2)
	if err := s.checkPostgresVersion(ctx); err != nil {
		return fmt.Errorf("open database %s on %s: %w", config.Database, config.Host, failure(err))
	}
	return nil
}

// openPostgresPool prepares a pool of up to size connections. It connects when the
// first one is needed.
func openPostgresPool(config pgx.ConnConfig, size int) *pool {
	db := stdlib.OpenDB(config)
	db.SetConnMaxLifetime(connectionLife)
	return newPool(db, size, postgresDialect{pgdialect.New()}, postgresTwin)
}

// ping asks for a row of a table, and whether the server takes writes.
func (postgresEngine) ping(ctx context.Context, reader *pool) error {
	var replica bool
	err := reader.QueryRowContext(ctx, "SELECT pg_is_in_recovery() FROM (SELECT count(*) FROM settings) AS s").Scan(&replica)
	if err == nil && replica {
		err = unavailable("the database is read-only: check that database.url names the primary server", nil)
	}
	return err
}

// alone takes an advisory lock, which PostgreSQL releases with the transaction.
func (postgresEngine) alone(ctx context.Context, tx transaction, name string) (alone bool, err error) {
	err = tx.Tx.Tx.QueryRowContext(ctx, "SELECT pg_try_advisory_xact_lock(hashtext($1))", "cairn "+name).Scan(&alone)
	return alone, err
}

func (postgresEngine) erase(context.Context) error { return nil }

func (postgresEngine) close() {}

// checkPostgresVersion refuses tables that are not of this program's version.
func (s *database) checkPostgresVersion(ctx context.Context) error {
	needed, err := postgresVersion()
	if err != nil {
		return err
	}
	current, err := migratedVersion(ctx, s.reader.DB.DB)
	if err != nil {
		return err
	}
	return sameVersion(current, needed)
}

// migratedVersion returns the version of the tables, 0 if there are none.
func migratedVersion(ctx context.Context, db *sql.DB) (version int64, err error) {
	var migrated bool
	if err := db.QueryRowContext(ctx, "SELECT to_regclass('goose_db_version') IS NOT NULL").Scan(&migrated); err != nil || !migrated {
		return 0, err
	}
	err = db.QueryRowContext(ctx, "SELECT COALESCE(MAX(version_id), 0) FROM goose_db_version WHERE is_applied").Scan(&version)
	return version, err
}

// postgresVersion returns the version of the tables that this program needs.
func postgresVersion() (version int64, err error) {
	files, err := fs.Glob(postgresMigrations, "migrations/postgres/*.sql")
	for _, file := range files {
		number, numberErr := goose.NumericComponent(file)
		version, err = max(version, number), errors.Join(err, numberErr)
	}
	return version, err
}

// migratePostgres is Migrate for PostgreSQL. It holds an advisory lock of the database
// meanwhile, which PostgreSQL releases if the process dies.
func migratePostgres(ctx context.Context, databaseURL string) (err error) {
	config, _, err := parsePostgres(databaseURL)
	if err != nil {
		return err
	}
	db := stdlib.OpenDB(*config)
	defer func() { err = errors.Join(err, db.Close()) }()
	if err := upPostgres(ctx, db); err != nil {
		return fmt.Errorf("migrate database %s on %s: %w", config.Database, config.Host, failure(err))
	}
	return nil
}

// upPostgres runs the migrations that the database lacks.
func upPostgres(ctx context.Context, db *sql.DB) error {
	needed, err := postgresVersion()
	if err != nil {
		return err
	}
	current, err := migratedVersion(ctx, db)
	if err == nil {
		err = migratable(current, needed)
	}
	if err != nil {
		return err
	}
	provider, err := postgresProvider(db)
	if err == nil {
		_, err = provider.Up(ctx)
	}
	return err
}

func postgresProvider(db *sql.DB) (*goose.Provider, error) {
	files, err := fs.Sub(postgresMigrations, "migrations/postgres")
	if err != nil {
		return nil, err
	}
	locker, err := lock.NewPostgresSessionLocker(lock.WithLockTimeout(1, 600))
	if err != nil {
		return nil, err
	}
	return goose.NewProvider(goose.DialectPostgres, db, files, goose.WithSessionLocker(locker), goose.WithDisableGlobalRegistry(true))
}

const (
	// maxAttempts bounds how often a transaction that meets others is tried.
	maxAttempts = 20
	// turnTime is how long a repeated transaction waits for its turn, in milliseconds.
	// On a busy machine those before it take longer than lock_timeout.
	turnTime = 30_000
)

// transact runs work in a serializable transaction: PostgreSQL commits it only if the
// result is the same as of one transaction after another, as with the one writer of SQLite.
// Otherwise it fails, and is tried again. First tries run side by side; a repeated one
// runs alone, so that nothing can fail it again. So does one that waited for a lock
// longer than lock_timeout: the transactions before it are waiting for their turns too.
func (postgresEngine) transact(ctx context.Context, writer *pool, work func(ctx context.Context, tx bun.Tx) error) error {
	serializable := &sql.TxOptions{Isolation: sql.LevelSerializable}
	turn := "LOCK TABLE write_turns IN ROW SHARE MODE"
	for attempt := 1; ; attempt++ {
		err := writer.RunInTx(ctx, serializable, func(ctx context.Context, tx bun.Tx) error {
			// A LOCK before the first query: what the transaction reads is as of after
			// the wait. Nothing waits for this lock with another one in its hands, so
			// no ring of waits goes through it.
			if _, err := tx.ExecContext(ctx, turn); err != nil {
				return err
			}
			return work(ctx, tx)
		})
		if attempt == maxAttempts || !repeatable(err, attempt) || ctx.Err() != nil {
			return err
		}
		turn = aloneInTurn
	}
}

// aloneInTurn waits up to turnTime until no other transaction of the store runs. The later
// statements of the transaction wait as long as the statements of any other.
var aloneInTurn = fmt.Sprintf("SET LOCAL lock_timeout = %d; LOCK TABLE write_turns IN EXCLUSIVE MODE; SET LOCAL lock_timeout TO DEFAULT", turnTime)

// repeatable reports whether a failed transaction is to be tried again. One that found
// a duplicate is tried once more: the other row may have been committed since this
// transaction looked for it. So is one that waited too long for a lock.
func repeatable(err error, attempt int) bool {
	switch postgresState(err) {
	case serializationFailure, deadlockDetected:
		return true
	case uniqueViolation, foreignKeyViolation, lockNotAvailable:
		return attempt == 1
	}
	return false
}
