package service

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/cairn-rag/cairn/internal/childserver"
)

const (
	startLimit = time.Minute
	pollEvery  = 20 * time.Millisecond
	// retryEvery is the pause before a process that ended at its start is started again:
	// what the killed one leaves behind (children, shared memory) goes within a second.
	retryEvery = 200 * time.Millisecond
)

// ErrMissing means that a program is not installed. The message says how to install it.
var ErrMissing = errors.New("a service is not installed")

// missing says that something is not installed, and how to install it.
func missing(what, how string) error { return fmt.Errorf("%w: %s: %s", ErrMissing, what, how) }

// Process is a service. One goroutine uses it at a time.
type Process struct {
	// Address is its host and port.
	Address string

	name    string
	folder  string // of its data and its log
	program string
	args    []string
	env     []string // nil = this process's environment
	owner   *syscall.SysProcAttr
	ready   func(context.Context) error // nil = it accepts connections
	command *exec.Cmd
	done    chan struct{}
}

// Start starts the service, on the data of an earlier start if there is any, and returns
// when it accepts connections, PostgreSQL when it answers.
func (p *Process) Start(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	if err := p.launch(); err != nil {
		return err
	}
	for {
		if p.answers(ctx) == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s does not start: %w: %s", p.name, ctx.Err(), p.LastLines(20))
		case <-p.done:
			time.Sleep(retryEvery)
			if err := p.launch(); err != nil {
				return err
			}
		case <-time.After(pollEvery):
		}
	}
}

func (p *Process) answers(ctx context.Context) error {
	if p.ready != nil {
		return p.ready(ctx)
	}
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", p.Address)
	if err != nil {
		return err
	}
	return conn.Close()
}

func (p *Process) launch() error {
	log, err := os.OpenFile(p.log(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	command := exec.Command(p.program, p.args...)
	command.Dir, command.SysProcAttr = p.folder, p.owner
	if p.env != nil {
		command.Env = append(childserver.Environment(command.Environ()), p.env...)
	}
	command.Stdout, command.Stderr = log, log
	if err := command.Start(); err != nil {
		return fmt.Errorf("start %s: %w", p.name, err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = command.Wait() // it is killed in the end
	}()
	p.command, p.done = command, done
	return nil
}

// Kill ends the service with SIGKILL, if it runs, and returns when it has ended.
func (p *Process) Kill() error { return p.end(syscall.SIGKILL) }

// Stop ends the service in order, if it runs, and returns when it has ended. It sends SIGINT,
// the one signal that Milvus's light server does not die of at once.
func (p *Process) Stop() error { return p.end(syscall.SIGINT) }

func (p *Process) end(signal syscall.Signal) error {
	if p.command == nil {
		return nil
	}
	if err := p.command.Process.Signal(signal); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("end %s: %w", p.name, err)
	}
	<-p.done
	return nil
}

// Close kills the service and deletes its data.
func (p *Process) Close() error {
	err := p.Kill()
	for range 50 { // children of the service may write for a moment
		if os.RemoveAll(p.folder) == nil {
			return err
		}
		time.Sleep(pollEvery)
	}
	return errors.Join(err, os.RemoveAll(p.folder))
}

// PID returns the id of the process that was started last.
func (p *Process) PID() int { return p.command.Process.Pid }

// LastLines returns the last n lines of the log, or why it cannot be read.
func (p *Process) LastLines(n int) string {
	data, err := os.ReadFile(p.log())
	if err != nil {
		return err.Error()
	}
	lines := strings.SplitAfter(strings.TrimRight(string(data), "\n"), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "")
}

func (p *Process) log() string { return filepath.Join(p.folder, "log") }

// newProcess returns a service with a free port and an empty folder.
func newProcess(name, program string) (*Process, error) {
	folder, err := os.MkdirTemp("", "cairn-"+name+"-")
	if err != nil {
		return nil, err
	}
	address, err := freeAddress()
	return &Process{Address: address, name: name, folder: folder, program: program}, err
}

// freeAddress returns a host and a port on which nobody listens.
func freeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}

// port returns the port of the service.
func (p *Process) port() string {
	_, port, _ := net.SplitHostPort(p.Address) // the address comes from a listener
	return port
}

// tool returns the path of a program below bin/tools, the folder of .ci/stand-ins.
func tool(tools, name string) (string, error) {
	path, err := filepath.Abs(filepath.Join(tools, filepath.FromSlash(name)))
	if err != nil {
		return "", err
	}
	if _, err := os.Stat(path); err != nil {
		return "", missing(name, "run .ci/stand-ins")
	}
	return path, nil
}
