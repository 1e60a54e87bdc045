package blob

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// deletedRows is the number of rows that one commit deletes. The bytes of deleted
// rows are overwritten, through the write-ahead log.
const deletedRows = 100

// Delete removes the blob under key, and returns nil if there is none. Its bytes
// may stand in the small file's log until the next DeletePrefix.
func (s *Store) Delete(ctx context.Context, key string) error {
	if err := checkKey(key); err != nil {
		return err
	}
	if s.folder != nil {
		return mapError("delete", key, s.folder.delete(ctx, key))
	}
	return mapError("delete", key, s.bucket.Delete(ctx, []string{key}))
}

// delete removes the file before the row: after a kill the row still hides a file
// of older bytes.
func (f *folder) delete(ctx context.Context, key string) error {
	found, err := f.hasFile(key)
	if err != nil {
		return err
	}
	if found {
		path := f.path(key)
		if err := f.removeLocked(ctx, key); err != nil {
			return err
		}
		if err := f.syncOne(filepath.Dir(path)); err != nil {
			return err
		}
	}
	return f.removeRow(ctx, key)
}

// removeLocked removes the file of a blob, but not while it is encrypted anew: that would
// bring it back.
func (f *folder) removeLocked(ctx context.Context, key string) error {
	unlock, err := f.locks.lock(ctx, key)
	if err != nil {
		return err
	}
	defer unlock()
	return removeFile(f.path(key))
}

// removeFile removes a file, and returns nil if there is none.
func removeFile(path string) error {
	err := os.Remove(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// DeletePrefix removes the blobs under prefix, which ends in "/", except those
// for which keep returns true. A nil keep keeps none. It also removes unfinished
// writes that a kill left, and the folders that are empty then. It returns the
// number of blobs that it removed. Once it returned nil, their bytes stand in no
// file of the store. It can be called again after an error.
func (s *Store) DeletePrefix(ctx context.Context, prefix string, keep func(key string, modified time.Time) bool) (int, error) {
	if err := checkPrefix(prefix); err != nil {
		return 0, err
	}
	if keep == nil {
		keep = func(string, time.Time) bool { return false }
	}
	if s.folder != nil {
		return s.folder.deletePrefix(ctx, prefix, keep)
	}
	return s.deleteBatches(ctx, prefix, keep)
}

// deletePrefix removes the files before the rows, as delete does. On a full disk
// files free the space that the removal of rows needs.
func (f *folder) deletePrefix(ctx context.Context, prefix string, keep func(string, time.Time) bool) (int, error) {
	files, err := f.deleteFiles(ctx, prefix, keep)
	if err != nil {
		return files, mapError("delete", prefix, err)
	}
	rows, err := f.deleteRows(ctx, prefix, keep)
	if err == nil {
		err = f.small.forget(ctx)
	}
	return files + rows, mapError("delete", prefix, err)
}

func (f *folder) deleteFiles(ctx context.Context, prefix string, keep func(string, time.Time) bool) (int, error) {
	removed := 0
	emptied := map[string]struct{}{}
	for object, err := range f.files(ctx, prefix) {
		if err != nil {
			return removed, err
		}
		replaced, err := f.removeIfReplaced(ctx, object.Key)
		if err != nil {
			return removed, err
		}
		if replaced || keep(object.Key, object.Modified) {
			continue
		}
		if err := f.removeLocked(ctx, object.Key); err != nil {
			return removed, err
		}
		emptied[filepath.Dir(f.path(object.Key))] = struct{}{}
		removed++
	}
	f.prune(prefix)
	return removed, f.syncRemoved(emptied)
}

// removeIfReplaced removes a file that a row hides, and reports whether it was
// one: a write was killed after it had stored the row or before it removed it.
func (f *folder) removeIfReplaced(ctx context.Context, key string) (bool, error) {
	if found, err := f.small.exists(ctx, key); !found || err != nil {
		return false, err
	}
	unlock, err := f.locks.lock(ctx, key) // a write of the blob may be under way
	if err != nil {
		return false, err
	}
	defer unlock()
	found, err := f.small.exists(ctx, key)
	if err != nil || !found {
		return false, err
	}
	return true, f.removeReplaced(key)
}

func (f *folder) deleteRows(ctx context.Context, prefix string, keep func(string, time.Time) bool) (int, error) {
	removed := 0
	var rows []row
	commit := func() error {
		if len(rows) == 0 {
			return nil
		}
		if err := f.small.write(ctx, rows...); err != nil {
			return err
		}
		removed += len(rows)
		rows = nil
		return nil
	}
	for object, err := range f.small.list(ctx, prefix) {
		if err != nil {
			return removed, err
		}
		if keep(object.Key, object.Modified) {
			continue
		}
		if rows = append(rows, row{key: object.Key, delete: true}); len(rows) < deletedRows {
			continue
		}
		if err := commit(); err != nil {
			return removed, err
		}
	}
	return removed, commit()
}

// SweepTemporary removes unfinished writes that began before the given time, and
// files that a killed write left beside their row. It is for the start of the
// process that has the folder. It returns the number of files that it removed.
func (s *Store) SweepTemporary(ctx context.Context, before time.Time) (int, error) {
	if s.folder == nil {
		return 0, nil
	}
	removed := 0
	for object, err := range s.files(ctx, "") {
		if err != nil {
			return removed, err
		}
		swept, err := s.folder.sweep(ctx, object, before)
		if err != nil {
			return removed, fmt.Errorf("sweep unfinished writes: %w", err)
		}
		if swept {
			removed++
		}
	}
	return removed, nil
}

func (f *folder) sweep(ctx context.Context, file Object, before time.Time) (bool, error) {
	if !temporaryKey.MatchString(file.Key) {
		return f.removeIfReplaced(ctx, file.Key)
	}
	if !file.Modified.Before(before) {
		return false, nil
	}
	return true, removeFile(f.path(file.Key))
}
