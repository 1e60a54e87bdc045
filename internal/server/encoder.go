package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"runtime/debug"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/cairn-rag/cairn/internal/confine"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/model/encoder"
	"github.com/cairn-rag/cairn/internal/model/library"
)

// encoderAddress is where the model of the data folder is served.
type encoderAddress struct {
	address string // "" = the configuration names no such model
	weights string // their SHA-256
}

const (
	// encoderListener is the number of the listener among the open files of the child.
	encoderListener = 3
	// firstRestart and lastRestart bound the pause before a child is started again.
	firstRestart, lastRestart = 100 * time.Millisecond, 5 * time.Second
	// settled is how long a child runs whose end is no reason to wait.
	settled = time.Minute
	// encoderMemory is what a child may take beside twice the size of its weights, in bytes.
	encoderMemory = 512 << 20
)

// startEncoder serves the model of the data folder, if the configuration names one, from a child
// process. The listener is this process's: requests that come while no child runs wait for the next.
func (p *platform) startEncoder() error {
	m := p.cfg.Models.Embedding
	if !m.Local() {
		return nil
	}
	added, err := library.Find(p.cfg.Data, m.Model)
	if err != nil {
		return ConfigError{"models.embedding: " + publicMessage(err)}
	}
	listener, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		return fmt.Errorf("listen for the model %s: %w", added.Name, err)
	}
	inherited, err := listener.File()
	p.encoder = encoderAddress{listener.Addr().String(), added.SHA256}
	if err = errors.Join(err, listener.Close()); err != nil { // the file stays
		return fmt.Errorf("listen for the model %s: %w", added.Name, err)
	}
	p.onClose(inherited.Close)
	p.background(func(ctx context.Context) { p.keepEncoder(ctx, added, inherited) })
	return nil
}

// keepEncoder runs one child after the other until ctx ends.
func (p *platform) keepEncoder(ctx context.Context, m library.Model, listener *os.File) {
	for pause := firstRestart; ctx.Err() == nil; pause = min(2*pause, lastRestart) {
		start := time.Now()
		err := p.runEncoder(ctx, m, listener)
		if ctx.Err() != nil {
			return
		}
		if time.Since(start) > settled {
			pause = firstRestart
		}
		p.log.WarnContext(ctx, "the process of the embedding model ended; it is started again", "model", m.Name, "error", err)
		select {
		case <-time.After(pause):
		case <-ctx.Done():
		}
	}
}

// runEncoder runs a child until it ends or ctx does. The child ends when its standard input does, so
// it does not outlive this process.
func (p *platform) runEncoder(ctx context.Context, m library.Model, listener *os.File) error {
	command, err := child(encodeCommand)
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, command[0], append(command[1:], m.Path, m.Name)...)
	cmd.Env = []string{} // API keys must not reach it
	cmd.ExtraFiles = []*os.File{listener}
	cmd.Stderr = os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // signals of the terminal reach only the parent
	alive, err := cmd.StdinPipe()
	if err != nil {
		return fmt.Errorf("start the process of the embedding model: %w", err)
	}
	defer func() { _ = alive.Close() }() // Wait closes it too
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start the process of the embedding model: %w", err)
	}
	p.log.InfoContext(ctx, "the process of the embedding model runs", "model", m.Name, "pid", cmd.Process.Pid)
	return cmd.Wait()
}

// Encode is the child process that embeds texts. It serves the weights under a name on the listener
// that it inherits, until in ends.
func Encode(ctx context.Context, in io.Reader, path, name string) error {
	m, err := encoder.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = m.Close() }() // it was only read
	if err := limitEncoder(path); err != nil {
		return err
	}
	file := os.NewFile(encoderListener, "listener")
	if file == nil {
		return errors.New("there is no listener: only a server starts this command")
	}
	listener, err := net.FileListener(file)
	if err = errors.Join(err, file.Close()); err != nil {
		return fmt.Errorf("take the listener of the embedding model: %w", err)
	}
	server := &http.Server{Handler: m.Handler(name), ReadHeaderTimeout: time.Minute}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	go func() {
		_, _ = io.Copy(io.Discard, in) // its end is what counts
		ended <- nil
	}()
	select {
	case err := <-ended:
		return errors.Join(err, server.Close())
	case <-ctx.Done():
		return server.Close()
	}
}

// limitEncoder bounds the memory of this process, and takes all files and connections from it but the
// ones that it has.
func limitEncoder(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return fmt.Errorf("limit the process of the embedding model: %w", err)
	}
	most := encoderMemory + 2*info.Size()
	debug.SetMemoryLimit(most / 4 * 3)
	limit := unix.Rlimit{Cur: uint64(most), Max: uint64(most)}
	err = errors.Join(unix.Setrlimit(unix.RLIMIT_DATA, &limit), unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{}), confine.Restrict(""))
	if err != nil {
		return fmt.Errorf("limit the process of the embedding model: %w", err)
	}
	return nil
}

// checkWeights reports with an error of the code CodeCorrupt that a file has no weights.
func checkWeights(path string) error {
	m, err := encoder.Open(path)
	if err != nil {
		return &knowledge.Error{Code: knowledge.CodeCorrupt, Message: "the file has no weights that this version of Cairn reads", Cause: err}
	}
	return m.Close()
}

// publicMessage returns the message of an error without its code.
func publicMessage(err error) string {
	if known, ok := errors.AsType[*knowledge.Error](err); ok {
		return known.Message
	}
	return err.Error()
}
