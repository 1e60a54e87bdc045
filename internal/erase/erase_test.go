package erase_test

import (
	"bytes"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	_ "modernc.org/sqlite"

	"github.com/cairn-rag/cairn/internal/erase"
)

const secret = "quokka"

// database is an SQLite file with a table of texts.
type database struct {
	*sql.DB
	file *erase.File
	path string
	t    *testing.T
}

func create(t *testing.T, path string) database {
	t.Helper()
	if file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600); err != nil || file.Close() != nil {
		t.Fatal(err)
	}
	if err := erase.Prepare(t.Context(), path, 0); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", "file:"+path+"?_txlock=immediate&_pragma=journal_mode(WAL)&_pragma=secure_delete(ON)&_pragma=synchronous(OFF)&_pragma=busy_timeout(10)")
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	d := database{DB: db, file: erase.New(db, path), path: path, t: t}
	t.Cleanup(func() {
		d.file.Close()
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	d.write("CREATE TABLE IF NOT EXISTS texts (key INTEGER PRIMARY KEY, text TEXT)")
	return d
}

// write runs one statement in a transaction.
func (d database) write(statement string, values ...any) {
	d.t.Helper()
	tx, err := d.Begin()
	if err != nil {
		d.t.Fatal(err)
	}
	d.file.NoteWritten()
	if _, err := tx.Exec(statement, values...); err != nil {
		d.t.Fatal(err)
	}
	if err := tx.Commit(); err != nil {
		d.t.Fatal(err)
	}
}

// fill inserts secret and other rows of many lengths in random order, so that full
// pages are divided.
// randomNumbers returns numbers that a test can repeat, and logs their seed.
func randomNumbers(t testing.TB, seed uint64) *rand.Rand {
	t.Helper()
	t.Logf("seed %d", seed)
	return rand.New(rand.NewPCG(seed, 1))
}

func (d database) fill(random *rand.Rand) {
	for _, key := range random.Perm(600) {
		text := strings.Repeat("stays ", 1+random.IntN(300))
		if key%2 == 0 {
			text = strings.Repeat(secret+" ", 1+random.IntN(300))
		}
		d.write("INSERT INTO texts VALUES (?, ?)", key, text)
	}
}

func (d database) removeSecrets() { d.write("DELETE FROM texts WHERE key % 2 = 0") }

func (d database) erase() {
	d.t.Helper()
	if err := d.file.Erase(d.t.Context()); err != nil {
		d.t.Fatal(err)
	}
}

// leftIn returns the files of the database in which the secret stands.
func (d database) leftIn() []string {
	d.t.Helper()
	paths, err := filepath.Glob(d.path + "*")
	if err != nil {
		d.t.Fatal(err)
	}
	var found []string
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			d.t.Fatal(err)
		}
		if n := bytes.Count(data, []byte(secret)); n > 0 {
			found = append(found, fmt.Sprintf("%d in %s", n, filepath.Base(path)))
		}
	}
	return found
}

func (d database) wantRows(want int) {
	d.t.Helper()
	var rows int
	var check string
	if err := d.QueryRow("SELECT count(*) FROM texts WHERE text LIKE 'stays %'").Scan(&rows); err != nil || rows != want {
		d.t.Errorf("%d rows are left, %v, want %d", rows, err, want)
	}
	if err := d.QueryRow("PRAGMA integrity_check").Scan(&check); err != nil || check != "ok" {
		d.t.Errorf("integrity check: %s, %v", check, err)
	}
}

func TestErase(t *testing.T) {
	t.Parallel()
	leftWithout := 0
	for seed := range uint64(6) {
		random := randomNumbers(t, seed)
		d := create(t, filepath.Join(t.TempDir(), "a.db"))
		d.erase() // from now on only pages that were written are looked at
		d.fill(random)
		d.removeSecrets()
		d.file.NoteWritten()
		if _, err := d.Exec("PRAGMA wal_checkpoint(TRUNCATE)"); err != nil {
			t.Fatal(err)
		}
		if len(d.leftIn()) > 0 {
			leftWithout++
		}
		d.erase()
		if left := d.leftIn(); len(left) > 0 {
			t.Errorf("seed %d: the removed text stands in %v", seed, left)
		}
		d.wantRows(300)
	}
	t.Logf("without Erase the text is left in %d of 6 files", leftWithout)
	if leftWithout == 0 {
		t.Error("an empty log was always enough, so this proves nothing")
	}
}

func TestEraseAfterARestart(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a.db")
	d := create(t, path)
	d.fill(randomNumbers(t, 3))
	d.removeSecrets()
	restarted := create(t, path)
	restarted.erase()
	if left := d.leftIn(); len(left) > 0 {
		t.Errorf("the removed text stands in %v", left)
	}
	d.wantRows(300)
}

func TestEraseBesideAnotherProcess(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a.db")
	d := create(t, path)
	d.erase()
	other := create(t, path)
	other.fill(randomNumbers(t, 4))
	d.removeSecrets()
	d.erase()
	if left := d.leftIn(); len(left) > 0 {
		t.Errorf("the removed text stands in %v", left)
	}
	d.wantRows(300)
}

func TestEraseWhileSomebodyReads(t *testing.T) {
	t.Parallel()
	d := create(t, filepath.Join(t.TempDir(), "a.db"))
	d.fill(randomNumbers(t, 5))
	reader, err := sql.Open("sqlite", "file:"+d.path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := reader.Close(); err != nil {
			t.Error(err)
		}
	})
	snapshot, err := reader.Begin()
	if err != nil {
		t.Fatal(err)
	}
	var rows int
	if err := snapshot.QueryRow("SELECT count(*) FROM texts").Scan(&rows); err != nil {
		t.Fatal(err)
	}
	d.removeSecrets()
	if err := d.file.Erase(t.Context()); !errors.Is(err, erase.ErrBusy) {
		t.Errorf("got %v while the rows are being read, want ErrBusy", err)
	}
	if err := snapshot.Rollback(); err != nil {
		t.Fatal(err)
	}
	d.erase()
	if left := d.leftIn(); len(left) > 0 {
		t.Errorf("the removed text stands in %v", left)
	}
}
