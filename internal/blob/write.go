package blob

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"gocloud.dev/blob"
	"gocloud.dev/gcerrors"
)

// Put stores data under key, in the place of what was there. A reader sees the
// old bytes or the new ones.
func (s *Store) Put(ctx context.Context, key string, data []byte) (Ref, error) {
	return s.PutReader(ctx, key, bytes.NewReader(data))
}

// PutJSON stores v as JSON under key.
func (s *Store) PutJSON(ctx context.Context, key string, v any) (Ref, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return Ref{}, fmt.Errorf("encode blob %s: %w", key, err)
	}
	return s.Put(ctx, key, data)
}

// PutReader stores what r gives under key, without holding it in memory. When r
// fails, its error comes back wrapped, and what was under key before stays.
func (s *Store) PutReader(ctx context.Context, key string, r io.Reader) (Ref, error) {
	if err := checkKey(key); err != nil {
		return Ref{}, err
	}
	ctx, abandon := context.WithCancel(ctx)
	defer abandon()
	w, file, err := s.newWriter(ctx, key)
	if err != nil {
		return Ref{}, mapError("write", key, err)
	}
	sum := sha256.New()
	n, err := io.Copy(io.MultiWriter(w, sum), r)
	if err == nil && s.folders != nil {
		err = s.folders.syncFile(file)
	}
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		abandon() // makes Close drop what was written
		_ = w.Close()
		return Ref{}, mapError("write", key, err)
	}
	if err := w.Close(); err != nil {
		return Ref{}, mapError("write", key, err)
	}
	if s.folders != nil {
		if err := s.folders.syncOne(filepath.Dir(file.Name())); err != nil {
			return Ref{}, mapError("write", key, err)
		}
	}
	return Ref{Key: key, SHA256: hex.EncodeToString(sum.Sum(nil)), Bytes: n}, nil
}

// newWriter begins a write. The file is nil where the store is not a folder.
func (s *Store) newWriter(ctx context.Context, key string) (*blob.Writer, *os.File, error) {
	for try := 1; ; try++ {
		var file *os.File
		w, err := s.bucket.NewWriter(ctx, key, &blob.WriterOptions{
			ContentType: "application/octet-stream",
			BeforeWrite: func(as func(any) bool) error {
				as(&file)
				return nil
			},
		})
		// DeletePrefix may take an empty folder just as this makes it.
		if gcerrors.Code(err) == gcerrors.NotFound && try < 5 {
			continue
		}
		return w, file, err
	}
}
