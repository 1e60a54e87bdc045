// Package runfile keeps the files that tools produce. A file belongs to a run: its
// content and its name are blobs below the run's prefix, so they go when the run goes.
// The package does not check who may read a run.
package runfile

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/cairn-rag/cairn/internal/blob"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/tool"
)

// Blobs is the part of a blob store that holds files.
type Blobs interface {
	// Put stores data under key.
	Put(ctx context.Context, key string, data []byte) (blob.Ref, error)
	// PutJSON stores v as JSON under key.
	PutJSON(ctx context.Context, key string, v any) (blob.Ref, error)
	Reader
}

// Reader is the part of a blob store that reads files.
type Reader interface {
	// GetJSON decodes the JSON under key into v; a missing one is blob.ErrNotFound.
	GetJSON(ctx context.Context, key string, v any) error
	// Open returns a reader of what is under key, which the caller closes, and the
	// number of bytes.
	Open(ctx context.Context, key string) (io.ReadCloser, int64, error)
}

// Store implements tool.Files. It is safe for concurrent use.
type Store struct{ blobs Blobs }

// New returns a store in blobs.
func New(blobs Blobs) *Store { return &Store{blobs} }

// Add implements tool.Files.
func (s *Store) Add(ctx context.Context, c tool.Call, name string, content []byte) (knowledge.RunFile, error) {
	hash := sha256.Sum256(content)
	sum := hex.EncodeToString(hash[:])
	file := knowledge.RunFile{MediaType: MediaType(name, content), Bytes: int64(len(content)), Key: c.FileKey(sum)}
	if _, err := s.blobs.Put(ctx, file.Key, content); err != nil {
		return file, fmt.Errorf("store the file of a run: %w", err)
	}
	for _, file.Name = range names(c, clean(name), sum) {
		var there knowledge.RunFile
		err := s.blobs.GetJSON(ctx, c.FileNameKey(file.Name), &there)
		if errors.Is(err, blob.ErrNotFound) {
			break
		}
		if err != nil {
			return file, fmt.Errorf("read the name of a file: %w", err)
		}
		if there.Key == file.Key {
			return file, nil
		}
	}
	if _, err := s.blobs.PutJSON(ctx, c.FileNameKey(file.Name), file); err != nil {
		return file, fmt.Errorf("store the name of a file: %w", err)
	}
	return file, nil
}

// names returns the names that a file may have, best first. Only the last one cannot
// be the name of another file. The calls of a turn run at
// the same time, so all but the first of them begin with a name that has their number.
func names(c tool.Call, name, sum string) []string {
	extension := path.Ext(name)
	stem := strings.TrimSuffix(name, extension)
	numbered := fmt.Sprintf("%s-%d-%d", stem, c.Turn, c.Number)
	list := []string{name, numbered + extension, numbered + "-" + sum[:16] + extension}
	if c.Number > 0 {
		return list[1:]
	}
	return list
}

// maxName bounds a name, in bytes.
const maxName = 120

// clean returns a name that is a single part of a path and has no character that a
// link or a header would escape, beside letters of other scripts.
func clean(name string) string {
	name = strings.Map(func(r rune) rune {
		switch {
		case r == utf8.RuneError:
			return '_'
		case unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("._-", r):
			return r
		}
		return '_'
	}, name)
	extension := path.Ext(name)
	if len(extension) > 16 {
		extension = ""
	}
	stem := strings.TrimLeft(strings.TrimSuffix(name, extension), ".-")
	for len(stem) > maxName-len(extension) {
		_, size := utf8.DecodeLastRuneInString(stem)
		stem = stem[:len(stem)-size]
	}
	if stem == "" {
		stem = "file"
	}
	return stem + extension
}

// Open opens the file of a name. The caller closes the reader. A name that no file has
// is knowledge.CodeNotFound.
func Open(ctx context.Context, blobs Reader, run knowledge.RunRef, name string) (knowledge.RunFile, io.ReadCloser, error) {
	var file knowledge.RunFile
	err := blobs.GetJSON(ctx, run.FileNameKey(name), &file)
	var content io.ReadCloser
	if err == nil {
		content, file.Bytes, err = blobs.Open(ctx, file.Key)
	}
	switch {
	case errors.Is(err, blob.ErrNotFound):
		return file, nil, knowledge.NotFound("file", name)
	case err != nil:
		return file, nil, fmt.Errorf("open file of run %s: %w", run.Run, err)
	}
	return file, content, nil
}
