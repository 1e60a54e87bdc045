package backup_test

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	_ "modernc.org/sqlite" // the driver of the files

	"github.com/cairn-rag/cairn/internal/backup"
)

// instance is a data folder whose five SQLite files have one table with one number.
type instance struct {
	t      *testing.T
	folder string
	files  map[string]*sql.DB
}

var names = []string{"cairn.db", "index.db", "blobs/small.db", "temporal/temporal.db", "temporal/visibility.db"}

func newInstance(t *testing.T) *instance {
	t.Helper()
	i := &instance{t: t, folder: t.TempDir(), files: map[string]*sql.DB{}}
	for _, name := range names {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(i.folder, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		i.files[name] = i.open(i.folder, name)
		if _, err := i.files[name].Exec("CREATE TABLE steps (n INTEGER); INSERT INTO steps VALUES (0)"); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"admin.key", "secret.key"} {
		i.write(name, name)
	}
	return i
}

func (i *instance) open(folder, name string) *sql.DB {
	i.t.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(folder, name)+"?_pragma=busy_timeout(10000)&_pragma=journal_mode(WAL)&_txlock=immediate")
	if err != nil {
		i.t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	i.t.Cleanup(func() { _ = db.Close() })
	return db
}

func (i *instance) write(name, text string) {
	i.t.Helper()
	path := filepath.Join(i.folder, name)
	err := os.MkdirAll(filepath.Dir(path), 0o700)
	if err == nil {
		err = os.WriteFile(path+".new", []byte(text), 0o600)
	}
	if err == nil {
		err = os.Rename(path+".new", path)
	}
	if err != nil {
		i.t.Error(err)
	}
}

func (i *instance) set(name string, n int) {
	if _, err := i.files[name].Exec("UPDATE steps SET n = ?", n); err != nil {
		i.t.Error(err)
	}
}

func (i *instance) stores(inUse bool) backup.Stores {
	at := func(name string) string { return filepath.Join(i.folder, name) }
	return backup.Stores{
		Database: at("cairn.db"), Index: at("index.db"), Blobs: at("blobs"), Temporal: at("temporal"),
		AdminKey: at("admin.key"), SecretKey: at("secret.key"), InUse: inUse,
	}
}

func (i *instance) number(folder, name string) (n int) {
	i.t.Helper()
	if err := i.open(folder, name).QueryRow("SELECT n FROM steps").Scan(&n); err != nil {
		i.t.Fatalf("%s: %v", name, err)
	}
	return n
}

// work does steps until ctx ends, as the server does: bytes, then the rows of the blobs,
// the index and the database, then the history, then the removal of old bytes.
func (i *instance) work(ctx context.Context) {
	for n := 1; ctx.Err() == nil; n++ {
		i.write(fmt.Sprintf("blobs/w/%d", n), fmt.Sprint("bytes of ", n))
		i.set("blobs/small.db", n)
		i.set("index.db", n)
		i.set("cairn.db", n)
		i.set("temporal/temporal.db", n)
		i.set("temporal/visibility.db", n)
		if n > 3 {
			if err := os.Remove(filepath.Join(i.folder, fmt.Sprintf("blobs/w/%d", n-3))); err != nil {
				i.t.Error(err)
			}
		}
	}
}

func TestACopyBesideAWriterShowsOneMoment(t *testing.T) {
	t.Parallel()
	i := newInstance(t)
	ctx, stop := context.WithCancel(t.Context())
	var working sync.WaitGroup
	working.Go(func() { i.work(ctx) })
	defer working.Wait()
	defer stop()
	for try := range 5 {
		dir, data := filepath.Join(t.TempDir(), "backup"), filepath.Join(t.TempDir(), "data")
		if _, err := backup.Make(t.Context(), i.stores(true), dir, "test"); err != nil {
			t.Fatal(err)
		}
		if _, err := restore(t, dir, data); err != nil {
			t.Fatal(err)
		}
		n := i.number(data, "cairn.db")
		for _, name := range []string{"index.db", "blobs/small.db"} {
			if got := i.number(data, name); got != n && got != n+1 {
				t.Errorf("copy %d: %s is at step %d, the database at %d", try, name, got, n)
			}
		}
		if got := i.number(data, "temporal/temporal.db"); got != n && got != n-1 {
			t.Errorf("copy %d: the histories are at step %d, the database at %d", try, got, n)
		}
		for step := max(1, n-2); step <= n; step++ {
			text, err := os.ReadFile(filepath.Join(data, fmt.Sprintf("blobs/w/%d", step)))
			if want := fmt.Sprint("bytes of ", step); err != nil || string(text) != want {
				t.Errorf("copy %d at step %d: the blob of step %d is %q, %v", try, n, step, text, err)
			}
		}
		if _, err := os.Stat(filepath.Join(data, fmt.Sprintf("blobs/w/%d", n-4))); n > 4 && err == nil {
			t.Errorf("copy %d at step %d: the blob of step %d was removed before", try, n, n-4)
		}
	}
	if left, err := filepath.Glob(filepath.Join(i.folder, "blobs", "small.db-frozen*")); err != nil || len(left) > 0 {
		t.Errorf("left in the store: %v, %v", left, err)
	}
}

func TestARestoreWritesNothingUnlessTheBackupIsWhole(t *testing.T) {
	t.Parallel()
	flip := func(name string) func(*testing.T, string) {
		return func(t *testing.T, dir string) {
			path := filepath.Join(dir, name)
			b, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			b[len(b)/2] ^= 1
			if err := os.WriteFile(path, b, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	remove := func(name string) func(*testing.T, string) {
		return func(t *testing.T, dir string) {
			if err := os.Remove(filepath.Join(dir, name)); err != nil {
				t.Fatal(err)
			}
		}
	}
	for name, test := range map[string]struct {
		damage func(*testing.T, string)
		want   string
	}{
		"a_byte_of_the_database": {flip("cairn.db"), "cairn.db (other bytes)"},
		"a_byte_of_a_blob":       {flip("blobs/w/1"), "blobs/w/1 (other bytes)"},
		"a_byte_of_the_manifest": {flip("manifest.jsonl"), "manifest.jsonl"},
		"a_missing_blob":         {remove("blobs/w/1"), "blobs/w/1"},
		"a_missing_manifest":     {remove("manifest.jsonl"), "not a whole backup"},
		"a_killed_backup": {func(t *testing.T, dir string) {
			if err := os.WriteFile(filepath.Join(dir, "unfinished"), []byte("backup"), 0o600); err != nil {
				t.Fatal(err)
			}
		}, "not a whole backup"},
		"a_manifest_that_is_cut_off": {func(t *testing.T, dir string) {
			path := filepath.Join(dir, "manifest.jsonl")
			b, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			lines := strings.SplitAfter(string(b), "\n")
			if err := os.WriteFile(path, []byte(strings.Join(lines[:len(lines)-2], "")), 0o600); err != nil {
				t.Fatal(err)
			}
		}, "not a whole backup"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			i := newInstance(t)
			i.write("blobs/w/1", "bytes of 1")
			dir, data := filepath.Join(t.TempDir(), "backup"), filepath.Join(t.TempDir(), "data")
			if _, err := backup.Make(t.Context(), i.stores(false), dir, "test"); err != nil {
				t.Fatal(err)
			}
			test.damage(t, dir)
			if _, err := restore(t, dir, data); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("restore gave %v, want an error with %q", err, test.want)
			}
			if _, err := os.Stat(data); !os.IsNotExist(err) {
				t.Errorf("the data folder was made: %v", err)
			}
		})
	}
}

func TestFoldersThatAreNotEmptyAreRefused(t *testing.T) {
	t.Parallel()
	i := newInstance(t)
	dir := filepath.Join(t.TempDir(), "backup")
	if _, err := backup.Make(t.Context(), i.stores(false), dir, "test"); err != nil {
		t.Fatal(err)
	}
	if _, err := backup.Make(t.Context(), i.stores(false), dir, "test"); err == nil || !strings.Contains(err.Error(), "not empty") {
		t.Errorf("a second backup into the folder gave %v", err)
	}
	if _, err := restore(t, dir, i.folder); err == nil || !strings.Contains(err.Error(), "not empty") {
		t.Errorf("a restore over an instance gave %v", err)
	}
	if _, err := backup.Verify(t.Context(), dir); err != nil {
		t.Errorf("the refusals changed the backup: %v", err)
	}
}

func TestACommandThatWasKilledIsRepeated(t *testing.T) {
	t.Parallel()
	i := newInstance(t)
	dir, data := filepath.Join(t.TempDir(), "backup"), filepath.Join(t.TempDir(), "data")
	killed := func(folder, use string) {
		t.Helper()
		for name, text := range map[string]string{"unfinished": use, "cairn.db": "half of it"} {
			if err := os.MkdirAll(folder, 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	killed(dir, "backup")
	if err := os.MkdirAll(filepath.Join(i.folder, "blobs", "small.db-frozen", "files"), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := backup.Make(t.Context(), i.stores(true), dir, "test"); err != nil {
		t.Fatal(err)
	}
	killed(data, "restore")
	if !backup.Unfinished(data) {
		t.Error("a killed restore is not seen")
	}
	if _, err := restore(t, dir, data); err != nil {
		t.Fatal(err)
	}
	if backup.Unfinished(data) {
		t.Error("an ended restore counts as unfinished")
	}
	i.number(data, "cairn.db")
}

// restore verifies a backup and writes it into a data folder.
func restore(t *testing.T, dir, data string) (backup.Result, error) {
	t.Helper()
	verified, err := backup.Verify(t.Context(), dir)
	if err != nil {
		return backup.Result{}, err
	}
	return verified.Restore(t.Context(), data)
}
