// Package childserver runs the built command, cairn up, as a child process on a
// data folder: it starts the server, waits until it is ready, reads its key,
// kills it, starts it again on the same folder and ports, and stops it. The
// demo, the end-to-end tests and the benchmarks use it. It knows nothing of what
// they then ask of the server.
package childserver

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"github.com/cairn-rag/cairn/internal/client"
)

const (
	startLimit = time.Minute // of a start on a busy machine
	stopLimit  = 12 * time.Second
	pollEvery  = 5 * time.Millisecond
)

// Config says which server to run and where.
type Config struct {
	// Program is the path of the built command.
	Program string
	// Data is the data folder. The server makes it if it is missing.
	Data string
	// Log is the file to which the server's output is appended.
	Log string
	// Env is added to this process's environment, from which the variables that
	// would configure a server are removed. Each is "NAME=value".
	Env []string
	// OwnGroup puts the server into a process group of its own, so that Ctrl-C
	// ends this process alone, which then ends the server.
	OwnGroup bool
}

// Server is a child process and what it said about itself. One goroutine uses
// it at a time; Done may be read by any.
type Server struct {
	config    Config
	child     *exec.Cmd
	done      chan struct{}
	endpoints Endpoints
	key       string
}

// New returns a server that is not started yet.
func New(config Config) *Server { return &Server{config: config} }

// Start starts the process and returns when it is ready. It takes free ports
// the first time and the same ports again later. After an error the process may
// still run, and Close ends it; LastLines has its own explanation.
func (s *Server) Start(ctx context.Context) error {
	log, err := os.OpenFile(s.config.Log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("start the server: %w", err)
	}
	defer log.Close()
	child := exec.Command(s.config.Program, "up", "--data", s.config.Data, "--listen", Address(s.endpoints.API),
		"--temporal-listen", Address(s.endpoints.Temporal), "--ui-listen", Address(s.endpoints.UI))
	child.Env = append(Environment(child.Environ()), s.config.Env...)
	child.Stdout, child.Stderr = log, log
	child.SysProcAttr = &syscall.SysProcAttr{Setpgid: s.config.OwnGroup}
	if err := child.Start(); err != nil {
		return fmt.Errorf("start the server: %w", err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = child.Wait() // ProcessState says how it ended
	}()
	s.child, s.done = child, done
	return s.awaitReady(ctx)
}

// awaitReady polls for the endpoints of this process and then for readiness.
func (s *Server) awaitReady(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	ticker := time.NewTicker(pollEvery)
	defer ticker.Stop()
	for {
		err := s.ready(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-s.done:
			return errors.New("the server ended while it was starting")
		case <-ctx.Done():
			return fmt.Errorf("the server did not become ready: %w", errors.Join(ctx.Err(), err))
		case <-ticker.C:
		}
	}
}

func (s *Server) ready(ctx context.Context) error {
	endpoints, err := ReadEndpoints(s.config.Data)
	if err != nil {
		return err
	}
	if endpoints.PID != s.PID() {
		return fmt.Errorf("the endpoints still belong to process %d", endpoints.PID)
	}
	key, err := os.ReadFile(endpoints.KeyFile)
	if err != nil {
		return err
	}
	s.endpoints, s.key = endpoints, strings.TrimSpace(string(key))
	c, err := s.Client()
	if err != nil {
		return err
	}
	return c.Ready(ctx)
}

// Client returns a client with the server's admin key.
func (s *Server) Client() (*client.Client, error) {
	return client.New(client.Config{URL: s.endpoints.API, Key: s.key})
}

// Endpoints returns what the server said about itself when it was last ready.
func (s *Server) Endpoints() Endpoints { return s.endpoints }

// Key returns the server's admin key.
func (s *Server) Key() string { return s.key }

// PID returns the id of the process that was started last.
func (s *Server) PID() int { return s.child.Process.Pid }

// Done is closed when the process that was started last has ended.
func (s *Server) Done() <-chan struct{} { return s.done }

// Kill ends the process alone with SIGKILL, and returns when it and the parsers
// that it had started have ended. The error is os.ErrProcessDone if the process
// had ended before.
func (s *Server) Kill() error {
	parsers := s.Children()
	if err := s.child.Process.Kill(); err != nil {
		return fmt.Errorf("kill the server: %w", err)
	}
	<-s.done
	return awaitEnd(parsers)
}

// Stop ends the process with SIGTERM if it was started. The error says that it
// took too long and was killed, or that it ended with another code than 0.
func (s *Server) Stop() error {
	if s.child == nil {
		return nil
	}
	if err := s.child.Process.Signal(syscall.SIGTERM); err != nil {
		return fmt.Errorf("stop the server: %w", err)
	}
	select {
	case <-s.done:
	case <-time.After(stopLimit):
		return errors.Join(fmt.Errorf("the server did not end within %v of SIGTERM", stopLimit), s.Kill())
	}
	if code := s.child.ProcessState.ExitCode(); code != 0 {
		return fmt.Errorf("the server ended with code %d after SIGTERM", code)
	}
	return nil
}

// Close ends the process with SIGKILL if it runs.
func (s *Server) Close() error {
	if s.child == nil {
		return nil
	}
	if err := s.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	<-s.done
	return nil
}

// LastLines returns the last n lines of the log, or why it cannot be read.
func (s *Server) LastLines(n int) string {
	data, err := os.ReadFile(s.config.Log)
	if err != nil {
		return err.Error()
	}
	lines := strings.SplitAfter(strings.TrimRight(string(data), "\n"), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "")
}
