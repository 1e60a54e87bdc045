package embedded

import (
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"

	"go.temporal.io/server/common/config"
	sqliteplugin "go.temporal.io/server/common/persistence/sql/sqlplugin/sqlite"
	"go.temporal.io/server/schema/sqlite"
	"google.golang.org/protobuf/types/known/durationpb"
)

// The pragmas of SQLite's synchronous setting.
const (
	synchronousOff    = "0"
	synchronousNormal = "1"
	synchronousFull   = "2"
)

// database describes one SQLite file to the server. Its one connection writes
// ahead into a log that is folded back every 40 MB.
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
			"cache_size":         "-65536", // KiB
			"temp_store":         "2",      // memory
		},
	}
}

// escapePath writes a path as the file: URI wants it.
func escapePath(path string) string {
	return (&url.URL{Path: filepath.ToSlash(path)}).EscapedPath()
}

// createDatabase makes a database file with its schema and, if it is given, a
// namespace, unless the file exists. The file is made under another name and
// renamed when it is whole, because a schema that a kill cut in two could never
// be completed.
func createDatabase(path string, namespace *sqlite.NamespaceConfig) error {
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	unfinished := path + ".new"
	for _, name := range []string{unfinished, unfinished + "-journal"} {
		if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	sql := database(unfinished, synchronousOff)
	sql.ConnectAttributes["journal_mode"] = "memory"
	if err := sqlite.SetupSchema(sql); err != nil {
		return fmt.Errorf("create %s: %w", path, err)
	}
	if namespace != nil {
		if err := sqlite.CreateNamespaces(sql, namespace); err != nil {
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

func syncFile(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Sync()
}

// createDatabases makes what is missing of the two files: histories in one,
// what lists and searches show in the other, which may be a moment behind.
func createDatabases(c Config) error {
	if err := os.MkdirAll(c.Dir, 0o700); err != nil {
		return fmt.Errorf("create the folder of the Temporal server: %w", err)
	}
	first, err := sqlite.NewNamespaceConfig(clusterName, namespace, false, c.SearchAttributes)
	if err != nil {
		return fmt.Errorf("describe namespace %s: %w", namespace, err)
	}
	first.Detail.Config.Retention = durationpb.New(retention)
	if err := createDatabase(historyPath(c.Dir), first); err != nil {
		return err
	}
	return createDatabase(visibilityPath(c.Dir), nil)
}

func historyPath(dir string) string    { return filepath.Join(dir, "temporal.db") }
func visibilityPath(dir string) string { return filepath.Join(dir, "visibility.db") }
