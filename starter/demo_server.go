package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/cairn-rag/cairn/internal/client"
)

// demoStart bounds how long a start may take on a busy machine.
const demoStart = 25 * time.Second

// demoServer is cairn up as a child process on a folder of its own. The first
// start takes free ports, and the later ones the same again.
type demoServer struct {
	folder string
	ends   endpoints
	child  *exec.Cmd
	died   chan struct{} // closed when the child has ended
}

// start starts the child and returns when it is ready.
func (s *demoServer) start(ctx context.Context) error {
	program, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find this program: %w", err)
	}
	log, err := os.OpenFile(s.logPath(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("start the server: %w", err)
	}
	defer log.Close()
	child := exec.Command(program, "up", "--data", s.folder, "--listen", address(s.ends.API),
		"--temporal-listen", address(s.ends.Temporal), "--ui-listen", address(s.ends.UI))
	child.Stdout, child.Stderr = log, log
	child.Env = append(demoEnvironment(child.Environ()), "CAIRN_MODELS__OFFLINE__TOKENS_PER_SECOND=25")
	// A group of its own: Ctrl-C ends the demo, and the demo ends the server.
	child.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := child.Start(); err != nil {
		return fmt.Errorf("start the server: %w", err)
	}
	died := make(chan struct{})
	go func() {
		_ = child.Wait() // how it ended is in its log
		close(died)
	}()
	s.child, s.died = child, died
	return s.awaitReady(ctx)
}

// address is what to listen on: a free port, or where the server was before.
func address(before string) string {
	if before == "" {
		return "127.0.0.1:0"
	}
	_, host, found := strings.Cut(before, "://")
	if !found {
		return before
	}
	return strings.TrimRight(host, "/")
}

// demoEnvironment leaves out what would configure the demo's server: it must
// use the offline model and its own folder, whatever the user has set.
func demoEnvironment(all []string) []string {
	var kept []string
	for _, variable := range all {
		name, _, _ := strings.Cut(variable, "=")
		if !strings.HasPrefix(name, "CAIRN_") && !strings.HasPrefix(name, "TEMPORAL_") && name != "OPENAI_API_KEY" {
			kept = append(kept, variable)
		}
	}
	return kept
}

// awaitReady polls for the child's endpoints and then for its readiness.
func (s *demoServer) awaitReady(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, demoStart)
	defer cancel()
	ticker := time.NewTicker(20 * time.Millisecond)
	defer ticker.Stop()
	for {
		if s.ready(ctx) {
			return nil
		}
		select {
		case <-s.died:
			return errors.New("the server ended while it was starting")
		case <-ctx.Done():
			return fmt.Errorf("the server was not ready in %v: %w", demoStart, ctx.Err())
		case <-ticker.C:
		}
	}
}

func (s *demoServer) ready(ctx context.Context) bool {
	ends, err := readEndpoints(s.folder)
	if err != nil || ends.PID != s.child.Process.Pid {
		return false // not there, or of the process before
	}
	s.ends = ends
	c, err := s.connect()
	return err == nil && c.Ready(ctx) == nil
}

// connect makes a client with the server's admin key.
func (s *demoServer) connect() (*client.Client, error) {
	key, err := os.ReadFile(s.ends.KeyFile)
	if err != nil {
		return nil, fmt.Errorf("read the server's key: %w", err)
	}
	return client.New(client.Config{URL: "http://" + address(s.ends.API), Key: strings.TrimSpace(string(key))})
}

// kill ends the child alone with SIGKILL and waits until it is dead.
func (s *demoServer) kill() error {
	if err := s.child.Process.Kill(); err != nil {
		return fmt.Errorf("kill the server: %w", err)
	}
	<-s.died
	return nil
}

// end ends the child, if it is there. Its parsers end by themselves, because it
// does.
func (s *demoServer) end() error {
	if s.child == nil {
		return nil
	}
	if err := s.kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	return nil
}

func (s *demoServer) logPath() string { return filepath.Join(s.folder, "demo.log") }

// lastWords are the last lines of the server's log, to explain a failure.
func (s *demoServer) lastWords() string {
	data, err := os.ReadFile(s.logPath())
	if err != nil || len(data) == 0 {
		return ""
	}
	lines := strings.SplitAfter(strings.TrimRight(string(data), "\n"), "\n")
	return "The server's last lines:\n" + strings.Join(lines[max(0, len(lines)-6):], "") + "\n"
}
