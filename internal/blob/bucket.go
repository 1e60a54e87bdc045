package blob

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"time"

	"github.com/cairn-rag/cairn/internal/envelope"
)

// Bucket is the part of a bucket that a Store keeps its blobs in. Its methods may be
// called at the same time, and again after an error. A service that cannot be reached,
// or that refuses the request, is an error of Unavailable, Refused or Gone.
type Bucket interface {
	// Put stores the bytes of r under key in one step, in place of those that were
	// there. If r fails, Put returns its error wrapped and stores nothing.
	Put(ctx context.Context, key string, r io.Reader) error
	// Open returns a reader of the bytes under key, which the caller closes, and their
	// number. A missing blob is ErrNotFound.
	Open(ctx context.Context, key string) (io.ReadCloser, int64, error)
	// OpenAt returns a reader of the bytes under key from an offset on, which is less than
	// their number. The caller closes it. A missing blob is ErrNotFound.
	OpenAt(ctx context.Context, key string, offset int64) (io.ReadCloser, error)
	// Exists reports whether there is a blob under key. A missing bucket is an error.
	Exists(ctx context.Context, key string) (bool, error)
	// List returns the blobs whose keys begin with prefix, page by page. Blobs may be
	// deleted meanwhile. It stops at the first error.
	List(ctx context.Context, prefix string) iter.Seq2[Object, error]
	// Delete removes blobs, up to MaxDelete of them. Missing ones are no error. After an
	// error some are removed.
	Delete(ctx context.Context, keys []string) error
	// Link returns an address from which anybody can download a blob for d.Valid. It
	// need not exist. An empty address means that the credentials cannot sign one.
	Link(ctx context.Context, key string, d Download) (string, error)
	// Ping reports whether the bucket can be reached. It changes nothing.
	Ping(ctx context.Context) error
	// Close frees the connections.
	Close() error
}

// Abandoner is a Bucket in which an interrupted Put leaves bytes that List does not show.
type Abandoner interface {
	// Abandon removes such bytes of keys that begin with prefix, except those for which
	// keep returns true.
	Abandon(ctx context.Context, prefix string, keep func(key string, begun time.Time) bool) error
}

// MaxDelete is the number of blobs that one call of Bucket.Delete removes at most.
const MaxDelete = 1000

// Download is how a blob is downloaded by Link.
type Download struct {
	MediaType   string        // the Content-Type of the answer
	Disposition string        // its Content-Disposition
	Valid       time.Duration // how long the address works
}

// New returns a Store that keeps its blobs in a bucket, which it closes.
func New(b Bucket) *Store { return (&Store{bucket: b}).Encrypt(&envelope.Ring{}) }

// Link returns an address from which a client can download the blob under key itself. An
// empty one means that this store has no such addresses. The caller has checked that the
// client may read the blob.
func (s *Store) Link(ctx context.Context, key string, d Download) (string, error) {
	if err := checkKey(key); err != nil || s.folder != nil || s.Encrypts() {
		return "", err // a client could not decrypt the bytes
	}
	address, err := s.bucket.Link(ctx, key, d)
	return address, mapError("sign the address of", key, err)
}

// deleteBatches is DeletePrefix of a bucket.
func (s *Store) deleteBatches(ctx context.Context, prefix string, keep func(string, time.Time) bool) (int, error) {
	removed := 0
	var keys []string
	remove := func() error {
		if len(keys) == 0 {
			return nil
		}
		if err := s.bucket.Delete(ctx, keys); err != nil {
			return mapError("delete", prefix, err)
		}
		removed += len(keys)
		keys = keys[:0]
		return nil
	}
	for object, err := range s.files(ctx, prefix) {
		if err != nil {
			return removed, err
		}
		if keep(object.Key, object.Modified) {
			continue
		}
		if keys = append(keys, object.Key); len(keys) < MaxDelete {
			continue
		}
		if err := remove(); err != nil {
			return removed, err
		}
	}
	if err := remove(); err != nil {
		return removed, err
	}
	if a, ok := s.bucket.(Abandoner); ok {
		return removed, mapError("delete unfinished", prefix, a.Abandon(ctx, prefix, keep))
	}
	return removed, nil
}

// Source is a reader of bytes to store. Its error is told from the errors of the service to
// which a client of it sends the bytes.
type Source struct {
	io.Reader
	Err error
}

// Read implements io.Reader.
func (s *Source) Read(p []byte) (int, error) {
	n, err := s.Reader.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		s.Err = err
	}
	return n, err
}

// body is a body of a bucket's blob, whose failures are errors of Unavailable.
type body struct {
	io.ReadCloser
	ctx context.Context //nolint:containedctx // the context of the request whose answer this is
}

// Read implements io.Reader.
func (b body) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		err = Unavailable(b.ctx, fmt.Errorf("read the body: %w", err))
	}
	return n, err
}
