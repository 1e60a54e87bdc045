package instance_test

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/blob"
	"github.com/cairn-rag/cairn/internal/instance"
	"github.com/cairn-rag/cairn/internal/store"
	"github.com/cairn-rag/cairn/internal/store/postgrestest"
)

func TestMain(m *testing.M) { os.Exit(postgrestest.Main(m)) }

// stores is an instance at rest.
type stores struct {
	rows  *store.Store
	blobs *blob.Store
	path  string // of the SQLite file, "" = PostgreSQL
}

const key = "a key"

func openStores(t *testing.T, databaseURL, blobsURL string) stores {
	t.Helper()
	s := stores{}
	var err error
	if databaseURL == "" {
		s.path = filepath.Join(t.TempDir(), "cairn.db")
		databaseURL = "sqlite://" + (&url.URL{Path: s.path}).EscapedPath()
	}
	if s.rows, err = store.Open(t.Context(), store.Config{URL: databaseURL}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.rows.Close() })
	if blobsURL == "" {
		blobsURL = "file://" + t.TempDir()
	}
	if s.blobs, err = blob.Open(t.Context(), blobsURL); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.blobs.Close() })
	return s
}

func (s stores) target(t *testing.T) instance.Target {
	t.Helper()
	return instance.Target{Rows: s.rows, Blobs: s.blobs, Schema: schema(t), SecretKey: key}
}

func schema(t *testing.T) int64 {
	t.Helper()
	n, err := store.SchemaVersion()
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func header(t *testing.T) instance.Header {
	t.Helper()
	return instance.Header{Cairn: "test", Schema: schema(t), Instance: "one", SecretKey: key}
}

// fill puts rows into every table of a new SQLite database, and blobs beside them. Every
// text of row n is "tn", every number n, so that the rows refer to each other.
func (s stores) fill(t *testing.T, rows int) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+s.path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	var tables []store.Table
	if err := s.rows.ReadAll(t.Context(), func(m *store.Move) error { tables = m.Tables(); return nil }); err != nil {
		t.Fatal(err)
	}
	for _, table := range tables {
		for n := 1; n <= rows; n++ {
			s.insert(t, db, table, n)
		}
	}
	if _, err := db.Exec(`UPDATE workspaces SET name = 'naïve ''quoted'' \ "€" 😀 ' || char(10) WHERE id = 't1'`); err != nil {
		t.Fatal(err)
	}
	for n := 1; n <= rows; n++ {
		s.put(t, fmt.Sprintf("t%d", n), fmt.Sprint("the original of ", n))
	}
	s.put(t, "w/large", strings.Repeat("0123456789abcdef", 200_000)) // several frames, and a file
	s.put(t, "w/empty", "")
	s.put(t, "cairn-instance/name", "the store's own")
}

func (s stores) put(t *testing.T, key, text string) {
	t.Helper()
	if _, err := s.blobs.Put(t.Context(), key, []byte(text)); err != nil {
		t.Fatal(err)
	}
}

func (s stores) insert(t *testing.T, db *sql.DB, table store.Table, n int) {
	t.Helper()
	var values []any
	for _, column := range table.Columns {
		var kind string
		if err := db.QueryRow("SELECT type FROM pragma_table_info(?) WHERE name = ?", table.Name, column).Scan(&kind); err != nil {
			t.Fatal(err)
		}
		switch kind {
		case "TEXT":
			values = append(values, fmt.Sprintf("t%d", n))
		case "BIGINT", "INTEGER":
			values = append(values, n)
		case "BOOLEAN":
			values = append(values, n%2 == 1)
		case "DOUBLE PRECISION":
			values = append(values, float64(n)+0.1)
		case "BLOB":
			values = append(values, []byte{0, 0xff, byte(n)})
		default:
			t.Fatalf("%s.%s is a %s: the export has to know it", table.Name, column, kind)
		}
	}
	marks := strings.Repeat(", ?", len(values))[2:]
	if _, err := db.Exec(`INSERT INTO `+table.Name+` ("`+strings.Join(table.Columns, `", "`)+`") VALUES (`+marks+`)`, values...); err != nil {
		t.Fatalf("fill %s: %v", table.Name, err)
	}
}

