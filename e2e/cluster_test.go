package e2e_test

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/cairn-rag/cairn/internal/childserver"
	"github.com/cairn-rag/cairn/internal/client"
)

// clusterNamespace holds the workflows of the clusters of these tests. It lies on the
// Temporal server of a cairn up, whose own workers poll another namespace.
const clusterNamespace = "cluster"

// cluster is the roles of a cluster on one machine. They share a Temporal server, a
// database, an index and a folder of blobs. Each has a data folder of its own.
type cluster struct {
	t       *testing.T
	ends    childserver.Endpoints // of the Temporal server
	shared  string                // folder of the stores that are files
	env     []string
	key     string // the admin key
	program string // of the roles
}

// startCluster starts a cairn up, whose Temporal server is the server of a cluster.
func startCluster(t *testing.T, env ...string) *cluster {
	t.Helper()
	return newCluster(t, start(t).ends, env...)
}

// newCluster returns the configuration of a cluster on a Temporal server. Its stores are
// files, unless the variables name others.
func newCluster(t *testing.T, temporal childserver.Endpoints, env ...string) *cluster {
	t.Helper()
	c := &cluster{t: t, ends: temporal, shared: t.TempDir(), key: "an-admin-key-" + rand.Text(), program: binary}
	store := func(scheme, name string) string {
		return (&url.URL{Scheme: scheme, Path: filepath.Join(c.shared, name)}).String()
	}
	secret := make([]byte, 32)
	_, _ = rand.Read(secret) // never returns an error
	c.env = append([]string{
		"CAIRN_TEMPORAL__ADDRESS=" + c.ends.Temporal, "CAIRN_TEMPORAL__NAMESPACE=" + clusterNamespace,
		"CAIRN_TEMPORAL__UI_URL=" + c.ends.UI,
		"CAIRN_DATABASE__URL=" + store("sqlite", "cairn.db"), "CAIRN_VECTOR__URL=" + store("sqlite", "index.db"),
		"CAIRN_BLOB__URL=" + store("file", "blobs"),
		"CAIRN_ADMIN_KEY=" + c.key, "CAIRN_SECRET_KEY=" + base64.StdEncoding.EncodeToString(secret),
	}, env...)
	return c
}

// migrate runs cairn migrate.
func (c *cluster) migrate() {
	c.t.Helper()
	if code, out, said := command(c.t, c.env, "migrate", "--data", c.t.TempDir()); code != 0 || !strings.Contains(out, "are ready") {
		c.t.Fatalf("cairn migrate: exit code %d\n%s\n%s", code, out, said)
	}
}

// role is a process of a cluster.
type role struct {
	t    *testing.T
	cmd  *exec.Cmd
	done chan struct{}
	log  string
}

// start starts a role, which ends with the test.
func (c *cluster) start(args ...string) *role {
	c.t.Helper()
	r := &role{t: c.t, done: make(chan struct{}), log: filepath.Join(c.t.TempDir(), "log")}
	log, err := os.Create(r.log)
	if err != nil {
		c.t.Fatal(err)
	}
	defer log.Close()
	r.cmd = exec.Command(c.program, append(args, "--data", filepath.Join(c.t.TempDir(), "data"))...)
	r.cmd.Env = append(childserver.Environment(os.Environ()), c.env...)
	r.cmd.Stdout, r.cmd.Stderr = log, log
	if err := r.cmd.Start(); err != nil {
		c.t.Fatal(err)
	}
	go func() {
		defer close(r.done)
		_ = r.cmd.Wait() // ProcessState says how it ended
	}()
	c.t.Cleanup(func() {
		r.kill()
		if c.t.Failed() {
			c.t.Logf("cairn %s said:\n%s", strings.Join(args, " "), r.said())
		}
	})
	return r
}

func (r *role) said() string {
	data, err := os.ReadFile(r.log)
	if err != nil {
		return err.Error()
	}
	return string(data)
}

// ready waits until the role is ready, and returns the address in the line of its
// output with a name.
func (r *role) ready(name string) (address string) {
	r.t.Helper()
	line := regexp.MustCompile(name + ` +(http\S+)`)
	await(r.t, time.Minute, "the role is ready", func(context.Context) error {
		select {
		case <-r.done:
			r.t.Fatalf("the role has ended:\n%s", r.said())
		default:
		}
		found := line.FindStringSubmatch(r.said())
		if found == nil {
			return errors.New("it is not")
		}
		address = found[1]
		return nil
	})
	return address
}

// kill ends the role with SIGKILL, if it runs.
func (r *role) kill() {
	if err := r.cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		r.t.Error(err)
	}
	<-r.done
}

// stop ends the role with SIGTERM and checks how it ends.
func (r *role) stop() {
	r.t.Helper()
	if err := r.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		r.t.Fatal(err)
	}
	select {
	case <-r.done:
	case <-time.After(15 * time.Second):
		r.t.Fatal("the role did not end within 15 s of SIGTERM")
	}
	if code := r.cmd.ProcessState.ExitCode(); code != 0 {
		r.t.Errorf("the role ended with code %d after SIGTERM:\n%s", code, r.said())
	}
}

// api starts cairn api and returns it with a client.
func (c *cluster) api() (*role, *server) {
	c.t.Helper()
	r := c.start("api", "--listen", "127.0.0.1:0")
	return r, c.client(r.ready("API"))
}

// worker starts cairn worker, and returns it with a client for its health.
func (c *cluster) worker(args ...string) (*role, *server) {
	c.t.Helper()
	r := c.start(append([]string{"worker", "--health-listen", "127.0.0.1:0"}, args...)...)
	return r, c.client(strings.TrimSuffix(r.ready("Health"), "/readyz"))
}

// client returns a client of a role at an address.
func (c *cluster) client(address string) *server {
	c.t.Helper()
	api, err := client.New(client.Config{URL: address, Key: c.key})
	if err != nil {
		c.t.Fatal(err)
	}
	s := &server{Client: api, t: c.t, folder: c.shared, key: c.key, ends: c.ends, namespace: clusterNamespace}
	s.ends.API = address
	return s
}
