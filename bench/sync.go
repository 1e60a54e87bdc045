package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// errNotTraced means that the calls of a process cannot be counted here; the work
// was done nevertheless.
var errNotTraced = errors.New("strace cannot follow the server")

// syncs counts the calls of fsync and fdatasync of a server.
type syncs struct {
	all     int
	history int // of the log of Temporal's history database: one a transaction
}

// traceSyncs counts calls while work is done. Only strace sees them: the
// counters in /proc say how many bytes are written, not how often they are
// synced.
func (s *server) traceSyncs(ctx context.Context, work func() error) (syncs, error) {
	file := filepath.Join(s.folder, "syncs")
	trace := exec.CommandContext(ctx, "strace", "-f", "-y", "-e", "trace=fsync,fdatasync", "-o", file, "-p", strconv.Itoa(s.PID()))
	said, err := trace.StderrPipe()
	if err != nil {
		return syncs{}, err
	}
	if err := trace.Start(); err != nil {
		return syncs{}, errors.Join(fmt.Errorf("%w: %w", errNotTraced, err), work())
	}
	// strace says that it is attached, or why not, before it traces.
	attached, refusal := false, ""
	lines := bufio.NewScanner(said)
	for !attached && lines.Scan() {
		refusal = lines.Text()
		attached = strings.Contains(refusal, " attached")
	}
	go func() { _, _ = io.Copy(io.Discard, said) }() // or strace would block
	if !attached {
		_ = trace.Wait() // it has said why it ended
		return syncs{}, errors.Join(fmt.Errorf("%w: %s", errNotTraced, refusal), work())
	}
	worked := work()
	_ = trace.Process.Signal(syscall.SIGINT) // it detaches, and ends with the signal
	_ = trace.Wait()
	if worked != nil {
		return syncs{}, worked
	}
	data, err := os.ReadFile(file)
	return countSyncs(data), err
}

// countSyncs reads the trace: a line a call, with the path of its file.
func countSyncs(trace []byte) (n syncs) {
	for line := range bytes.Lines(trace) {
		if !bytes.Contains(line, []byte("sync(")) {
			continue // the rest of a call that was interrupted, or a signal
		}
		n.all++
		if bytes.Contains(line, []byte("/temporal.db-wal>")) {
			n.history++
		}
	}
	return n
}
