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

// originalsPerLook bounds how many originals are looked up in SQL at a time.
const originalsPerLook = 500

// Uploads deletes the originals of uploads that were broken off between their
// bytes and their version: no document names them, so no removal takes them.
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

// Drop deletes those that came before a moment. That is the start of the one
// process that takes uploads: bytes of an earlier process that no version names
// by then are named by none later, and an upload of this one may take as long
// as it likes.
func (u *Uploads) Drop(ctx context.Context, before time.Time) {
	if err := u.drop(ctx, before); err != nil && ctx.Err() == nil {
		u.Log.ErrorContext(ctx, "delete what broken uploads left", "error", err)
	}
}

func (u *Uploads) drop(ctx context.Context, before time.Time) error {
	found := map[string]string{} // by key, the document
	for object, err := range u.Blobs.List(ctx, "") {
		if err != nil {
			return err
		}
		if document, ok := documentOf(object.Key); ok && object.Modified.Before(before) {
			found[object.Key] = document
		}
		if len(found) < originalsPerLook {
			continue
		}
		if err := u.dropUnnamed(ctx, found); err != nil {
			return err
		}
		clear(found)
	}
	return u.dropUnnamed(ctx, found)
}

// documentOf gives the document of an original's key, as blob.UploadKey makes it.
func documentOf(key string) (string, bool) {
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
		u.Log.InfoContext(ctx, "deleted what a broken upload left", "document", document)
	}
	return nil
}