func (s stores) export(t *testing.T) (instance.Summary, []byte) {
	t.Helper()
	var out bytes.Buffer
	sum, err := instance.Export(t.Context(), s.rows, s.blobs, header(t), &out)
	if err != nil {
		t.Fatal(err)
	}
	return sum, out.Bytes()
}

func (s stores) load(t *testing.T, export []byte) instance.Result {
	t.Helper()
	r, err := instance.Import(t.Context(), bytes.NewReader(export), s.target(t))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// wantSame compares two exports but for the order in which they name things.
func wantSame(t *testing.T, got, want instance.Summary) {
	t.Helper()
	got.Chain, want.Chain = "", ""
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the instances differ (-want +got):\n%s", diff)
	}
}

func TestRoundTrip(t *testing.T) {
	t.Parallel()
	const rows = 13
	first := openStores(t, "", "")
	first.fill(t, rows)
	want, export := first.export(t)
	for name, table := range want.Tables {
		if table.Rows != rows {
			t.Errorf("table %s has %d rows: it is not tried", name, table.Rows)
		}
	}
	t.Run("sqlite_to_sqlite", func(t *testing.T) {
		t.Parallel()
		second := openStores(t, "", "mem://")
		if r := second.load(t, export); r.Opened != 10 || r.Skipped != 0 {
			t.Errorf("the import opened %d documents and skipped %d blobs", r.Opened, r.Skipped)
		}
		got, _ := second.export(t)
		wantSame(t, got, want)
	})
	t.Run("sqlite_to_postgres_and_back", func(t *testing.T) {
		t.Parallel()
		second := openStores(t, postgrestest.Migrated(t), "mem://")
		second.load(t, export)
		got, again := second.export(t)
		wantSame(t, got, want)
		third := openStores(t, "", "")
		third.load(t, again)
		got, _ = third.export(t)
		wantSame(t, got, want)
		data, err := third.blobs.Get(t.Context(), "w/large")
		if err != nil || string(data) != strings.Repeat("0123456789abcdef", 200_000) {
			t.Errorf("the large blob came back with %d bytes, %v", len(data), err)
		}
		_ = second.rows.Close() // before the database is given back
	})
}

func TestAnExportThatWasInterruptedResumes(t *testing.T) {
	t.Parallel()
	for _, part := range []float64{0, 0.01, 0.3, 0.7, 0.95, 0.999} {
		t.Run(fmt.Sprint(part), func(t *testing.T) {
			t.Parallel()
			s := openStores(t, "", "")
			s.fill(t, 3)
			path := filepath.Join(t.TempDir(), "export")
			_, whole := s.export(t)
			if err := os.WriteFile(path+".partial", whole[:int(float64(len(whole))*part)], 0o600); err != nil {
				t.Fatal(err)
			}
			s.put(t, "w/new", "came later")
			s.put(t, "t2", "another original, of another length")
			if err := s.blobs.Delete(t.Context(), "w/empty"); err != nil {
				t.Fatal(err)
			}
			want, _ := s.export(t)
			got, err := instance.ExportFile(t.Context(), s.rows, s.blobs, header(t), path)
			if err != nil {
				t.Fatal(err)
			}
			wantSame(t, got, want)
			export, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			other := openStores(t, "", "mem://")
			other.load(t, export)
			got, _ = other.export(t)
			wantSame(t, got, want)
			if text, err := other.blobs.Get(t.Context(), "t2"); err != nil || !strings.HasPrefix(string(text), "another") {
				t.Errorf("a blob that changed is %q, %v", text, err)
			}
			if _, err := instance.ExportFile(t.Context(), s.rows, s.blobs, header(t), path); err == nil {
				t.Error("a whole export was written over")
			}
		})
	}
}

