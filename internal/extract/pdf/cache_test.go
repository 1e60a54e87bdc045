package pdf_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/cairn-rag/cairn/internal/extract/pdf"
)

func TestSharedCache(t *testing.T) {
	t.Parallel()

	t.Run("one of two processes compiles, even after one that was killed", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		killed := compile(t, dir)
		for deadline := time.Now().Add(time.Minute); free(t, dir); time.Sleep(time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatal("a process that compiles does not lock the cache")
			}
		}
		if err := killed.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = killed.Wait() // "signal: killed"
		var took [2]time.Duration
		var both sync.WaitGroup
		for i := range took {
			child := compile(t, dir)
			both.Go(func() {
				if err := child.Wait(); err != nil {
					t.Error(err)
				}
				took[i] = child.ProcessState.UserTime()
			})
		}
		both.Wait()
		if t.Logf("processor time of the two: %v", took); min(took[0], took[1]) > max(took[0], took[1])/3 {
			t.Error("both compiled")
		}
	})

	t.Run("New does not wait long for a process that keeps the lock", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		if err := os.CopyFS(dir, os.DirFS(cacheDir)); err != nil {
			t.Fatal(err)
		}
		f := lockFile(t, dir)
		if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
			t.Fatal(err)
		}
		r, err := pdf.New(t.Context(), pdf.Config{CacheDir: dir, CacheWait: time.Millisecond})
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Close(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// compile starts a process that loads pdfium, compiling it if the cache lacks
// it.
func compile(t *testing.T, dir string) *exec.Cmd {
	t.Helper()
	child := exec.Command(os.Args[0], compileArg, dir)
	child.Stderr = t.Output()
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = child.Process.Kill() }) // it has ended already unless the test failed
	return child
}

// free reports whether no process has locked the cache.
func free(t *testing.T, dir string) bool {
	t.Helper()
	f := lockFile(t, dir)
	defer f.Close()
	err := unix.Flock(int(f.Fd()), unix.LOCK_SH|unix.LOCK_NB)
	if err != nil && !errors.Is(err, unix.EWOULDBLOCK) {
		t.Fatal(err)
	}
	return err == nil
}

func lockFile(t *testing.T, dir string) *os.File {
	t.Helper()
	f, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() }) // free may have closed it
	return f
}
