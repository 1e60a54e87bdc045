package pdf

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// defaultCacheWait is several times what compiling takes on a busy machine.
const defaultCacheWait = 30 * time.Second

// lockCache waits until no other process compiles into the cache, or loads from
// it, so that the work is done once. The lock ends with the process that has it.
// It saves work and nothing depends on it: who has waited long enough, or cannot
// lock there, goes on without.
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
	return func() { _ = f.Close() } // nothing was written to it
}
