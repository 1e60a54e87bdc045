// Package postgrestest starts a PostgreSQL server for the tests of a package, and gives
// each test a database of its own.
package postgrestest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	_ "github.com/jackc/pgx/v5/stdlib" // the database/sql driver "pgx"

	"github.com/cairn-rag/cairn/internal/service"
	"github.com/cairn-rag/cairn/internal/store"
)

// server is a running PostgreSQL server.
type server struct {
	folder string // of its data and its socket
	admin  *sql.DB
	input  io.Closer // closing it ends the server
	done   chan struct{}
	mu     sync.Mutex
	last   int      // number of the newest database
	free   []string // databases that tests have given back
}

var start = sync.OnceValues(newServer)

var started *server // for Main

// Main runs the tests of a package, and then ends the server if a test needed it.
func Main(m *testing.M) int {
	code := m.Run()
	if started != nil {
		started.stop()
	}
	return code
}

// Migrated returns the URL of a database with the tables of package store, all empty.
// It is the test's alone, which must have closed its connections when its clean-up
// ends. Without PostgreSQL the test is skipped, and fails in CI.
func Migrated(t testing.TB) string {
	t.Helper()
	s := running(t)
	name, err := s.take(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.giveBack(name); err != nil {
			t.Error(err)
		}
	})
	return s.url(name)
}

// Empty returns the URL of a new database without tables, which is dropped when the
// test ends. Without PostgreSQL the test is skipped, and fails in CI.
func Empty(t testing.TB) string {
	t.Helper()
	s := running(t)
	name, err := s.create(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		// The context of the test has ended.
		if _, err := s.admin.ExecContext(context.Background(), "DROP DATABASE "+name+" WITH (FORCE)"); err != nil {
			t.Error(err)
		}
	})
	return s.url(name)
}

func running(t testing.TB) *server {
	t.Helper()
	s, err := start()
	if errors.Is(err, service.ErrMissing) && os.Getenv("CI") == "" {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// create creates a database. Two are not made at the same time.
func (s *server) create(ctx context.Context) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last++
	name := "test" + strconv.Itoa(s.last)
	_, err := s.admin.ExecContext(ctx, "CREATE DATABASE "+name+" TEMPLATE template0")
	return name, err
}

// take returns a database that an earlier test has given back, or a new one: creating
// a database takes as long as most tests.
func (s *server) take(ctx context.Context) (string, error) {
	s.mu.Lock()
	if n := len(s.free); n > 0 {
		name := s.free[n-1]
		s.free = s.free[:n-1]
		s.mu.Unlock()
		return name, nil
	}
	s.mu.Unlock()
	name, err := s.create(ctx)
	if err == nil {
		err = store.Migrate(ctx, s.url(name))
	}
	return name, err
}

// empty deletes all rows but the rows of the migrations, in whatever order.
const empty = `SET session_replication_role = replica;
DO $$ DECLARE name text; BEGIN
	FOR name IN SELECT tablename FROM pg_tables WHERE schemaname = 'public' AND tablename <> 'goose_db_version' LOOP
		EXECUTE 'DELETE FROM ' || quote_ident(name);
	END LOOP;
END $$`

// giveBack empties a database for the next test.
func (s *server) giveBack(name string) (err error) {
	ctx := context.Background() // the test's context has ended
	conn, err := pgx.Connect(ctx, s.url(name))
	if err != nil {
		return err
	}
	_, err = conn.PgConn().Exec(ctx, empty).ReadAll()
	if err = errors.Join(err, conn.Close(ctx)); err == nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.free = append(s.free, name)
	}
	return err
}

func (s *server) url(database string) string {
	u := url.URL{Scheme: "postgres", User: url.User(service.PostgresUser), Path: "/" + database, RawQuery: url.Values{"host": {s.folder}}.Encode()}
	return u.String()
}

func newServer() (*server, error) {
	programs, err := service.PostgresPrograms()
	if err != nil {
		return nil, err
	}
	s := &server{done: make(chan struct{})}
	if s.folder, err = os.MkdirTemp("", "cairn-postgres-"); err != nil {
		return nil, err
	}
	owner, err := service.PostgresOwner(s.folder)
	if err != nil {
		return nil, err
	}
	data := filepath.Join(s.folder, "data")
	initdb := exec.Command(filepath.Join(programs, "initdb"), "-D", data, "-U", service.PostgresUser, "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8", "--no-sync")
	initdb.Dir, initdb.SysProcAttr = s.folder, owner
	if output, err := initdb.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("initdb: %w: %s", err, output)
	}
	if err := s.run(filepath.Join(programs, "postgres"), data, owner); err != nil {
		return nil, err
	}
	started = s
	return s, s.prepare()
}

// run starts the server. It ends, and its folder is deleted, when this process closes
// its end of a pipe or dies.
func (s *server) run(program, data string, owner *syscall.SysProcAttr) error {
	const script = `"$1" -D "$2" -k "$3" -c listen_addresses= -c fsync=off -c full_page_writes=off -c max_connections=400 -c shared_buffers=64MB >"$3/log" 2>&1 &
read -r _; kill -QUIT $!; wait $!; rm -rf "$3"/*`
	cmd := exec.Command("/bin/sh", "-c", script, "sh", program, data, s.folder)
	cmd.Dir, cmd.SysProcAttr = s.folder, owner
	input, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return fmt.Errorf("start PostgreSQL: %w", err)
	}
	s.input = input
	go func() {
		defer close(s.done)
		_ = cmd.Wait() // it ends by a signal
	}()
	return nil
}

// prepare waits until the server takes connections.
func (s *server) prepare() error {
	// The server belongs to all tests of the process.
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	var err error
	if s.admin, err = sql.Open("pgx", s.url("postgres")); err != nil {
		return err
	}
	for err = s.admin.PingContext(ctx); err != nil; err = s.admin.PingContext(ctx) {
		select {
		case <-ctx.Done():
			log, _ := os.ReadFile(filepath.Join(s.folder, "log"))
			return fmt.Errorf("PostgreSQL does not start: %w: %s", err, log)
		case <-time.After(20 * time.Millisecond):
		}
	}
	return nil
}

func (s *server) stop() {
	_ = s.admin.Close()
	_ = s.input.Close()
	<-s.done
	_ = os.RemoveAll(s.folder)
}
