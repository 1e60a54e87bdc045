package e2e_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/cairn-rag/cairn/internal/client"
	"github.com/cairn-rag/cairn/internal/model/modeltest"
)

// startLimit bounds how long a start may take on a busy machine.
const startLimit = 60 * time.Second

// server is cairn up as a child process on a data folder of its own.
type server struct {
	*client.Client
	t      *testing.T
	folder string // the data folder
	log    string // file with what the process wrote
	env    []string
	ends   endpoints
	key    string
	child  *exec.Cmd
	died   chan struct{} // closed when the process has ended
}

// endpoints is what a running server tells about itself.
type endpoints struct {
	API      string `json:"api"`
	UI       string `json:"ui"`
	Temporal string `json:"temporal"`
	KeyFile  string `json:"key_file"`
	PID      int    `json:"pid"`
}

// start starts a server with the given variables ("NAME=value") and returns
// when it is ready. It ends with the test.
func start(t *testing.T, env ...string) *server {
	t.Helper()
	return startIn(t, filepath.Join(t.TempDir(), "data"), env...)
}

// startIn starts a server on a data folder.
func startIn(t *testing.T, folder string, env ...string) *server {
	t.Helper()
	s := &server{t: t, folder: folder, log: filepath.Join(t.TempDir(), "log"), env: env}
	slots <- struct{}{}
	t.Cleanup(func() {
		s.end()
		<-slots
		if t.Failed() {
			t.Logf("the server's last lines:\n%s", s.lastWords())
		}
	})
	s.boot()
	return s
}

// at gives the variables that point a server at a stand-in model.
func at(url string, more ...string) []string {
	var env []string
	for _, kind := range []string{"CHAT", "EMBEDDING"} {
		env = append(env, "CAIRN_MODELS__"+kind+"__BASE_URL="+url, "CAIRN_MODELS__"+kind+"__MODEL="+modeltest.ModelName)
	}
	return append(env, more...)
}

// standIn starts a stand-in model that ends with the test.
func standIn(t *testing.T, options modeltest.Options) *modeltest.Server {
	t.Helper()
	m := modeltest.New(options)
	t.Cleanup(m.Close)
	return m
}

// boot starts the process on its folder: on free ports the first time, and on
// the same ones from then on.
func (s *server) boot() {
	s.t.Helper()
	log, err := os.OpenFile(s.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		s.t.Fatal(err)
	}
	defer log.Close()
	child := exec.Command(binary, "up", "--data", s.folder, "--listen", address(s.ends.API),
		"--temporal-listen", address(s.ends.Temporal), "--ui-listen", address(s.ends.UI))
	child.Env = append(environment(), s.env...)
	child.Stdout, child.Stderr = log, log
	if err := child.Start(); err != nil {
		s.t.Fatal(err)
	}
	died := make(chan struct{})
	go func() {
		defer close(died)
		_ = child.Wait() // how it ended is in ProcessState
	}()
	s.child, s.died = child, died
	s.awaitReady()
}

// address is what to listen on: a free port, or where the server was before.
func address(before string) string {
	if before == "" {
		return "127.0.0.1:0"
	}
	if _, host, found := strings.Cut(before, "://"); found {
		return strings.TrimRight(host, "/")
	}
	return before
}

// environment is the test's own, without what would configure the server.
func environment() []string {
	var kept []string
	for _, variable := range os.Environ() {
		name, _, _ := strings.Cut(variable, "=")
		if !strings.HasPrefix(name, "CAIRN_") && !strings.HasPrefix(name, "TEMPORAL_") && name != "OPENAI_API_KEY" {
			kept = append(kept, variable)
		}
	}
	return kept
}

func (s *server) awaitReady() {
	s.t.Helper()
	await(s.t, startLimit, "the server is ready", func(ctx context.Context) error {
		select {
		case <-s.died:
			s.t.Fatalf("the server ended while it was starting:\n%s", s.lastWords())
		default:
		}
		data, err := os.ReadFile(filepath.Join(s.folder, "endpoints.json"))
		if err != nil {
			return err
		}
		var ends endpoints
		if err := json.Unmarshal(data, &ends); err != nil {
			return err
		}
		if ends.PID != s.child.Process.Pid {
			return fmt.Errorf("endpoints.json is still that of process %d", ends.PID)
		}
		key, err := os.ReadFile(ends.KeyFile)
		if err != nil {
			return err
		}
		s.ends, s.key = ends, strings.TrimSpace(string(key))
		if s.Client, err = client.New(client.Config{URL: ends.API, Key: s.key}); err != nil {
			return err
		}
		return s.Ready(ctx)
	})
}

// kill ends the process alone with SIGKILL, and returns when it and the parsers
// that it had started are gone.
func (s *server) kill() {
	s.t.Helper()
	parsers := s.parsers()
	if err := s.child.Process.Kill(); err != nil {
		s.t.Fatalf("kill the server: %v", err)
	}
	<-s.died
	await(s.t, 10*time.Second, "the killed server's parsers end", func(context.Context) error {
		for _, pid := range parsers {
			if !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) && !isZombie(pid) {
				return fmt.Errorf("process %d lives", pid)
			}
		}
		return nil
	})
}

// restart starts the process again, on the same folder and ports.
func (s *server) restart() {
	s.t.Helper()
	s.boot()
}

// stop ends the process with SIGTERM and checks that it goes well and in time.
func (s *server) stop() {
	s.t.Helper()
	if err := s.child.Process.Signal(syscall.SIGTERM); err != nil {
		s.t.Fatalf("stop the server: %v", err)
	}
	select {
	case <-s.died:
	case <-time.After(12 * time.Second):
		s.t.Fatal("the server did not end within 12 s of SIGTERM")
	}
	if code := s.child.ProcessState.ExitCode(); code != 0 {
		s.t.Errorf("the server ended with %d after SIGTERM, want 0", code)
	}
}

func (s *server) end() {
	if s.child == nil {
		return
	}
	_ = s.child.Process.Kill() // it may have ended already
	<-s.died
}

// parsers are the processes that the server has started; none where the system
// does not tell.
func (s *server) parsers() []int {
	lists, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", s.child.Process.Pid))
	if err != nil {
		s.t.Fatal(err)
	}
	var pids []int
	for _, list := range lists {
		data, err := os.ReadFile(list)
		if err != nil {
			continue // the thread has ended
		}
		for _, field := range strings.Fields(string(data)) {
			if pid, err := strconv.Atoi(field); err == nil {
				pids = append(pids, pid)
			}
		}
	}
	return pids
}

// isZombie reports whether a process is dead and only waits to be collected,
// which is the business of whoever inherited it.
func isZombie(pid int) bool {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return true
	}
	_, rest, _ := strings.Cut(string(data), ") ")
	return strings.HasPrefix(rest, "Z") || strings.HasPrefix(rest, "X")
}

// lastWords are the last lines of the server's log.
func (s *server) lastWords() string {
	data, err := os.ReadFile(s.log)
	if err != nil {
		return err.Error()
	}
	lines := strings.SplitAfter(string(data), "\n")
	return strings.Join(lines[max(0, len(lines)-30):], "")
}

// await asks again and again until check gives nil; what says what is waited
// for.
func await(t *testing.T, limit time.Duration, what string, check func(context.Context) error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	ticker := time.NewTicker(20 * time.Millisecond)
	defer ticker.Stop()
	for {
		err := check(ctx)
		if err == nil {
			return
		}
		select {
		case <-ctx.Done():
			t.Fatalf("waited %v until %s: %v", limit, what, err)
		case <-ticker.C:
		}
	}
}
