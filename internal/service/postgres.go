package service

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"

	"github.com/jackc/pgx/v5"
)

// PostgresUser is the name under which all connect to PostgreSQL, without a password.
const PostgresUser = "cairn"

// Postgres returns a PostgreSQL server with an empty database directory. The settings are
// "name=value". Without PostgreSQL on this machine the error is ErrMissing.
func Postgres(settings ...string) (*Process, error) {
	programs, err := PostgresPrograms()
	if err != nil {
		return nil, err
	}
	p, err := newProcess("postgres", filepath.Join(programs, "postgres"))
	if err != nil {
		return nil, err
	}
	if p.owner, err = PostgresOwner(p.folder); err != nil {
		return nil, err
	}
	p.ready = func(ctx context.Context) error {
		conn, err := pgx.Connect(ctx, p.PostgresURL("postgres"))
		if err != nil {
			return err
		}
		return conn.Close(ctx)
	}
	data := filepath.Join(p.folder, "data")
	initdb := exec.Command(filepath.Join(programs, "initdb"), "-D", data, "-U", PostgresUser, "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8", "--no-sync")
	initdb.Dir, initdb.SysProcAttr = p.folder, p.owner
	if output, err := initdb.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("initdb: %w: %s", err, output)
	}
	p.args = []string{"-D", data, "-k", p.folder, "-p", p.port(), "-c", "listen_addresses=127.0.0.1"}
	for _, setting := range settings {
		p.args = append(p.args, "-c", setting)
	}
	return p, nil
}

// PostgresURL returns the URL of a database of a PostgreSQL server.
func (p *Process) PostgresURL(database string) string {
	u := url.URL{Scheme: "postgres", User: url.User(PostgresUser), Host: p.Address, Path: "/" + database, RawQuery: "sslmode=disable"}
	return u.String()
}

// CreateDatabase creates an empty database of a PostgreSQL server.
func (p *Process) CreateDatabase(ctx context.Context, name string) error {
	conn, err := pgx.Connect(ctx, p.PostgresURL("postgres"))
	if err != nil {
		return err
	}
	_, err = conn.Exec(ctx, "CREATE DATABASE "+pgx.Identifier{name}.Sanitize()+" TEMPLATE template0")
	return errors.Join(err, conn.Close(ctx))
}

// DatabaseBytes returns the sizes of all databases of a PostgreSQL server, by name.
func (p *Process) DatabaseBytes(ctx context.Context) (sizes map[string]int64, err error) {
	conn, err := pgx.Connect(ctx, p.PostgresURL("postgres"))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, conn.Close(ctx)) }()
	rows, err := conn.Query(ctx, "SELECT datname, pg_database_size(datname) FROM pg_database")
	if err != nil {
		return nil, err
	}
	sizes = map[string]int64{}
	var name string
	var size int64
	_, err = pgx.ForEachRow(rows, []any{&name, &size}, func() error { sizes[name] = size; return nil })
	return sizes, err
}

// PostgresPrograms returns the folder with initdb and postgres.
func PostgresPrograms() (string, error) {
	if path, err := exec.LookPath("initdb"); err == nil {
		if path, err = filepath.EvalSymlinks(path); err == nil {
			return filepath.Dir(path), nil
		}
	}
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin") // where Debian puts them
	if err != nil || len(found) == 0 {
		return "", missing("PostgreSQL", "apt-get install postgresql")
	}
	return found[len(found)-1], nil
}

// PostgresOwner returns how to run PostgreSQL, which refuses to run as root, and gives a
// folder to the account that runs it.
func PostgresOwner(folder string) (*syscall.SysProcAttr, error) {
	if os.Getuid() != 0 {
		return nil, nil
	}
	account, err := user.Lookup("nobody")
	if err != nil {
		return nil, err
	}
	uid, uidErr := strconv.ParseUint(account.Uid, 10, 32)
	gid, gidErr := strconv.ParseUint(account.Gid, 10, 32)
	if err := errors.Join(uidErr, gidErr, os.Chown(folder, int(uid), int(gid))); err != nil {
		return nil, err
	}
	return &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}, nil
}
