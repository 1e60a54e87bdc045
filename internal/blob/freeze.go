package blob

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// frozenName is the folder, in the folder of a store, which holds the frozen files. No key has
// this name, and no listing shows what is in it.
const frozenName = smallName + "-frozen"

// ErrTooMany means that the files of a store could not be frozen in the given time.
var ErrTooMany = errors.New("the files of the blob store could not be listed in time")

// Frozen is the large blobs of a folder as they were at one moment, while processes go on
// writing to the folder. It is not safe for concurrent use.
//
// A file of a folder is never changed: it is replaced or removed. So a second name of it
// keeps its bytes.
type Frozen struct {
	root, dir string
	lock      *os.File
	files     map[string]fs.FileInfo // by name below root
}

// Freeze begins to freeze the large blobs of a folder: it gives each file a second name.
// The caller closes the result. The error is fs.ErrExist if another process has frozen the
// folder.
func Freeze(ctx context.Context, root string) (f *Frozen, err error) {
	if err := Thaw(root); err != nil {
		return nil, err
	}
	f = &Frozen{root: root, dir: filepath.Join(root, frozenName), files: map[string]fs.FileInfo{}}
	if err := os.Mkdir(f.dir, 0o700); err != nil {
		return nil, fmt.Errorf("freeze the blobs: %w", err)
	}
	if f.lock, err = lockFrozen(f.dir); err == nil {
		err = f.link(ctx)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("freeze the blobs: %w", err), f.Close())
	}
	return f, nil
}

// Thaw removes what a process left that froze the folder and was killed.
func Thaw(root string) error {
	dir := filepath.Join(root, frozenName)
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	lock, err := lockFrozen(dir)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return nil // it is alive
	}
	if err != nil {
		return fmt.Errorf("thaw the blobs: %w", err)
	}
	return errors.Join(os.RemoveAll(dir), lock.Close())
}

// lockFrozen takes the lock of a folder of frozen files. The kernel releases it when the
// file is closed or the process ends.
func lockFrozen(dir string) (*os.File, error) {
	lock, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(lock.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	return lock, nil
}

// Fix makes this moment the one of f. It takes less time the fewer files came and went
// since Freeze. If limit passes before, the error is ErrTooMany.
func (f *Frozen) Fix(ctx context.Context, limit time.Duration) error {
	ctx, cancel := context.WithTimeoutCause(ctx, limit, ErrTooMany)
	defer cancel()
	if err := f.link(ctx); err != nil {
		return fmt.Errorf("freeze the blobs: %w", err)
	}
	return nil
}

// link makes the frozen files those that are there now.
func (f *Frozen) link(ctx context.Context) error {
	now := make(map[string]fs.FileInfo, len(f.files))
	for name, err := range LargeFiles(ctx, f.root) {
		if err != nil {
			return err
		}
		info, err := f.linkOne(name)
		if errors.Is(err, fs.ErrNotExist) { // removed since its folder was read
			continue
		}
		if err != nil {
			return err
		}
		now[name] = info
	}
	f.files = now
	return nil
}

// linkOne hard-links a file into the folder of the frozen files and returns its FileInfo. A
// file that an earlier call linked stays as it is.
func (f *Frozen) linkOne(name string) (fs.FileInfo, error) {
	path, frozen := filepath.Join(f.root, name), f.Path(name)
	info, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	if known, ok := f.files[name]; ok {
		if os.SameFile(known, info) {
			return known, nil
		}
		if err := os.Remove(frozen); err != nil { // it was replaced
			return nil, err
		}
	}
	if err := os.Link(path, frozen); err == nil || !errors.Is(err, fs.ErrNotExist) {
		return info, err
	}
	if err := os.MkdirAll(filepath.Dir(frozen), 0o700); err != nil {
		return nil, err
	}
	return info, os.Link(path, frozen)
}

// Path returns where the bytes of a frozen file are. The name is one of LargeFiles.
func (f *Frozen) Path(name string) string { return filepath.Join(f.dir, "files", name) }

// Names returns the names of the frozen files below the folder of the store, ascending.
func (f *Frozen) Names() []string { return slices.Sorted(maps.Keys(f.files)) }

// Close removes the second names.
func (f *Frozen) Close() error {
	err := os.RemoveAll(f.dir)
	if f.lock != nil {
		err = errors.Join(err, f.lock.Close())
	}
	return err
}

// LargeFiles returns the names, below the folder of a store, of the files of its large
// blobs, in the order of a walk. Unfinished writes are not among them. It stops at the
// first error.
func LargeFiles(ctx context.Context, root string) func(yield func(string, error) bool) {
	return func(yield func(string, error) bool) {
		err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
			if errors.Is(err, fs.ErrNotExist) && path != root { // removed since its folder was read
				return nil
			}
			if err != nil {
				return err
			}
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			name, err := filepath.Rel(root, path)
			switch {
			case err != nil:
				return err
			case strings.HasPrefix(name, smallName) && entry.IsDir():
				return fs.SkipDir
			case entry.IsDir() || strings.HasPrefix(name, smallName) || temporaryKey.MatchString(name):
				return nil
			}
			if !yield(name, nil) {
				return fs.SkipAll
			}
			return nil
		})
		if err != nil {
			yield("", err)
		}
	}
}

// SmallFile returns the path of the SQLite file of the small blobs of a folder.
func SmallFile(root string) string { return filepath.Join(root, smallName) }
