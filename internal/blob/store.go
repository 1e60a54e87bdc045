package blob

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"sync/atomic"
	"syscall"

	"gocloud.dev/blob"
	"gocloud.dev/blob/fileblob"
	"gocloud.dev/gcerrors"

	"github.com/cairn-rag/cairn/internal/envelope"
)

// The errors that callers tell apart.
var (
	// ErrNotFound means that there is nothing under a key.
	ErrNotFound = errors.New("no such blob")
	// ErrNoSpace means that the disk, or the quota on it, is full. The new bytes
	// were not stored, and the old ones are still there.
	ErrNoSpace = errors.New("no space left for blobs")
)

// Ref names stored bytes, with their hash and size.
type Ref struct {
	Key    string `json:"key"`
	SHA256 string `json:"sha256"` // hexadecimal
	Bytes  int64  `json:"bytes"`
}

// Store keeps bytes under keys. Its methods may be called at the same time.
type Store struct {
	bucket Bucket         // nil when the store is a folder
	folder *folder        // nil when it is not
	ring   *envelope.Ring // encrypts blobs; an empty one encrypts none
}

// folder is the part of a Store that only a folder has. A blob of it is a row of
// the small file or a file of its own. If a kill left both, the row counts.
type folder struct {
	folders
	large      *blob.Bucket // of the files
	small      *smallFile
	smallBytes int // the largest blob that is a row
	locks      keyLocks
	ring       *envelope.Ring // of the Store
	// alone reports whether this process alone writes to the folder, and has since
	// it opened it.
	alone func() bool
	// moved counts the blobs that went from a file to a row. A reader that found
	// neither looks again if it has changed.
	moved atomic.Int64
}

// contentType is the type under which all blobs are stored: they mean nothing to a
// browser.
const contentType = "application/octet-stream"

// Open opens the store that a URL names: "file:///dir", which is created, or
// "mem://", which ends with the process. Package connect opens the stores of services. A write to a folder outlives a loss of
// power once it returned; with "file:///dir?sync=off" it outlives a kill of the
// process only, and costs a tenth.
//
// Several processes may have a folder open if SharedIf tells each of them so. They
// must not write the same key at the same time.
func Open(ctx context.Context, address string, options ...Option) (*Store, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, fmt.Errorf("open blob store: %w", err)
	}
	switch u.Scheme {
	case "mem":
		return New(newMemory()), nil
	case "file":
		return openFolder(ctx, u, syncFolder, options...)
	default:
		return nil, fmt.Errorf("open blob store %q: supported are file:///folder and mem://", u.Redacted())
	}
}

// Option changes how a folder is opened.
type Option func(*folder)

// SharedIf makes a Store read what other processes have written as soon as shared
// reports that there are or were any. It asks at each read, so shared must be quick.
func SharedIf(shared func() bool) Option {
	return func(f *folder) { f.alone = func() bool { return !shared() } }
}

// openFolder opens the store in a folder. sync syncs one folder; tests count its
// calls.
func openFolder(ctx context.Context, u *url.URL, sync func(folder string) error, options ...Option) (*Store, error) {
	if (u.Host != "" && u.Host != "localhost") || u.Path == "" || u.Fragment != "" || (u.RawQuery != "" && u.RawQuery != "sync=off") {
		return nil, fmt.Errorf("open blob store %q: a folder is written file:///absolute/path, special characters as %%XX, with ?sync=off or nothing behind it", u.Redacted())
	}
	if u.RawQuery == "sync=off" {
		sync = nil
	}
	f := &folder{folders: folders{root: filepath.Clean(filepath.FromSlash(u.Path)), sync: sync}, smallBytes: smallBytes, alone: func() bool { return true }}
	for _, option := range options {
		option(f)
	}
	f.shared = func() bool { return !f.alone() }
	if err := f.createRoot(); err != nil {
		return nil, mapError("open", u.Path, err)
	}
	var err error
	f.large, err = fileblob.OpenBucket(f.root, &fileblob.Options{
		DirFileMode: 0o700,
		NoTempDir:   true, // a rename must not cross file systems
		Metadata:    fileblob.MetadataDontWrite,
	})
	if err != nil {
		return nil, mapError("open", u.Path, err)
	}
	if f.small, err = openSmall(ctx, f.root, sync != nil, f.alone); err != nil {
		return nil, mapError("open", filepath.Join(u.Path, smallName), errors.Join(err, f.large.Close()))
	}
	if err := f.syncOne(f.root); err != nil {
		return nil, mapError("open", u.Path, errors.Join(err, f.small.close(), f.large.Close()))
	}
	return (&Store{folder: f}).Encrypt(&envelope.Ring{}), nil
}

// Encrypt makes the store encrypt what it writes from now on, if the ring has keys, and read
// what is encrypted. It is called before the store is used.
func (s *Store) Encrypt(with *envelope.Ring) *Store {
	s.ring = with
	if s.folder != nil {
		s.folder.ring = with
	}
	return s
}

// Encrypts reports whether blobs are encrypted, so that a listing has other sizes than they have.
func (s *Store) Encrypts() bool { return s.ring.On() }

// Ping reports whether the store can be reached. It writes nothing.
func (s *Store) Ping(ctx context.Context) error {
	ping := s.pingFolder
	if s.folder == nil {
		ping = s.bucket.Ping
	}
	if err := ping(ctx); err != nil {
		return fmt.Errorf("reach blob store: %w", err)
	}
	return nil
}

func (s *Store) pingFolder(ctx context.Context) error {
	if _, err := os.Stat(s.folder.root); err != nil {
		return err
	}
	return s.folder.small.ping(ctx, s.folder.root)
}

// Close waits for the writes that were accepted and closes the store. Calls after
// it fail.
func (s *Store) Close() error {
	if s.folder == nil {
		return s.bucket.Close()
	}
	return errors.Join(s.folder.small.close(), s.folder.large.Close())
}

// mapError wraps an error with the operation and the key, and marks those that
// callers tell apart.
func mapError(verb, key string, err error) error {
	switch {
	case err == nil:
		return nil
	case gcerrors.Code(err) == gcerrors.NotFound || errors.Is(err, ErrNotFound):
		return fmt.Errorf("%s blob %s: %w", verb, key, ErrNotFound)
	case errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || isFull(err):
		return fmt.Errorf("%s blob %s: %w: %w", verb, key, ErrNoSpace, err)
	default:
		return fmt.Errorf("%s blob %s: %w", verb, key, err)
	}
}
