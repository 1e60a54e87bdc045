package worker

import (
	"context"
	"fmt"
	"iter"
	"log/slog"
	"path"
	"strings"
	"time"

	"github.com/cairn-rag/cairn/internal/blob"
)

// originalsPerQuery bounds how many originals one SQL query looks up.
const originalsPerQuery = 500

// Uploads deletes the originals of uploads that were interrupted after their bytes
// were stored and before their version was. No version names them, so no removal
// deletes them.
type Uploads struct {
	Store interface {
		NamedSources(ctx context.Context, documents []string) ([]string, error)
	}
	Blobs interface {
		List(ctx context.Context, prefix string) iter.Seq2[blob.Object, error]
		Delete(ctx context.Context, key string) error
	}
	Log *slog.Logger
}

// Drop deletes such originals that are older than before, the start of the only
// process that accepts uploads. A version never names bytes of an earlier process
// later, and uploads of this process are younger. Drop logs an error.
func (u *Uploads) Drop(ctx context.Context, before time.Time) {
	if err := u.drop(ctx, before); err != nil && ctx.Err() == nil {
		u.Log.ErrorContext(ctx, "cannot delete the originals of interrupted uploads", "error", err)
	}
}

func (u *Uploads) drop(ctx context.Context, before time.Time) error {
	found := map[string]string{} // document by key
	for object, err := range u.Blobs.List(ctx, "") {
		if err != nil {
			return err
		}
		if document, ok := documentOf(object.Key); ok && object.Modified.Before(before) {
			found[object.Key] = document
		}
		if len(found) < originalsPerQuery {
			continue
		}
		if err := u.dropUnnamed(ctx, found); err != nil {
			return err
		}
		clear(found)
	}
	return u.dropUnnamed(ctx, found)
}

// documentOf returns the document of an original's key. ok is false if the key is
// not one of blob.UploadKey.
func documentOf(key string) (document string, ok bool) {
	parts := strings.Split(key, "/")
	if ok, _ := path.Match("*/*/*/upload-*/original", key); !ok { // the pattern is well formed
		return "", false
	}
	return parts[2], true
}

func (u *Uploads) dropUnnamed(ctx context.Context, found map[string]string) error {
	if len(found) == 0 {
		return nil
	}
	documents := make([]string, 0, len(found))
	for _, d := range found {
		documents = append(documents, d)
	}
	named, err := u.Store.NamedSources(ctx, documents)
	if err != nil {
		return err
	}
	for _, key := range named {
		delete(found, key)
	}
	for key, document := range found {
		if err := u.Blobs.Delete(ctx, key); err != nil {
			return fmt.Errorf("delete an original of document %s: %w", document, err)
		}
		u.Log.InfoContext(ctx, "deleted the original of an interrupted upload", "document", document)
	}
	return nil
}
