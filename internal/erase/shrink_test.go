package erase_test

import (
	"database/sql"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/cairn-rag/cairn/internal/erase"
)

// bytesOf returns the sizes of a database's file and of its log.
func (d database) bytesOf() (file, log int64) {
	d.t.Helper()
	info, err := os.Stat(d.path)
	if err != nil {
		d.t.Fatal(err)
	}
	if rest, err := os.Stat(d.path + "-wal"); err == nil {
		log = rest.Size()
	}
	return info.Size(), log
}

// awaitSize waits until the log is empty and the file has at most a number of bytes.
func (d database) awaitSize(most int64) {
	d.t.Helper()
	for end := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		file, log := d.bytesOf()
		if file <= most && log == 0 {
			return
		}
		if time.Now().After(end) {
			d.t.Fatalf("the file has %d bytes and its log %d, want at most %d and 0", file, log, most)
		}
	}
}

func TestAFileShrinksAtRest(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a b.db")
	d := create(t, path)
	random := randomNumbers(t, 1)
	for range 3 {
		d.fill(random)
		if file, log := d.bytesOf(); file+log < 2<<20 {
			t.Fatalf("%d bytes were written, which proves nothing", file+log)
		}
		d.write("DELETE FROM texts")
		d.erase()
		d.awaitSize(1<<20 + 64<<10)
	}
	d.fill(random)
	d.removeSecrets()
	d.erase()
	if left := d.leftIn(); len(left) > 0 {
		t.Errorf("the removed text stands in %v", left)
	}
	d.wantRows(300)
}

// TestErasePointerMaps erases in a file of so many pages that pointer maps are among
// them, whose bytes an erasure must not take for free space.
func TestErasePointerMaps(t *testing.T) {
	t.Parallel()
	d := create(t, filepath.Join(t.TempDir(), "a.db"))
	if _, err := d.Exec("PRAGMA wal_autocheckpoint = 0"); err != nil {
		t.Fatal(err)
	}
	random := randomNumbers(t, 2)
	d.fill(random)
	d.write("CREATE TABLE more AS WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000) SELECT i, randomblob(3000) AS bytes FROM n")
	for range 3 {
		d.removeSecrets()
		d.erase()
		d.wantRows(300)
		d.write("DELETE FROM more WHERE i % 3 = 0")
		d.erase()
		if _, err := d.Exec("PRAGMA incremental_vacuum(500)"); err != nil {
			t.Fatal(err)
		}
		d.wantRows(300)
	}
}

func TestPrepareRebuildsAnOlderFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a.db")
	old, err := sql.Open("sqlite", "file:"+path+"?_pragma=journal_mode(WAL)")
	if err != nil {
		t.Fatal(err)
	}
	for _, statement := range []string{
		"CREATE TABLE texts (key INTEGER PRIMARY KEY, text TEXT)",
		"WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000) INSERT INTO texts SELECT i, 'stays ' || hex(randomblob(500)) FROM n",
	} {
		if _, err := old.Exec(statement); err != nil {
			t.Fatal(err)
		}
	}
	if err := old.Close(); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := erase.Prepare(t.Context(), path, 0); err != nil {
			t.Fatal(err)
		}
	}
	d := create(t, path)
	d.wantRows(3000)
	d.write("DELETE FROM texts WHERE key > 10")
	d.awaitSize(1<<20 + 64<<10)
	d.wantRows(10)
}
