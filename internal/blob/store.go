package blob

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"syscall"

	"gocloud.dev/blob"
	"gocloud.dev/blob/fileblob"
	"gocloud.dev/blob/memblob"
	"gocloud.dev/gcerrors"
)

// The errors that callers tell apart.
var (
	// ErrNotFound says that there is nothing under a key.
	ErrNotFound = errors.New("no such blob")
	// ErrNoSpace says that the disk, or the quota on it, is full. What was being
	// written is not there, and what was there before still is.
	ErrNoSpace = errors.New("no space left for blobs")
)

// Ref names stored bytes and says what they must be.
type Ref struct {
	Key    string `json:"key"`
	SHA256 string `json:"sha256"` // hexadecimal
	Bytes  int64  `json:"bytes"`
}

// Store keeps bytes under keys. Its methods may be called at the same time.
type Store struct {
	bucket  *blob.Bucket
	folders *folders // nil when the store is not a folder
}

// Open opens the store that a URL names: "file:///dir", which is created, or
// "mem://", which ends with the process. A write to a folder outlives a loss of
// power once it returned; with "file:///dir?sync=off" it outlives a kill of the
// process only, and costs a tenth.
func Open(_ context.Context, address string) (*Store, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, fmt.Errorf("open blob store: %w", err)
	}
	switch u.Scheme {
	case "mem":
		return &Store{bucket: memblob.OpenBucket(nil)}, nil
	case "file":
		return openFolder(u, syncFolder)
	default:
		return nil, fmt.Errorf("open blob store %q: supported are file:///folder and mem://", u.Redacted())
	}
}

// openFolder opens the store in a folder. sync syncs one folder; tests count its
// calls.
func openFolder(u *url.URL, sync func(folder string) error) (*Store, error) {
	if (u.Host != "" && u.Host != "localhost") || u.Path == "" || u.Fragment != "" || (u.RawQuery != "" && u.RawQuery != "sync=off") {
		return nil, fmt.Errorf("open blob store %q: a folder is written file:///absolute/path, special characters as %%XX, with ?sync=off or nothing behind it", u.Redacted())
	}
	f := &folders{root: filepath.Clean(filepath.FromSlash(u.Path)), sync: sync}
	if u.RawQuery == "sync=off" {
		f.sync = nil
	}
	if err := f.createRoot(); err != nil {
		return nil, mapError("open", u.Path, err)
	}
	bucket, err := fileblob.OpenBucket(f.root, &fileblob.Options{
		DirFileMode: 0o700,
		NoTempDir:   true, // a rename must not cross file systems
		Metadata:    fileblob.MetadataDontWrite,
	})
	if err != nil {
		return nil, mapError("open", u.Path, err)
	}
	return &Store{bucket: bucket, folders: f}, nil
}

// Ping reports whether the store can be reached.
func (s *Store) Ping(ctx context.Context) error {
	if s.folders != nil { // a bucket over a folder that is gone looks empty
		if _, err := os.Stat(s.folders.root); err != nil {
			return fmt.Errorf("reach blob store: %w", err)
		}
	}
	ok, err := s.bucket.IsAccessible(ctx)
	if err != nil {
		return fmt.Errorf("reach blob store: %w", err)
	}
	if !ok {
		return errors.New("reach blob store: it does not exist any more")
	}
	return nil
}

// Close gives back what the store holds. Calls after it fail.
func (s *Store) Close() error { return s.bucket.Close() }

// mapError wraps an error with what was tried, and marks those that callers
// tell apart.
func mapError(verb, key string, err error) error {
	switch {
	case err == nil:
		return nil
	case gcerrors.Code(err) == gcerrors.NotFound:
		return fmt.Errorf("%s blob %s: %w", verb, key, ErrNotFound)
	case errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT):
		return fmt.Errorf("%s blob %s: %w: %w", verb, key, ErrNoSpace, err)
	default:
		return fmt.Errorf("%s blob %s: %w", verb, key, err)
	}
}
