package embedded

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"go.temporal.io/server/common/config"
	sqliteplugin "go.temporal.io/server/common/persistence/sql/sqlplugin/sqlite"
	"go.temporal.io/server/schema/sqlite"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/cairn-rag/cairn/internal/erase"
	"github.com/cairn-rag/cairn/internal/namespace"
)

// The pragmas of SQLite's synchronous setting.
const (
	synchronousOff    = "0"
	synchronousNormal = "1"
	synchronousFull   = "2"
)

// database returns the configuration of one SQLite file. The server uses it
// through one connection, which writes into a write-ahead log and moves that
// into the file every 40 MB.
func database(path, synchronous string) *config.SQL {
	return &config.SQL{
		PluginName:   sqliteplugin.PluginName,
		DatabaseName: escapePath(path),
		MaxConns:     1,
		MaxIdleConns: 1,
		ConnectAttributes: map[string]string{
			"mode":               "rwc",
			"journal_mode":       "wal",
			"synchronous":        synchronous,
			"busy_timeout":       "10000",
			"wal_autocheckpoint": "10000",
			"cache_size":         "-4096", // KiB
			"temp_store":         "2",     // memory
			"secure_delete":      "1",     // a deleted history has the words of an answer
		},
	}
}

// historyDatabase returns the configuration of the file of the histories.
func historyDatabase(c Config) *config.SQL {
	return database(historyPath(c.Dir), synchronous(c.Sync))
}

// readingHistories returns the configuration of a connection that only reads the histories.
func readingHistories(conf *config.SQL) *config.SQL {
	reading := *conf
	reading.ConnectAttributes = maps.Clone(conf.ConnectAttributes)
	reading.ConnectAttributes["query_only"] = "1"
	reading.ConnectAttributes["cache_size"] = "-1024"
	return &reading
}

// visibilityDatabase returns the configuration of the file of what lists and searches
// show. Its last changes need not survive a loss of power.
func visibilityDatabase(c Config) *config.SQL {
	return database(visibilityPath(c.Dir), synchronousNormal)
}

// synchronous returns the pragma's value for the histories.
func synchronous(s Sync) string {
	if s == SyncNormal {
		return synchronousNormal
	}
	return synchronousFull
}

// stopPatience bounds how long a stop moves a write-ahead log into its file.
const stopPatience = 5 * time.Second

// emptyLog moves the write-ahead log of a database into its file and truncates the log. The
// server does not, because its plugin never closes a file: after much work some 80 MB would
// stay.
func emptyLog(ctx context.Context, path string) (err error) {
	db, err := sql.Open("sqlite", "file:"+escapePath(path)+"?mode=rw&_pragma=busy_timeout(2000)")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	// It moves most of the log while the server writes, so that the truncation takes a
	// moment.
	if _, err := db.ExecContext(ctx, "PRAGMA wal_checkpoint(PASSIVE)"); err != nil {
		return err
	}
	_, err = db.ExecContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)")
	return err
}

// escapePath returns a path as it is written in a file: URI.
func escapePath(path string) string {
	return (&url.URL{Path: filepath.ToSlash(path)}).EscapedPath()
}

// createDatabase creates a database file with its schema and, if one is given, a
// namespace, unless the file exists. It writes the file under another name and
// renames the finished file, because a schema that a kill left half written
// could never be completed.
func createDatabase(ctx context.Context, path string, namespace *sqlite.NamespaceConfig) error {
	if _, err := os.Stat(path); err == nil {
		return erase.Prepare(ctx, path, 0)
	} else if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	unfinished := path + ".new"
	for _, name := range []string{unfinished, unfinished + "-journal"} {
		if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	if err := prepareDatabase(ctx, unfinished); err != nil {
		return err
	}
	conf := database(unfinished, synchronousOff)
	conf.ConnectAttributes["journal_mode"] = "memory"
	if err := sqlite.SetupSchema(conf); err != nil {
		return fmt.Errorf("create %s: %w", path, err)
	}
	if namespace != nil {
		if err := sqlite.CreateNamespaces(conf, namespace); err != nil {
			return fmt.Errorf("create %s: %w", path, err)
		}
	}
	if err := syncFile(unfinished); err != nil {
		return err
	}
	if err := os.Rename(unfinished, path); err != nil {
		return err
	}
	return syncFile(filepath.Dir(path))
}

// prepareDatabase creates an empty file that can become smaller.
func prepareDatabase(ctx context.Context, path string) error {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	return erase.Prepare(ctx, path, 0)
}

func syncFile(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Sync()
}

// createDatabases creates the two files, as far as they are missing: one holds
// the histories, the other what lists and searches show, which may be a moment
// behind.
func createDatabases(ctx context.Context, c Config) error {
	if err := os.MkdirAll(c.Dir, 0o700); err != nil {
		return fmt.Errorf("create the folder of the Temporal server: %w", err)
	}
	first, err := sqlite.NewNamespaceConfig(clusterName, namespace.Default, false, c.SearchAttributes)
	if err != nil {
		return fmt.Errorf("describe namespace %s: %w", namespace.Default, err)
	}
	first.Detail.Config.Retention = durationpb.New(retention)
	history, visibility := historyPath(c.Dir), visibilityPath(c.Dir)
	if err := createDatabase(ctx, history, first); err != nil {
		return err
	}
	if err := createDatabase(ctx, visibility, nil); err != nil {
		return err
	}
	columns, err := attributeColumns(ctx, historyDatabase(c), c.ListedBy)
	if err != nil {
		return err
	}
	if err := reduceIndexes(ctx, visibility, columns); err != nil {
		return fmt.Errorf("reduce the indexes of %s: %w", visibility, err)
	}
	return nil
}

func historyPath(dir string) string    { return filepath.Join(dir, "temporal.db") }
func visibilityPath(dir string) string { return filepath.Join(dir, "visibility.db") }
