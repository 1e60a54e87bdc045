package blob

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Delete removes what is under key. That there is nothing is fine.
func (s *Store) Delete(ctx context.Context, key string) error {
	if err := checkKey(key); err != nil {
		return err
	}
	return s.remove(ctx, key)
}

func (s *Store) remove(ctx context.Context, key string) error {
	err := mapError("delete", key, s.bucket.Delete(ctx, key))
	if errors.Is(err, ErrNotFound) {
		return nil
	}
	return err
}

// DeletePrefix removes what lies under prefix, which ends in "/", but for what
// keep wants; a nil keep wants nothing. It takes the remains of writes that a
// kill broke off too, and the folders that are empty then. It gives the number
// of blobs it removed and can be called again after an error.
func (s *Store) DeletePrefix(ctx context.Context, prefix string, keep func(key string, modified time.Time) bool) (int, error) {
	if err := checkPrefix(prefix); err != nil {
		return 0, err
	}
	removed := 0
	for object, err := range s.entries(ctx, prefix) {
		if err != nil {
			return removed, err
		}
		if keep != nil && keep(object.Key, object.Modified) {
			continue
		}
		if err := s.remove(ctx, object.Key); err != nil {
			return removed, err
		}
		removed++
	}
	s.pruneFolders(prefix)
	return removed, nil
}

// SweepTemporary removes the remains of writes that began before the given time
// and that nobody finished. It is for the start of the one process that has the
// folder.
func (s *Store) SweepTemporary(ctx context.Context, before time.Time) (int, error) {
	removed := 0
	for object, err := range s.entries(ctx, "") {
		if err != nil {
			return removed, err
		}
		if !temporaryKey.MatchString(object.Key) || !object.Modified.Before(before) {
			continue
		}
		if err := s.remove(ctx, object.Key); err != nil {
			return removed, fmt.Errorf("sweep unfinished writes: %w", err)
		}
		removed++
	}
	return removed, nil
}

// pruneFolders removes the empty folders at and below a prefix, the deepest
// first. One that is not empty stays, which is all the checking there is.
func (s *Store) pruneFolders(prefix string) {
	if s.dir == "" {
		return
	}
	root := filepath.Join(s.dir, filepath.FromSlash(strings.TrimSuffix(prefix, "/")))
	var folders []string
	_ = filepath.WalkDir(root, func(path string, entry os.DirEntry, err error) error {
		if err == nil && entry.IsDir() {
			folders = append(folders, path)
		}
		return nil // a folder that cannot be read is not empty
	})
	for i := len(folders) - 1; i >= 0; i-- {
		_ = os.Remove(folders[i]) // fails, rightly, where something is left
	}
}
