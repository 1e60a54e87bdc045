package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/cairn-rag/cairn/internal/childserver"
)

// lockFolder takes a data folder for this process alone. Where another process
// has it, the error says which. The lock goes with the process.
func lockFolder(dir string) (release func(), err error) {
	path := filepath.Join(dir, "lock")
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock the data folder: %w", err)
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		defer f.Close()
		if !errors.Is(err, unix.EWOULDBLOCK) {
			return nil, fmt.Errorf("lock the data folder: %w", err)
		}
		return nil, fmt.Errorf("the data folder %s is in use by %s; stop that one first, or give another --data", dir, holder(dir, path))
	}
	if err := errors.Join(f.Truncate(0), writeAt(f, lockText(os.Getpid()))); err != nil {
		f.Close()
		return nil, fmt.Errorf("lock the data folder: %w", err)
	}
	return func() { f.Close() }, nil
}

// holder says who has the folder: its process, and its address if it got so far.
// Before that, endpoints.json is of the process before.
func holder(dir, path string) string {
	b, err := os.ReadFile(path)
	who := strings.TrimSpace(string(b))
	if err != nil || who == "" {
		return "another process"
	}
	if e, err := childserver.ReadEndpoints(dir); err == nil && who == lockText(e.PID) {
		who += " at " + e.API
	}
	return who
}

// lockText is what a process writes into the lock that it has.
func lockText(pid int) string { return fmt.Sprintf("process %d", pid) }

func writeAt(f *os.File, text string) error {
	_, err := f.WriteAt([]byte(text), 0)
	return err
}
