package blob

import (
	"bytes"
	"context"
	"errors"
	"io"
	"iter"
	"sync"

	"gocloud.dev/blob"
	"gocloud.dev/blob/memblob"
	"gocloud.dev/gcerrors"
)

// memory is a Bucket that ends with the process.
type memory struct {
	bucket *blob.Bucket
	change *sync.Mutex // held while bytes are replaced or deleted
}

func newMemory() memory { return memory{memblob.OpenBucket(nil), &sync.Mutex{}} }

// Put implements Bucket.
func (m memory) Put(ctx context.Context, key string, r io.Reader) error {
	data, err := io.ReadAll(r) // outside of the lock
	if err != nil {
		return err
	}
	m.change.Lock()
	defer m.change.Unlock()
	return m.put(ctx, key, bytes.NewReader(data))
}

// Replace implements Replacer.
func (m memory) Replace(ctx context.Context, key string, change func(io.Reader) (io.Reader, error)) (bool, error) {
	m.change.Lock()
	defer m.change.Unlock()
	r, _, err := m.Open(ctx, key)
	if gcerrors.Code(err) == gcerrors.NotFound {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer r.Close()
	changed, err := change(r)
	if err != nil || changed == nil {
		return false, err
	}
	return true, m.put(ctx, key, changed)
}

func (m memory) put(ctx context.Context, key string, r io.Reader) error {
	ctx, abandon := context.WithCancel(ctx)
	defer abandon()
	w, err := m.bucket.NewWriter(ctx, key, &blob.WriterOptions{ContentType: contentType})
	if err != nil {
		return err
	}
	if _, err = io.Copy(w, r); err == nil {
		err = ctx.Err()
	}
	if err != nil {
		abandon() // makes Close drop the bytes
		_ = w.Close()
		return err
	}
	return w.Close()
}

// Open implements Bucket.
func (m memory) Open(ctx context.Context, key string) (io.ReadCloser, int64, error) {
	r, err := m.bucket.NewReader(ctx, key, nil)
	if err != nil {
		return nil, 0, err
	}
	return r, r.Size(), nil
}

// OpenAt implements Bucket.
func (m memory) OpenAt(ctx context.Context, key string, offset int64) (io.ReadCloser, error) {
	return m.bucket.NewRangeReader(ctx, key, offset, -1, nil)
}

// Exists implements Bucket.
func (m memory) Exists(ctx context.Context, key string) (bool, error) {
	return m.bucket.Exists(ctx, key)
}

// List implements Bucket.
func (m memory) List(ctx context.Context, prefix string) iter.Seq2[Object, error] {
	return func(yield func(Object, error) bool) {
		for objects := m.bucket.List(&blob.ListOptions{Prefix: prefix}); ; {
			o, err := objects.Next(ctx)
			if errors.Is(err, io.EOF) {
				return
			}
			if err != nil {
				yield(Object{}, err)
				return
			}
			if !yield(Object{Key: o.Key, Bytes: o.Size, Modified: o.ModTime}, nil) {
				return
			}
		}
	}
}

// Delete implements Bucket.
func (m memory) Delete(ctx context.Context, keys []string) error {
	m.change.Lock()
	defer m.change.Unlock()
	for _, key := range keys {
		if err := m.bucket.Delete(ctx, key); err != nil && gcerrors.Code(err) != gcerrors.NotFound {
			return err
		}
	}
	return nil
}

// Link implements Bucket. Memory has no addresses.
func (m memory) Link(context.Context, string, Download) (string, error) { return "", nil }

// Ping implements Bucket.
func (m memory) Ping(context.Context) error { return nil }

// Close implements Bucket.
func (m memory) Close() error { return m.bucket.Close() }
