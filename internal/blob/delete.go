package blob

import (
	"context"
	"errors"
	"fmt"
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
	if s.folders != nil {
		s.folders.prune(prefix)
	}
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
