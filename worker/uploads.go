package worker

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"path"
	"strings"
	"time"

	"github.com/cairn-rag/cairn/internal/blob"
	"github.com/cairn-rag/cairn/internal/store"
)

// originalsPerQuery bounds how many originals one SQL query looks up.
const originalsPerQuery = 500

// uploadGrace is how old an original without a version must be before Once deletes it. A
// small upload of another process has no lease.
const uploadGrace = 24 * time.Hour

// uploadsEvery is how often Run looks for lost uploads.
const uploadsEvery = time.Hour

// walkName names the daily turn of the walk through all blobs.
const walkName = "walk through originals"

// Uploads deletes the originals of uploads that were interrupted after their bytes
// were stored and before their version was. No version names them, so no removal
// deletes them. Large uploads have leases, and are found by those. Once a day a walk
// through all blobs finds the others.
type Uploads struct {
	Store interface {
		NamedSources(ctx context.Context, documents []string) ([]string, error)
		// TakeLostUploads returns uploads whose leases end before a time; EndUpload
		// forgets one whose bytes are deleted.
		TakeLostUploads(ctx context.Context, before time.Time, limit int) ([]store.Upload, error)
		EndUpload(ctx context.Context, sourceKey string) error
		// DailyTurn reports whether nobody has had the turn of that name for a day.
		DailyTurn(ctx context.Context, name string) (bool, error)
	}
	Blobs interface {
		List(ctx context.Context, prefix string) iter.Seq2[blob.Object, error]
		Delete(ctx context.Context, key string) error
	}
	Log *slog.Logger
}

// Run calls Drop, if this process was alone when it started, and Once every hour until ctx
// ends.
func (u *Uploads) Run(ctx context.Context, alone bool, started time.Time) {
	if alone {
		u.Drop(ctx, started)
	}
	ticker := time.NewTicker(uploadsEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
		if err := u.Once(ctx); err != nil && ctx.Err() == nil {
			u.Log.ErrorContext(ctx, "cannot delete the originals of interrupted uploads", "error", err)
		}
	}
}

// Once deletes such originals beside other processes that accept uploads: those whose
// leases have expired and, once a day, those that are older than a day.
func (u *Uploads) Once(ctx context.Context) error {
	now := time.Now()
	return errors.Join(u.dropLost(ctx, now), u.walk(ctx, now.Add(-uploadGrace)))
}

// Drop deletes such originals that are older than before, the start of the only
// process that accepts uploads. A version never names bytes of an earlier process
// later, and uploads of this process are younger. Drop logs an error.
func (u *Uploads) Drop(ctx context.Context, before time.Time) {
	err := errors.Join(u.dropLost(ctx, before.Add(store.UploadLease)), u.walk(ctx, before))
	if err != nil && ctx.Err() == nil {
		u.Log.ErrorContext(ctx, "cannot delete the originals of interrupted uploads", "error", err)
	}
}

// dropLost deletes the originals of uploads whose leases end before a time.
func (u *Uploads) dropLost(ctx context.Context, before time.Time) error {
	for {
		lost, err := u.Store.TakeLostUploads(ctx, before, originalsPerQuery)
		if err != nil || len(lost) == 0 {
			return err
		}
		found := map[string]upload{}
		for _, l := range lost {
			left := upload{document: l.Document}
			for object, err := range u.Blobs.List(ctx, blob.UploadFolder(l.SourceKey)) {
				if err != nil {
					return err
				}
				left.keys = append(left.keys, object.Key)
			}
			if len(left.keys) > 0 {
				found[l.SourceKey] = left
			}
		}
		if err := u.dropUnnamed(ctx, found); err != nil {
			return err
		}
		for _, l := range lost {
			if err := u.Store.EndUpload(ctx, l.SourceKey); err != nil {
				return err
			}
		}
	}
}

// walk looks for such originals among all blobs that are older than before, if nobody
// did so today.
func (u *Uploads) walk(ctx context.Context, before time.Time) error {
	if turn, err := u.Store.DailyTurn(ctx, walkName); err != nil || !turn {
		return err
	}
	return u.drop(ctx, before)
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
