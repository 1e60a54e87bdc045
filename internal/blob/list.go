package blob

import (
	"context"
	"errors"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/cairn-rag/cairn/internal/envelope"
)

// escaped matches the part of a file's name that stands for one character of its
// key.
var escaped = regexp.MustCompile(`__0x([0-9a-f]+)__`)

// Object is one entry of a listing.
type Object struct {
	Key      string
	Bytes    int64 // as they are stored: of an encrypted blob some more than it has
	Modified time.Time
}

// List returns the objects whose keys begin with prefix, which is empty or ends
// in "/", in no particular order. Unfinished writes are not among them. It stops
// at the first error. A blob that grows past the size of small ones, or shrinks
// below it, by a write during the listing may be missing or come twice.
func (s *Store) List(ctx context.Context, prefix string) iter.Seq2[Object, error] {
	return func(yield func(Object, error) bool) {
		if prefix != "" {
			if err := checkPrefix(prefix); err != nil {
				yield(Object{}, err)
				return
			}
		}
		if s.folder != nil {
			s.folder.list(ctx, prefix, yield)
			return
		}
		s.files(ctx, prefix)(yield)
	}
}

// ListFolder returns the objects in the folder of a store that another process
// may have open, or that a kill left. It changes nothing.
func ListFolder(ctx context.Context, root string) ([]Object, error) {
	f := &folder{folders: folders{root: root}, ring: &envelope.Ring{}, alone: func() bool { return true }, small: &smallFile{alone: func() bool { return true }, committer: &committer{cache: newCache(0)}}}
	if err := f.small.openReader(ctx, smallDSN(filepath.Join(root, smallName), "ro")); err != nil {
		return nil, mapError("list", root, err)
	}
	defer func() { _ = f.small.reader.Close() }() // it only read
	var objects []Object
	var failed error
	f.list(ctx, "", func(o Object, err error) bool {
		objects, failed = append(objects, o), err
		return err == nil
	})
	return objects, failed
}

// list is List of a folder.
func (f *folder) list(ctx context.Context, prefix string, yield func(Object, error) bool) {
	for object, err := range f.files(ctx, prefix) {
		hidden := temporaryKey.MatchString(object.Key)
		if err == nil && !hidden {
			hidden, err = f.small.exists(ctx, object.Key)
		}
		if err == nil && hidden {
			continue
		}
		if !yield(object, mapError("list", prefix, err)) || err != nil {
			return
		}
	}
	for object, err := range f.small.list(ctx, prefix) {
		if !yield(object, mapError("list", prefix, err)) {
			return
		}
	}
}

// files returns the blobs under a prefix that are not rows of the small file, with
// the files of unfinished writes.
func (s *Store) files(ctx context.Context, prefix string) iter.Seq2[Object, error] {
	if s.folder != nil {
		return s.folder.files(ctx, prefix)
	}
	return func(yield func(Object, error) bool) {
		for object, err := range s.bucket.List(ctx, prefix) {
			if !yield(object, mapError("list", prefix, err)) || err != nil {
				return
			}
		}
	}
}

// files walks through the folder. The bucket would hold the whole listing in
// memory; the walk holds the names in the folders that it is in.
func (f *folder) files(ctx context.Context, prefix string) iter.Seq2[Object, error] {
	top := filepath.Join(f.root, filepath.FromSlash(prefix))
	small := filepath.Join(f.root, smallName)
	return func(yield func(Object, error) bool) {
		err := filepath.WalkDir(top, func(path string, entry fs.DirEntry, err error) error {
			if err == nil && !entry.IsDir() && !strings.HasPrefix(path, small) && !strings.HasSuffix(path, ".attrs") {
				var o Object
				if o, err = f.object(path, entry); err == nil && !yield(o, nil) {
					return filepath.SkipAll
				}
			}
			if errors.Is(err, fs.ErrNotExist) { // removed or renamed since its folder was read
				err = nil
			}
			return errors.Join(err, ctx.Err())
		})
		if err != nil {
			yield(Object{}, err)
		}
	}
}

func (f *folder) object(path string, entry os.DirEntry) (Object, error) {
	info, err := entry.Info()
	if err != nil {
		return Object{}, err
	}
	name, err := filepath.Rel(f.root, path)
	return Object{Key: keyOf(name), Bytes: info.Size(), Modified: info.ModTime()}, err
}

// keyOf returns the key that the bucket stores under a name in its folder.
func keyOf(name string) string {
	return escaped.ReplaceAllStringFunc(filepath.ToSlash(name), func(s string) string {
		code, err := strconv.ParseInt(escaped.FindStringSubmatch(s)[1], 16, 32)
		if err != nil {
			return s
		}
		return string(rune(code))
	})
}

// path returns the name under which the bucket stores a key that checkKey allows.
// It is the inverse of keyOf.
func (f *folder) path(key string) string {
	return filepath.Join(f.root, filepath.FromSlash(strings.ReplaceAll(key, "../", "..__0x2f__")))
}
