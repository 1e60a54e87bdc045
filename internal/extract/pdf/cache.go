package pdf

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// defaultCacheWait is several times the time for compiling on a busy machine.
const defaultCacheWait = 30 * time.Second

// lockCache blocks until no other process compiles pdfium into the cache or
// loads it from there, so that only one process compiles. The kernel releases
// the lock when its process ends. The lock only saves work: lockCache returns
// without it after wait, or if it cannot lock the file.
func lockCache(ctx context.Context, dir string, wait time.Duration) (release func()) {
	f, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return func() {}
	}
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	ticker := time.NewTicker(20 * time.Millisecond)
	defer ticker.Stop()
	for errors.Is(unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB), unix.EWOULDBLOCK) {
		select {
		case <-ticker.C:
			continue
		case <-ctx.Done():
		}
		break
	}
	return func() { _ = f.Close() } // nothing was written to the file
}
