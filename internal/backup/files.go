package backup

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// copyFile copies a file below dir, and returns what was written.
func copyFile(ctx context.Context, from, dir, name string) (entry, error) {
	in, err := os.Open(from)
	if err != nil {
		return entry{}, err
	}
	defer in.Close()
	to := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return entry{}, err
	}
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return entry{}, err
	}
	sum := sha256.New()
	n, err := io.Copy(io.MultiWriter(out, sum), reader{ctx, in})
	if err = errors.Join(err, out.Sync(), out.Close()); err != nil {
		return entry{}, fmt.Errorf("copy %s: %w", name, err)
	}
	return entry{Name: name, Bytes: n, SHA256: hex.EncodeToString(sum.Sum(nil))}, nil
}

// hashFile reads a file of a folder.
func hashFile(ctx context.Context, dir, name string) (entry, error) {
	in, err := os.Open(filepath.Join(dir, filepath.FromSlash(name)))
	if err != nil {
		return entry{}, err
	}
	defer in.Close()
	sum := sha256.New()
	n, err := io.Copy(sum, reader{ctx, in})
	return entry{Name: name, Bytes: n, SHA256: hex.EncodeToString(sum.Sum(nil))}, err
}

// reader ends with its context.
type reader struct {
	ctx context.Context //nolint:containedctx // the context of the call that reads
	r   io.Reader
}

// Read implements io.Reader.
func (r reader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.r.Read(p)
}

// Empty refuses a folder that has something other than what a killed Restore left there
// and names of keep. The folder need not exist.
func Empty(dir string, keep ...string) error { return empty(dir, restoring, keep) }

// empty is Empty for a use, which is what the mark of an unfinished one has.
func empty(dir, use string, keep []string) error {
	text, err := os.ReadFile(filepath.Join(dir, unfinishedName))
	if err == nil && string(text) == use {
		return nil
	}
	if err == nil {
		return fmt.Errorf("%s holds an unfinished %s: choose another folder", dir, text)
	}
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, e := range entries {
		if !slices.Contains(keep, e.Name()) {
			return fmt.Errorf("%s is not empty (it has %s): choose a folder that is empty or does not exist", dir, e.Name())
		}
	}
	return err
}

// claim marks an empty folder as one that has not ended. It removes what an earlier call
// for the same use left there that was killed.
func claim(dir, use string, keep ...string) error {
	if err := empty(dir, use, keep); err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.Name() == unfinishedName || slices.Contains(keep, e.Name()) {
			continue
		}
		if err := os.RemoveAll(filepath.Join(dir, e.Name())); err != nil {
			return err
		}
	}
	if err := os.WriteFile(filepath.Join(dir, unfinishedName), []byte(use), 0o600); err != nil {
		return err
	}
	return syncFolder(dir)
}

// release removes the mark once everything in dir has reached the disk.
func release(dir string) error {
	if err := syncTree(dir); err != nil {
		return err
	}
	if err := os.Remove(filepath.Join(dir, unfinishedName)); err != nil {
		return err
	}
	return syncFolder(dir)
}

// syncTree returns when the names in a folder and below it have reached the disk.
func syncTree(dir string) error {
	return filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.IsDir() {
			return err
		}
		return syncFolder(path)
	})
}

func syncFolder(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// Unfinished reports whether a restore into the folder has not ended.
func Unfinished(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, unfinishedName))
	return err == nil
}
