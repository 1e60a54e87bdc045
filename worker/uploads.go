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

// uploadGrace is how old an original without a version is before Once deletes it: it
// may be that of an upload that another process accepts now.
const uploadGrace = 24 * time.Hour

// Once deletes such originals beside processes that accept uploads.
func (u *Uploads) Once(ctx context.Context) error {
	return u.drop(ctx, time.Now().Add(-uploadGrace))
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
	found := map[string]upload{} // by the key of the original
	for object, err := range u.Blobs.List(ctx, "") {
		if err != nil {
			return err
		}
		if document, ok := documentOf(object.Key); ok && object.Modified.Before(before) {
			original := blob.Original(object.Key)
			found[original] = upload{document, append(found[original].keys, object.Key)}
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

// upload is what an upload stored.
type upload struct {
	document string
	keys     []string // of the original, and of what belongs to it
}

// documentOf returns the document of the key of an original, or of what belongs to one.
// ok is false if the key is neither one of blob.UploadKey nor of blob.BesideUpload.
func documentOf(key string) (document string, ok bool) {
	parts := strings.Split(key, "/")
	if ok, _ := path.Match("*/*/*/upload-*/*", key); !ok { // the pattern is well formed
		return "", false
	}
	return parts[2], true
}

func (u *Uploads) dropUnnamed(ctx context.Context, found map[string]upload) error {
	if len(found) == 0 {
		return nil
	}
	documents := make([]string, 0, len(found))
	for _, u := range found {
		documents = append(documents, u.document)
	}
	named, err := u.Store.NamedSources(ctx, documents)
	if err != nil {
		return err
	}
	for _, key := range named {
		delete(found, key)
	}
	for _, left := range found {
		for _, key := range left.keys {
			if err := u.Blobs.Delete(ctx, key); err != nil {
				return fmt.Errorf("delete an original of document %s: %w", left.document, err)
			}
		}
		u.Log.InfoContext(ctx, "deleted the original of an interrupted upload", "document", left.document)
	}
	return nil
}
