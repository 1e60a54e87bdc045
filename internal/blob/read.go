package blob

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"gocloud.dev/blob"
)

// escaped matches what stands in a file's name for a character of its key.
var escaped = regexp.MustCompile(`__0x([0-9a-f]+)__`)

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
		if s.folders != nil {
			s.walk(ctx, prefix, yield)
			return
		}
		for objects := s.bucket.List(&blob.ListOptions{Prefix: prefix}); ; {
			o, err := objects.Next(ctx)
			if errors.Is(err, io.EOF) {
				return
			}
			if err != nil {
				yield(Object{}, mapError("list", prefix, err))
				return
			}
			if !yield(Object{Key: o.Key, Bytes: o.Size, Modified: o.ModTime}, nil) {
				return
			}
		}
	}
}

// walk is entries for a folder. The bucket would hold the whole listing; this
// holds the names of the folders on the way.
func (s *Store) walk(ctx context.Context, prefix string, yield func(Object, error) bool) {
	root := filepath.Join(s.folders.root, filepath.FromSlash(prefix))
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() && !strings.HasSuffix(path, ".attrs") {
			var o Object
			if o, err = s.object(path, entry); err == nil && !yield(o, nil) {
				return filepath.SkipAll
			}
		}
		if errors.Is(err, fs.ErrNotExist) { // it went meanwhile, as the temporary name of a write that ended
			err = nil
		}
		return errors.Join(err, ctx.Err())
	})
	if err != nil {
		yield(Object{}, mapError("list", prefix, err))
	}
}

func (s *Store) object(path string, entry fs.DirEntry) (Object, error) {
	info, err := entry.Info()
	if err != nil {
		return Object{}, err
	}
	name, err := filepath.Rel(s.folders.root, path)
	return Object{Key: keyOf(name), Bytes: info.Size(), Modified: info.ModTime()}, err
}

// keyOf is the key that the bucket keeps under a name in its folder.
func keyOf(name string) string {
	return escaped.ReplaceAllStringFunc(filepath.ToSlash(name), func(s string) string {
		code, err := strconv.ParseInt(escaped.FindStringSubmatch(s)[1], 16, 32)
		if err != nil {
			return s
		}
		return string(rune(code))
	})
}
