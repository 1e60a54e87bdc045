package blob

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"os"
	"time"

	"gocloud.dev/blob"
	"gocloud.dev/gcerrors"
)

// listPage is how many objects one listing asks for. A folder is walked anew
// for each page and its pages can lose keys at their seams, so a page is large;
// object stores give what they give.
const listPage = 1 << 20

// Object is one entry of a listing.
type Object struct {
	Key      string
	Bytes    int64
	Modified time.Time
}

// Get gives the bytes under key. A missing one is ErrNotFound.
func (s *Store) Get(ctx context.Context, key string) ([]byte, error) {
	r, size, err := s.Open(ctx, key)
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

// GetJSON decodes the JSON under key into v. A missing one is ErrNotFound.
func (s *Store) GetJSON(ctx context.Context, key string, v any) error {
	data, err := s.Get(ctx, key)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(data, v); err != nil {
		return fmt.Errorf("decode blob %s: %w", key, err)
	}
	return nil
}

// Open gives a reader of the bytes under key, which the caller closes, and how
// many they are. A missing one is ErrNotFound. What is read is what was there
// at Open, whatever is written meanwhile.
func (s *Store) Open(ctx context.Context, key string) (io.ReadCloser, int64, error) {
	if err := checkKey(key); err != nil {
		return nil, 0, err
	}
	var file *os.File
	r, err := s.bucket.NewReader(ctx, key, &blob.ReaderOptions{
		BeforeRead: func(as func(any) bool) error {
			as(&file) // stays nil where the store is not a folder
			return nil
		},
	})
	if err != nil {
		return nil, 0, mapError("read", key, err)
	}
	size := r.Size()
	if file != nil {
		// The bucket asked for the size before it opened the file, which a write
		// may have replaced in between.
		info, err := file.Stat()
		if err != nil {
			_ = r.Close()
			return nil, 0, mapError("read", key, err)
		}
		size = info.Size()
	}
	return r, size, nil
}

// Exists reports whether there are bytes under key.
func (s *Store) Exists(ctx context.Context, key string) (bool, error) {
	if err := checkKey(key); err != nil {
		return false, err
	}
	ok, err := s.bucket.Exists(ctx, key)
	return ok, mapError("look up", key, err)
}

// List gives the objects whose keys begin with prefix, which is empty or ends
// in "/", in no particular order. Writes under way are not among them. It stops
// at the first error.
func (s *Store) List(ctx context.Context, prefix string) iter.Seq2[Object, error] {
	return func(yield func(Object, error) bool) {
		for object, err := range s.entries(ctx, prefix) {
			if err == nil && temporaryKey.MatchString(object.Key) {
				continue
			}
			if !yield(object, err) {
				return
			}
		}
	}
}

// entries is List with the files of unfinished writes.
func (s *Store) entries(ctx context.Context, prefix string) iter.Seq2[Object, error] {
	return func(yield func(Object, error) bool) {
		if prefix != "" {
			if err := checkPrefix(prefix); err != nil {
				yield(Object{}, err)
				return
			}
		}
		for token := blob.FirstPageToken; token != nil; {
			page, next, err := s.listPage(ctx, token, prefix)
			if err != nil {
				yield(Object{}, mapError("list", prefix, err))
				return
			}
			for _, o := range page {
				if !yield(Object{Key: o.Key, Bytes: o.Size, Modified: o.ModTime}, nil) {
					return
				}
			}
			token = next
		}
	}
}

// listPage lists once more when a file goes while its folder is being read,
// which every finished write does with its temporary name.
func (s *Store) listPage(ctx context.Context, token []byte, prefix string) ([]*blob.ListObject, []byte, error) {
	for {
		page, next, err := s.bucket.ListPage(ctx, token, listPage, &blob.ListOptions{Prefix: prefix})
		if s.dir != "" && gcerrors.Code(err) == gcerrors.NotFound && ctx.Err() == nil {
			continue
		}
		return page, next, err
	}
}