func TestAnImportThatWasInterruptedResumes(t *testing.T) {
	t.Parallel()
	s := openStores(t, "", "")
	s.fill(t, 3)
	want, export := s.export(t)
	other := openStores(t, "", "")
	for _, part := range []float64{0.5, 0.9, 0.9999} {
		cut := export[:int(float64(len(export))*part)]
		_, err := instance.Import(t.Context(), bytes.NewReader(cut), other.target(t))
		if err == nil || !strings.Contains(err.Error(), "not whole") {
			t.Errorf("%v of the export: got %v", part, err)
		}
		wantNoRows(t, other)
	}
	ctx, cancel := context.WithCancel(t.Context())
	_, err := instance.Import(ctx, io.MultiReader(bytes.NewReader(export[:len(export)/2]), after(cancel), bytes.NewReader(export[len(export)/2:])), other.target(t))
	if !errors.Is(err, context.Canceled) {
		t.Errorf("an import that was stopped: %v", err)
	}
	if r := other.load(t, export); r.Skipped == 0 {
		t.Error("every blob was written again")
	}
	got, _ := other.export(t)
	wantSame(t, got, want)
	if _, err := instance.Import(t.Context(), bytes.NewReader(export), other.target(t)); err == nil || !strings.Contains(err.Error(), "not empty") {
		t.Errorf("an import over an instance: %v", err)
	}
}

// after is a reader without bytes that calls something when it is read.
type after func()

// Read implements io.Reader.
func (a after) Read([]byte) (int, error) { a(); return 0, io.EOF }

func wantNoRows(t *testing.T, s stores) {
	t.Helper()
	if err := s.rows.WriteAll(t.Context(), func(*store.Move) error { return nil }); err != nil {
		t.Errorf("rows were committed: %v", err)
	}
}

func TestAByteThatChangedIsFound(t *testing.T) {
	t.Parallel()
	s := openStores(t, "", "")
	s.fill(t, 3)
	_, export := s.export(t)
	for i := range 60 {
		at := i * (len(export) - 1) / 59
		damaged := bytes.Clone(export)
		damaged[at] ^= 1 << (i % 8)
		other := openStores(t, "", "mem://")
		if _, err := instance.Import(t.Context(), bytes.NewReader(damaged), other.target(t)); err == nil {
			t.Errorf("byte %d of %d was not missed", at, len(export))
		}
		wantNoRows(t, other)
	}
	for text, in := range map[string]string{"the original of 2": "blob t2", "naïve": "table workspaces", "0123456789abcdef": "blob w/large"} {
		damaged := bytes.Replace(export, []byte(text), []byte(strings.ToUpper(text[:1])+"?"+text[2:]), 1)
		_, err := instance.Import(t.Context(), bytes.NewReader(damaged), openStores(t, "", "mem://").target(t))
		damage, ok := errors.AsType[instance.DamageError](err)
		if !ok || damage.In != in {
			t.Errorf("a byte of %q: got %v, want it in %s", text, err, in)
		}
	}
}

func TestImportRefuses(t *testing.T) {
	t.Parallel()
	s := openStores(t, "", "")
	s.fill(t, 1)
	_, export := s.export(t)
	for name, test := range map[string]struct {
		change func(*instance.Target)
		want   string
	}{
		"another_key":     {func(to *instance.Target) { to.SecretKey = "another" }, "secret.key"},
		"another_version": {func(to *instance.Target) { to.Schema++ }, "same version"},
		"blobs":           {func(to *instance.Target) { _, _ = to.Blobs.Put(t.Context(), "w/x", []byte("x")) }, "not empty"},
	} {
		to := openStores(t, "", "mem://").target(t)
		test.change(&to)
		if _, err := instance.Import(t.Context(), bytes.NewReader(export), to); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: got %v, want %q", name, err, test.want)
		}
	}
}
