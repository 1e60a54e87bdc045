package blob

import (
	"bytes"
	"context"
	"errors"
	"io"
)

// Content is the bytes of a blob for http.ServeContent. It opens the blob again where a
// reader continues at another place. It is not safe for concurrent use.
type Content struct {
	ctx   context.Context //nolint:containedctx // the context of the request whose answer this is
	store *Store
	key   string
	size  int64

	r    io.ReadCloser // nil = not open
	from int64         // at which place r is
	at   int64         // at which the next Read begins
	err  error
}

// OpenContent returns the bytes under key, which the caller closes. A missing blob is
// ErrNotFound. The bytes must not be replaced meanwhile.
func (s *Store) OpenContent(ctx context.Context, key string) (*Content, error) {
	r, size, err := s.Open(ctx, key)
	if err != nil {
		return nil, err
	}
	return &Content{ctx: ctx, store: s, key: key, size: size, r: r}, nil
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
	r, err := c.store.openAt(c.ctx, c.key, c.at)
	if err != nil {
		return mapError("read", c.key, err)
	}
	c.r, c.from = r, c.at
	return nil
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

// openAt returns the bytes under key from an offset on.
func (s *Store) openAt(ctx context.Context, key string, offset int64) (r io.ReadCloser, err error) {
	if s.folder == nil {
		if r, err = s.bucket.OpenAt(ctx, key, offset); err != nil {
			return nil, err
		}
		return body{r, ctx}, nil
	}
	found, err := s.find(
		func() (bool, error) {
			data, found, err := s.folder.small.get(ctx, key)
			r = io.NopCloser(bytes.NewReader(data[min(offset, int64(len(data))):]))
			return found, err
		},
		func() (bool, error) {
			file, _, err := s.folder.openFileAt(ctx, key, offset)
			if err = mapError("read", key, err); errors.Is(err, ErrNotFound) {
				return false, nil
			}
			r = file
			return err == nil, err
		})
	if err == nil && !found {
		err = ErrNotFound
	}
	return r, err
}
