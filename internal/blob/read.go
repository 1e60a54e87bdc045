package blob

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"gocloud.dev/blob"

	"github.com/cairn-rag/cairn/internal/envelope"
)

// Get returns the bytes under key. A missing one is ErrNotFound.
func (s *Store) Get(ctx context.Context, key string) ([]byte, error) { return readAll(ctx, s, key) }

// GetJSON decodes the JSON under key into v. A missing one is ErrNotFound.
func (s *Store) GetJSON(ctx context.Context, key string, v any) error {
	return readJSON(ctx, s, key, v)
}

// opener is a Store or a Keyed.
type opener interface {
	Open(ctx context.Context, key string) (io.ReadCloser, int64, error)
}

func readAll(ctx context.Context, from opener, key string) ([]byte, error) {
	r, size, err := from.Open(ctx, key)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	data := make([]byte, size)
	if _, err := io.ReadFull(r, data); err != nil {
		return nil, mapError("read", key, err)
	}
	return data, nil
}

func readJSON(ctx context.Context, from opener, key string, v any) error {
	data, err := readAll(ctx, from, key)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(data, v); err != nil {
		return fmt.Errorf("decode blob %s: %w", key, err)
	}
	return nil
}

// Open returns a reader of the bytes under key, which the caller closes, and
// their number. A missing one is ErrNotFound. The reader returns the bytes that
// were there at Open, whatever is written meanwhile.
func (s *Store) Open(ctx context.Context, key string) (r io.ReadCloser, size int64, err error) {
	if err := checkKey(key); err != nil {
		return nil, 0, err
	}
	found, err := s.find(
		func() (bool, error) {
			data, found, err := s.folder.row(ctx, key)
			r, size = io.NopCloser(bytes.NewReader(data)), int64(len(data))
			return found, err
		},
		func() (bool, error) {
			r, size, _, err = s.openLarge(ctx, key)
			if errors.Is(err, ErrNotFound) {
				return false, nil
			}
			return err == nil, err
		})
	if err == nil && !found {
		err = ErrNotFound
	}
	if err != nil {
		return nil, 0, mapError("read", key, err)
	}
	return r, size, nil
}

// find looks for a blob in the small file and then in the bucket. It looks again
// if it finds none and a blob went from a file to a row meanwhile, for then it may
// have looked at both places at the wrong time. Of other processes it does not know
// that, and looks twice.
func (s *Store) find(inSmall, inBucket func() (bool, error)) (bool, error) {
	if s.folder == nil {
		return inBucket()
	}
	for again := false; ; again = true {
		moved := s.folder.moved.Load()
		if found, err := inSmall(); found || err != nil {
			return found, err
		}
		if found, err := inBucket(); found || err != nil || s.folder.moved.Load() == moved && (again || s.folder.alone()) {
			return found, err
		}
	}
}

// openBlob returns the stored bytes of a blob in the bucket, or of a file of the folder.
func (s *Store) openBlob(ctx context.Context, key string) (io.ReadCloser, int64, error) {
	if s.folder != nil {
		return s.folder.openFile(ctx, key)
	}
	r, size, err := s.bucket.Open(ctx, key)
	if err != nil {
		return nil, 0, mapError("read", key, err)
	}
	return body{r, ctx}, size, nil
}

// openLarge is Open of a blob in the bucket, or of a file of the folder, and returns what it
// has read to decrypt it.
func (s *Store) openLarge(ctx context.Context, key string) (io.ReadCloser, int64, envelope.Stream, error) {
	stored, size, err := s.openBlob(ctx, key)
	if err != nil {
		return nil, 0, envelope.Stream{}, err
	}
	stream, err := s.ring.ReadStream(stored, key)
	var plain io.Reader
	if err == nil {
		size, err = stream.Size(size)
	}
	if err == nil {
		plain, err = stream.Open(ctx, stored)
	}
	if err != nil {
		_ = stored.Close() // it was only read
		return nil, 0, stream, mapError("read", key, err)
	}
	return readCloser{plain, stored}, size, stream, nil
}

// readCloser is a reader of what another one reads, which it closes.
type readCloser struct {
	io.Reader
	io.Closer
}

// row returns the bytes of a row of the small file, which the caller must not change.
func (f *folder) row(ctx context.Context, key string) (data []byte, found bool, err error) {
	if data, found, err = f.small.get(ctx, key); found && err == nil {
		data, err = f.ring.Unseal(ctx, data, key)
	}
	return data, found && err == nil, err
}

func (f *folder) openFile(ctx context.Context, key string) (io.ReadCloser, int64, error) {
	return f.openFileAt(ctx, key, 0)
}

// openFileAt returns a reader of a file from an offset on, and the size of the file.
func (f *folder) openFileAt(ctx context.Context, key string, offset int64) (io.ReadCloser, int64, error) {
	var file *os.File
	r, err := f.large.NewRangeReader(ctx, key, offset, -1, &blob.ReaderOptions{
		BeforeRead: func(as func(any) bool) error {
			as(&file)
			return nil
		},
	})
	if err != nil {
		return nil, 0, mapError("read", key, err)
	}
	// The bucket asked for the size before it opened the file, which a write may have
	// replaced in between.
	info, err := file.Stat()
	if err != nil {
		_ = r.Close()
		return nil, 0, err
	}
	return r, info.Size(), nil
}

// Exists reports whether there are bytes under key.
func (s *Store) Exists(ctx context.Context, key string) (bool, error) {
	if err := checkKey(key); err != nil {
		return false, err
	}
	found, err := s.find(
		func() (bool, error) { return s.folder.small.exists(ctx, key) },
		func() (bool, error) {
			if s.folder != nil {
				return s.folder.hasFile(key)
			}
			return s.bucket.Exists(ctx, key)
		})
	return found, mapError("look up", key, err)
}
