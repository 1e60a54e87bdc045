package blob

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/cairn-rag/cairn/internal/envelope"
)

// Replacer is a Bucket that replaces bytes only if nobody else has changed them meanwhile.
type Replacer interface {
	// Replace stores what change makes of the bytes under key, in their place. It stores
	// nothing and returns false if there are none, if change returns nil, or if others are there
	// by then.
	Replace(ctx context.Context, key string, change func(stored io.Reader) (io.Reader, error)) (bool, error)
}

// Reseal encrypts blobs anew that are not encrypted with the newest key: those that older
// keys encrypted, and those that nothing did. It calls each with the keys of all blobs, and
// whether it has written them. Blobs that somebody writes or deletes meanwhile are left to him.
// A bucket is read in the order of its keys, from after on; a folder from its beginning, where
// what is done already costs little. It stops at the first error.
func (s *Store) Reseal(ctx context.Context, after string, each func(key string, sealed bool) error) error {
	if !s.ring.On() {
		return envelope.ErrOff
	}
	if s.folder == nil {
		return s.resealBucket(ctx, after, each)
	}
	if err := s.folder.resealFiles(ctx, each); err != nil {
		return fmt.Errorf("encrypt the blobs: %w", err)
	}
	if err := s.folder.resealRows(ctx, each); err != nil {
		return fmt.Errorf("encrypt the blobs: %w", err)
	}
	return mapError("encrypt", "all", s.folder.small.forget(ctx))
}

func (f *folder) resealRows(ctx context.Context, each func(string, bool) error) error {
	for after := ""; ; {
		page, err := f.small.heads(ctx, after, envelope.HeaderBytes)
		if err != nil || len(page) == 0 {
			return err
		}
		for _, h := range page {
			after = h.key
			current := f.ring.IsCurrent(h.head)
			if !current {
				err = f.resealRow(ctx, h.key)
			}
			if err == nil {
				err = each(h.key, !current)
			}
			if err != nil {
				return err
			}
		}
	}
}

func (f *folder) resealRow(ctx context.Context, key string) error {
	stored, found, err := f.small.get(ctx, key)
	if err != nil || !found {
		return err
	}
	plain, err := f.ring.Unseal(ctx, stored, key)
	if err != nil {
		return mapError("read", key, err)
	}
	sealed, err := f.ring.Seal(plain, key)
	if err != nil {
		return mapError("write", key, err)
	}
	return mapError("write", key, f.small.write(ctx, row{key: key, data: sealed, replaces: stored}))
}

func (f *folder) resealFiles(ctx context.Context, each func(string, bool) error) error {
	for object, err := range f.files(ctx, "") {
		if err != nil {
			return err
		}
		if temporaryKey.MatchString(object.Key) {
			continue
		}
		sealed, err := f.resealFile(ctx, object.Key)
		if err == nil {
			err = each(object.Key, sealed)
		}
		if err != nil {
			return mapError("encrypt", object.Key, err)
		}
	}
	return nil
}

// resealFile encrypts a file anew, unless it is or somebody replaces it meanwhile.
func (f *folder) resealFile(ctx context.Context, key string) (bool, error) {
	stored, err := os.Open(f.path(key))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer stored.Close()
	info, err := stored.Stat()
	if err != nil {
		return false, err
	}
	stream, err := f.ring.ReadStream(stored, key)
	if err != nil || stream.IsCurrent() {
		return false, err
	}
	sealed, err := reseal(ctx, f.ring, stream, stored, key)
	if err != nil {
		return false, err
	}
	return f.exchangeFile(ctx, key, info, sealed)
}

// reseal returns the bytes of a stream, whose beginning was read, encrypted anew.
func reseal(ctx context.Context, ring *envelope.Ring, stream envelope.Stream, rest io.Reader, key string) (io.Reader, error) {
	plain, err := stream.Open(ctx, rest)
	if err != nil {
		return nil, err
	}
	return ring.SealReader(plain, key)
}

// exchangeFile writes the bytes of r in the place of a file, if it is still the one of was,
// whose time it keeps.
func (f *folder) exchangeFile(ctx context.Context, key string, was fs.FileInfo, r io.Reader) (bool, error) {
	ctx, abandon := context.WithCancel(ctx)
	defer abandon()
	w, file, err := f.newWriter(ctx, key)
	if err != nil {
		return false, err
	}
	if _, err = io.Copy(w, r); err == nil {
		err = f.syncFile(file)
	}
	if err == nil {
		err = os.Chtimes(file.Name(), was.ModTime(), was.ModTime())
	}
	unlock := func() {}
	if err == nil {
		unlock, err = f.locks.lock(ctx, key)
	}
	if err != nil {
		abandon() // makes Close drop the bytes
		_ = w.Close()
		return false, err
	}
	defer unlock()
	if now, err := os.Lstat(f.path(key)); err != nil || !os.SameFile(now, was) {
		abandon()
		_ = w.Close()
		return false, nil
	}
	if err := w.Close(); err != nil {
		return false, err
	}
	return true, f.syncOne(filepath.Dir(f.path(key)))
}

func (s *Store) resealBucket(ctx context.Context, after string, each func(string, bool) error) error {
	replacer, ok := s.bucket.(Replacer)
	if !ok {
		return errors.New("this bucket cannot replace a blob only if nobody else changes it")
	}
	for object, err := range s.bucket.List(ctx, "") {
		if err != nil {
			return mapError("list", "", err)
		}
		if object.Key <= after {
			continue
		}
		sealed, err := replacer.Replace(ctx, object.Key, func(stored io.Reader) (io.Reader, error) {
			stream, err := s.ring.ReadStream(stored, object.Key)
			if err != nil || stream.IsCurrent() {
				return nil, err
			}
			return reseal(ctx, s.ring, stream, stored, object.Key)
		})
		if err == nil {
			err = each(object.Key, sealed)
		}
		if err != nil {
			return mapError("encrypt", object.Key, err)
		}
	}
	return nil
}
