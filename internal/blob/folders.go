package blob

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

// maxSynced bounds how many folders are remembered as synced. Past it they are
// forgotten and synced once more.
const maxSynced = 10_000

// folders makes the entries of new folders outlive a loss of power. A file whose
// own folder was synced is still lost if the folder's entry in its parent is not.
type folders struct {
	root string
	// sync is nil where writes need not outlive a loss of power.
	sync func(folder string) error

	// shared reports whether other processes may remove folders, nil = never.
	shared func() bool

	mu     sync.Mutex
	synced map[string]struct{} // folders whose entry in their parent was synced
}

// createRoot makes the root and its missing parents.
func (f *folders) createRoot() error {
	var missing []string
	for folder := f.root; ; folder = filepath.Dir(folder) {
		if _, err := os.Stat(folder); !errors.Is(err, fs.ErrNotExist) {
			break // it exists, or MkdirAll returns the error
		}
		missing = append(missing, folder)
	}
	if err := os.MkdirAll(f.root, 0o700); err != nil {
		return err
	}
	for _, folder := range missing {
		if err := f.syncOne(filepath.Dir(folder)); err != nil {
			return err
		}
	}
	return nil
}

// syncOne makes the names in a folder outlive a loss of power.
func (f *folders) syncOne(folder string) error {
	if f.sync == nil {
		return nil
	}
	return f.sync(folder)
}

// syncFile makes the bytes of a file that has its temporary name, and the folders
// that it is in, outlive a loss of power.
func (f *folders) syncFile(file *os.File) error {
	if f.sync == nil {
		return nil
	}
	if err := file.Sync(); err != nil {
		return err
	}
	return f.syncParents(filepath.Dir(file.Name()))
}

// syncParents makes folder and the folders above it, up to the root, outlive a
// loss of power. The caller keeps a file in folder until syncParents returns, so
// that remove cannot remove a folder between its sync and setSynced.
func (f *folders) syncParents(folder string) error {
	for ; len(folder) > len(f.root); folder = filepath.Dir(folder) {
		if f.isSynced(folder) {
			continue
		}
		if err := f.sync(filepath.Dir(folder)); err != nil {
			return err
		}
		f.setSynced(folder)
	}
	return nil
}

func (f *folders) isSynced(folder string) bool {
	if f.shared != nil && f.shared() {
		return false // another process may have removed the folder and made it again
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	_, ok := f.synced[folder]
	return ok
}

func (f *folders) setSynced(folder string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.synced == nil || len(f.synced) >= maxSynced {
		f.synced = map[string]struct{}{}
	}
	f.synced[folder] = struct{}{}
}

// remove removes a folder if it is empty.
func (f *folders) remove(folder string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if os.Remove(folder) == nil { // fails if the folder is not empty
		delete(f.synced, folder)
	}
}

// prune removes the empty folders at and below a prefix, the deepest first.
func (f *folders) prune(prefix string) {
	top := filepath.Join(f.root, filepath.FromSlash(strings.TrimSuffix(prefix, "/")))
	var found []string
	_ = filepath.WalkDir(top, func(path string, entry os.DirEntry, err error) error {
		if err == nil && entry.IsDir() {
			found = append(found, path)
		}
		return nil // a folder that cannot be read is not empty
	})
	for i := len(found) - 1; i >= 0; i-- {
		f.remove(found[i])
	}
}

// syncRemoved makes the removal of files from folders outlive a loss of power. For
// a folder that was removed after them it syncs the nearest one above it.
func (f *folders) syncRemoved(emptied map[string]struct{}) error {
	if f.sync == nil {
		return nil
	}
	done := map[string]struct{}{}
	for folder := range emptied {
		for {
			if _, ok := done[folder]; ok {
				break
			}
			err := f.sync(folder)
			if errors.Is(err, fs.ErrNotExist) && len(folder) > len(f.root) {
				folder = filepath.Dir(folder)
				continue
			}
			if err != nil {
				return err
			}
			done[folder] = struct{}{}
		}
	}
	return nil
}

// syncFolder writes the names in a folder to the disk.
func syncFolder(folder string) error {
	f, err := os.Open(folder)
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Sync()
}
