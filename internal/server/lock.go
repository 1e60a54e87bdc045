package server

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/cairn-rag/cairn/internal/childserver"
)

// lockName is the file in the data folder that the server has locked.
const lockName = "lock"

// lockFolder locks a data folder for this process. If another process has the
// lock, the error names it. The kernel releases the lock when the process ends.
func lockFolder(dir string) (release func(), err error) {
	path := filepath.Join(dir, lockName)
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock the data folder: %w", err)
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		defer f.Close()
		if !errors.Is(err, unix.EWOULDBLOCK) {
			return nil, fmt.Errorf("lock the data folder: %w", err)
		}
		return nil, fmt.Errorf("the data folder %s is in use by %s; stop that process first, or choose another --data", dir, lockHolder(dir, path))
	}
	if err := errors.Join(f.Truncate(0), writeAt(f, lockText(os.Getpid()))); err != nil {
		f.Close()
		return nil, fmt.Errorf("lock the data folder: %w", err)
	}
	return func() { f.Close() }, nil
}

// lockHolder returns the process that has the lock, with its address if
// endpoints.json is already its own.
func lockHolder(dir, path string) string {
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

// lockText returns the content that a process writes into its lock file.
func lockText(pid int) string { return fmt.Sprintf("process %d", pid) }

func writeAt(f *os.File, text string) error {
	_, err := f.WriteAt([]byte(text), 0)
	return err
}
