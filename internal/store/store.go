package store

import (
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"time"
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
	// Generation is the generation of the vectors of projects that name no model. Defaults to "".
	Generation string
	// Logger receives the migrations that run. Defaults to none.
	Logger *slog.Logger
	// Clock returns the time for writes that name none. Defaults to time.Now.
	Clock func() time.Time
	// Woken receives each webhook whose workflow has to be started or woken. The
	// store does not wait for a receiver: PendingQueues lists what it missed.
	// Defaults to none.
	Woken chan<- WebhookQueue
}

// Store is the database. It is safe for concurrent use. The type of each resource has
// the methods of that resource.
type Store struct {
	*database
	workspaceStore
	projectStore
	keyStore
	secretStore
	roleStore
	memberStore
	grantStore
	holdStore
	consentStore
	subjectStore
	retentionStore
	provisioningStore
	documentStore
	versionStore
	chunkStore
	removalStore
	importStore
	runStore
	reindexStore
	conversationStore
	webhookStore
	generationStore
	leaseStore
	testSetStore
	evaluationStore
	syncStore
	auditStore
	dataKeyStore
	originalKeyStore
	publicationStore
}

// newStore returns a store without connections.
func newStore(cfg Config) *Store {
	db := &database{clock: cfg.Clock, id: rand.Text(), log: cfg.Logger, woken: cfg.Woken}
	names := &generationNames{instance: cfg.Generation}
	versions := versionStore{db, names}
	return &Store{
		database:          db,
		workspaceStore:    workspaceStore{db},
		projectStore:      projectStore{db, names},
		keyStore:          keyStore{db},
		secretStore:       secretStore{db},
		roleStore:         roleStore{db},
		memberStore:       memberStore{db},
		grantStore:        grantStore{db},
		holdStore:         holdStore{db},
		consentStore:      consentStore{db},
		subjectStore:      subjectStore{db},
		retentionStore:    retentionStore{db},
		provisioningStore: provisioningStore{db},
		documentStore:     documentStore{db},
		versionStore:      versions,
		chunkStore:        chunkStore{db},
		removalStore:      removalStore{db},
		importStore:       importStore{db, &versions},
		runStore:          runStore{db},
		reindexStore:      reindexStore{db, names},
		conversationStore: conversationStore{db},
		webhookStore:      webhookStore{db},
		generationStore:   generationStore{db, names},
		leaseStore:        leaseStore{db},
		testSetStore:      testSetStore{db},
		evaluationStore:   evaluationStore{db},
		syncStore:         syncStore{db},
		auditStore:        auditStore{db},
		dataKeyStore:      dataKeyStore{db},
		originalKeyStore:  originalKeyStore{db},
		publicationStore:  publicationStore{db},
	}
}

// Open opens the database. A SQLite database is created if it does not exist, and its
// tables are migrated. The tables of a PostgreSQL database must be those that Migrate
// makes: older ones are CodeUnavailable, which Migrate repairs. Newer ones, and those
// older than the first migration, are CodeConflict.
func Open(ctx context.Context, cfg Config) (*Store, error) {
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	if cfg.Clock == nil {
		cfg.Clock = time.Now
	}
	s := newStore(cfg)
	open := s.openSQLite
	if isPostgres(cfg.URL) {
		open = s.openPostgres
	}
	if err := open(ctx, cfg); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// Migrate creates the tables of a database, or changes the tables of an older version of
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
