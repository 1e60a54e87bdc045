package blob

import (
	"bytes"
	"context"
	"errors"
	"io"

	"github.com/cairn-rag/cairn/internal/envelope"
)

// Content is the bytes of a blob for http.ServeContent. It opens the blob again where a
// reader continues at another place. It is not safe for concurrent use.
type Content struct {
	ctx   context.Context //nolint:containedctx // the context of the request whose answer this is
	store *Store
	keyed *Keyed // of an original that may have a key of its own, nil = it has none
	key   string
	size  int64

	r      io.ReadCloser   // nil = not open
	stream envelope.Stream // what a later reader needs to decrypt a large blob
	from   int64           // at which place r is
	at     int64           // at which the next Read begins
	err    error
}

// OpenContent returns the bytes under key, which the caller closes. A missing blob is
// ErrNotFound. The bytes must not be replaced meanwhile.
func (s *Store) OpenContent(ctx context.Context, key string) (*Content, error) {
	if err := checkKey(key); err != nil {
		return nil, err
	}
	c := &Content{ctx: ctx, store: s, key: key}
	found, err := s.find(
		func() (bool, error) {
			data, found, err := s.folder.row(ctx, key)
			c.r, c.size = io.NopCloser(bytes.NewReader(data)), int64(len(data))
			return found, err
		},
		func() (found bool, err error) {
			c.r, c.size, c.stream, err = s.openLarge(ctx, key)
			if errors.Is(err, ErrNotFound) {
				return false, nil
			}
			return err == nil, err
		})
	if err == nil && !found {
		err = ErrNotFound
	}
	if err != nil {
		return nil, mapError("read", key, err)
	}
	return c, nil
}

// Size returns the number of bytes.
func (c *Content) Size() int64 { return c.size }

// Err returns the error of the last Read, nil at the end of the bytes.
func (c *Content) Err() error { return c.err }

// Read implements io.Reader.
func (c *Content) Read(p []byte) (n int, err error) {
	if c.at >= c.size {
		return 0, io.EOF
	}
	if c.r == nil || c.from != c.at {
		if err := c.reopen(); err != nil {
			c.err = err
			return 0, err
		}
	}
	n, err = c.r.Read(p)
	c.at += int64(n)
	c.from = c.at
	if err != nil && !errors.Is(err, io.EOF) {
		c.err = err
	}
	return n, err
}

func (c *Content) reopen() error {
	if err := c.Close(); err != nil {
		return mapError("read", c.key, err)
	}
	r, err := c.openHere()
	if err != nil {
		return mapError("read", c.key, err)
	}
	c.r, c.from = r, c.at
	return nil
}

// openHere opens the blob at c.at.
func (c *Content) openHere() (io.ReadCloser, error) {
	if c.keyed != nil {
		if sealed, err := c.keyed.hasKey(c.ctx, c.key); sealed || err != nil {
			return c.keyed.openAt(c.ctx, c.key, c.at)
		}
	}
	r, err := c.store.openAt(c.ctx, c.key, c.stream, c.at)
	if errors.Is(err, envelope.ErrOpen) { // the blob was encrypted anew since it was opened
		return c.openAnew()
	}
	return r, err
}

// openAnew opens the blob at c.at after its beginning is read again.
func (c *Content) openAnew() (io.ReadCloser, error) {
	r, _, stream, err := c.store.openLarge(c.ctx, c.key)
	if err != nil {
		return nil, err
	}
	c.stream = stream
	if err := r.Close(); err != nil {
		return nil, err
	}
	return c.store.openAt(c.ctx, c.key, stream, c.at)
}

// Seek implements io.Seeker.
func (c *Content) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekCurrent:
		offset += c.at
	case io.SeekEnd:
		offset += c.size
	}
	if offset < 0 {
		return 0, errors.New("seek: a negative place")
	}
	c.at = offset
	return offset, nil
}

// Close frees the reader.
func (c *Content) Close() error {
	if c.r == nil {
		return nil
	}
	r := c.r
	c.r = nil
	return r.Close()
}

// openAt returns the bytes under key from an offset on. stream is what openLarge returned of a
// large blob.
func (s *Store) openAt(ctx context.Context, key string, stream envelope.Stream, offset int64) (r io.ReadCloser, err error) {
	found, err := s.find(
		func() (bool, error) {
			data, found, err := s.folder.row(ctx, key)
			r = io.NopCloser(bytes.NewReader(data[min(offset, int64(len(data))):]))
			return found, err
		},
		func() (bool, error) {
			r, err = s.openLargeAt(ctx, key, stream, offset)
			if errors.Is(err, ErrNotFound) {
				return false, nil
			}
			return err == nil, err
		})
	if err == nil && !found {
		err = ErrNotFound
	}
	return r, err
}

func (s *Store) openLargeAt(ctx context.Context, key string, stream envelope.Stream, offset int64) (io.ReadCloser, error) {
	if s.ring.On() && !stream.IsSealed() { // it may have been encrypted since
		r, _, now, err := s.openLarge(ctx, key)
		if err != nil {
			return nil, err
		}
		_ = r.Close() // it was only read
		stream = now
	}
	stored, err := s.openBlobAt(ctx, key, stream.At(offset))
	if err != nil {
		return nil, mapError("read", key, err)
	}
	return decryptAt(ctx, stream, stored, offset)
}

func (s *Store) openBlobAt(ctx context.Context, key string, place int64) (io.ReadCloser, error) {
	if s.folder != nil {
		file, _, err := s.folder.openFileAt(ctx, key, place)
		return file, err
	}
	r, err := s.bucket.OpenAt(ctx, key, place)
	if err != nil {
		return nil, err
	}
	return body{r, ctx}, nil
}

// decryptAt returns the plain bytes of stored, which begins at the place of an offset. It has
// read the first package, so a blob that was encrypted anew meanwhile is envelope.ErrOpen.
func decryptAt(ctx context.Context, stream envelope.Stream, stored io.ReadCloser, offset int64) (io.ReadCloser, error) {
	plain, err := stream.OpenAt(ctx, stored, offset)
	if err != nil {
		_ = stored.Close() // it was only read
		return nil, err
	}
	return readCloser{plain, stored}, nil
}
