package milvus_test

import (
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"
)

// startTimeout bounds the start of a server.
const startTimeout = 60 * time.Second

// server is a Milvus server that the tests started.
type server struct {
	program string
	data    string
	port    string
	run     func(s *server) *exec.Cmd // nil = runLight
	command *exec.Cmd
	ended   chan struct{}
}

// core starts Milvus's C++ core, which has neither partition keys nor HNSW, on a free
// port. The test is skipped if it is not installed, but fails in CI.
func core(t testing.TB) *server {
	t.Helper()
	s := &server{program: installed(t, "milvus-core/milvus_lite/lib/milvus"), data: t.TempDir(), port: freePort(t), run: runCore}
	s.start(t)
	t.Cleanup(func() { s.stop(t) })
	return s
}

func runCore(s *server) *exec.Cmd {
	c := exec.Command(s.program, filepath.Join(s.data, "core.db"), s.address(), "ERROR")
	c.Env = append(os.Environ(), "LD_LIBRARY_PATH="+filepath.Dir(s.program))
	return c
}

func runLight(s *server) *exec.Cmd {
	return exec.Command(s.program, "server", "--data-dir", s.data, "--host", "127.0.0.1", "--port", s.port)
}

// light starts Milvus's light server, which has the whole schema, on a free port.
// The test is skipped if it is not installed, but fails in CI.
func light(t testing.TB) *server {
	t.Helper()
	s := &server{program: installed(t, "milvus-lite/bin/milvus-lite"), data: t.TempDir(), port: freePort(t)}
	s.start(t)
	t.Cleanup(func() { s.stop(t) })
	return s
}

var (
	sharedLight *server
	startShared sync.Mutex
)

// shared returns a light server for all tests of the package, each of which uses
// collections of its own.
func shared(t testing.TB) *server {
	t.Helper()
	startShared.Lock()
	defer startShared.Unlock()
	if sharedLight == nil {
		data, err := os.MkdirTemp("", "milvus")
		if err != nil {
			t.Fatal(err)
		}
		s := &server{program: installed(t, "milvus-lite/bin/milvus-lite"), data: data, port: freePort(t)}
		s.start(t)
		sharedLight = s
	}
	return sharedLight
}

func TestMain(m *testing.M) {
	code := m.Run()
	if sharedLight != nil {
		_ = sharedLight.command.Process.Kill() // it may have ended
		<-sharedLight.ended
		_ = os.RemoveAll(sharedLight.data)
	}
	os.Exit(code)
}

func (s *server) address() string { return "127.0.0.1:" + s.port }

func (s *server) start(t testing.TB) {
	t.Helper()
	run := s.run
	if run == nil {
		run = runLight
	}
	s.command = run(s)
	s.command.Dir = s.data
	if testing.Verbose() {
		s.command.Stderr = os.Stderr
	}
	if err := s.command.Start(); err != nil {
		t.Fatal(err)
	}
	s.ended = make(chan struct{})
	go func() {
		defer close(s.ended)
		_ = s.command.Wait() // it is stopped in the end
	}()
	for until := time.Now().Add(startTimeout); time.Now().Before(until); {
		if c, err := net.Dial("tcp", s.address()); err == nil {
			_ = c.Close()
			return
		}
		select {
		case <-s.ended:
			t.Fatalf("%s ended at its start", s.program)
		case <-time.After(20 * time.Millisecond):
		}
	}
	t.Fatalf("%s does not answer", s.program)
}

// stop ends the server, so that nothing is lost, and waits for its end.
func (s *server) stop(t testing.TB) {
	t.Helper()
	if err := s.command.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		t.Error(err)
	}
	select {
	case <-s.ended:
	case <-time.After(startTimeout):
		_ = s.command.Process.Kill() // it did not end by itself
		<-s.ended
	}
}

// installed returns the path of a program below bin/tools.
func installed(t testing.TB, name string) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join("..", "..", "..", "bin", "tools", filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); err != nil {
		const reason = "this test needs Milvus's light server; install it with .ci/stand-ins"
		if os.Getenv("CI") != "" {
			t.Fatal(reason)
		}
		t.Skip(reason)
	}
	return path
}

// freePort returns a port that nothing listens on: a server on a taken port says
// that it has started.
func freePort(t testing.TB) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return strconv.Itoa(listener.Addr().(*net.TCPAddr).Port)
}
