package blob

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"gocloud.dev/blob"
	"gocloud.dev/gcerrors"
	"golang.org/x/sync/errgroup"
)

// Put stores data under key, in place of the bytes that were there. A reader sees
// the old bytes or the new ones. After an error they see the old ones, or the new ones
// if the disk failed at the very end. Put can be called again.
func (s *Store) Put(ctx context.Context, key string, data []byte) (Ref, error) {
	if err := checkKey(key); err != nil {
		return Ref{}, err
	}
	if s.folder == nil {
		return s.putObject(ctx, key, bytes.NewReader(data))
	}
	if len(data) > s.folder.smallBytes {
		return s.folder.putLarge(ctx, key, bytes.NewReader(data))
	}
	return s.folder.putSmall(ctx, key, bytes.Clone(data))
}

// putAtATime is the number of blobs that PutAll writes into a bucket at the same time.
const putAtATime = 8

// Item is a blob to store.
type Item struct {
	Key  string
	Data []byte
	// After has PutAll store the blob only when those before it are stored.
	After bool
}

// PutAll stores blobs. In a folder, small ones that follow each other share one commit. In
// a bucket, several are written at the same time. After an error some may be stored.
// PutAll can be called again.
func (s *Store) PutAll(ctx context.Context, items ...Item) error {
	for _, item := range items {
		if err := checkKey(item.Key); err != nil {
			return err
		}
	}
	if s.folder == nil {
		return s.putObjects(ctx, items)
	}
	var small []row
	for _, item := range items {
		if len(item.Data) <= s.folder.smallBytes {
			small = append(small, row{key: item.Key, data: bytes.Clone(item.Data)})
			continue
		}
		if err := s.folder.putRows(ctx, small); err != nil {
			return err
		}
		small = nil
		if _, err := s.Put(ctx, item.Key, item.Data); err != nil {
			return err
		}
	}
	return s.folder.putRows(ctx, small)
}

// putObjects is PutAll of a bucket.
func (s *Store) putObjects(ctx context.Context, items []Item) error {
	for len(items) > 0 {
		group, ctx := errgroup.WithContext(ctx)
		group.SetLimit(putAtATime)
		together := items[:1]
		for len(together) < len(items) && !items[len(together)].After {
			together = items[:len(together)+1]
		}
		for _, item := range together {
			group.Go(func() error {
				_, err := s.putObject(ctx, item.Key, bytes.NewReader(item.Data))
				return err
			})
		}
		if err := group.Wait(); err != nil {
			return err
		}
		items = items[len(together):]
	}
	return nil
}

// PutJSON stores v as JSON under key.
func (s *Store) PutJSON(ctx context.Context, key string, v any) (Ref, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return Ref{}, fmt.Errorf("encode blob %s: %w", key, err)
	}
	return s.Put(ctx, key, data)
}

// PutReader stores the bytes that r returns under key, without holding more than
// a small blob in memory. When r fails, its error is returned wrapped, and the
// bytes that were under key before stay.
func (s *Store) PutReader(ctx context.Context, key string, r io.Reader) (Ref, error) {
	if err := checkKey(key); err != nil {
		return Ref{}, err
	}
	if s.folder == nil {
		return s.putObject(ctx, key, r)
	}
	head, err := io.ReadAll(io.LimitReader(r, int64(s.folder.smallBytes)+1))
	if err != nil {
		return Ref{}, mapError("write", key, err)
	}
	if len(head) <= s.folder.smallBytes {
		return s.folder.putSmall(ctx, key, head)
	}
	return s.folder.putLarge(ctx, key, io.MultiReader(bytes.NewReader(head), r))
}

// putSmall stores data as a row. The caller must not change the data afterwards.
func (f *folder) putSmall(ctx context.Context, key string, data []byte) (Ref, error) {
	if err := f.putRows(ctx, []row{{key: key, data: data}}); err != nil {
		return Ref{}, err
	}
	sum := sha256.Sum256(data)
	return Ref{Key: key, SHA256: hex.EncodeToString(sum[:]), Bytes: int64(len(data))}, nil
}

// putRows stores rows in one commit. The caller must not change their data
// afterwards. Without rows it does nothing, also on a nil folder.
func (f *folder) putRows(ctx context.Context, rows []row) error {
	if len(rows) == 0 {
		return nil
	}
	keys := make([]string, len(rows))
	for i := range rows {
		if keys[i] = rows[i].key; rows[i].data == nil {
			rows[i].data = []byte{} // nil is NULL
		}
		var err error
		if rows[i].data, err = f.ring.Seal(rows[i].data, keys[i]); err != nil {
			return mapError("write", keys[i], err)
		}
	}
	unlock, err := f.locks.lock(ctx, keys...)
	if err != nil {
		return mapError("write", keys[0], err)
	}
	defer unlock()
	if err := f.small.write(ctx, rows...); err != nil {
		return mapError("write", keys[0], err)
	}
	// Readers see the rows from here on. If the process is killed now, a row hides
	// its file until the blob is removed or SweepTemporary runs.
	for _, key := range keys {
		if err := f.removeReplaced(key); err != nil {
			return mapError("write", key, err)
		}
	}
	return nil
}

// removeReplaced removes the file of a blob that is a row now.
func (f *folder) removeReplaced(key string) error {
	if found, err := f.hasFile(key); !found || err != nil {
		return err
	}
	f.moved.Add(1)
	return removeFile(f.path(key))
}

// hasFile reports whether there is a file for key.
func (f *folder) hasFile(key string) (bool, error) {
	info, err := os.Lstat(f.path(key))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil && !info.IsDir(), err
}

// putObject stores the bytes of r in the bucket.
func (s *Store) putObject(ctx context.Context, key string, r io.Reader) (Ref, error) {
	sum := sha256.New()
	counted := &counter{r: io.TeeReader(r, sum)}
	sealed, err := s.ring.SealReader(counted, key)
	if err == nil {
		err = s.bucket.Put(ctx, key, sealed)
	}
	if err != nil {
		return Ref{}, mapError("write", key, err)
	}
	return Ref{Key: key, SHA256: hex.EncodeToString(sum.Sum(nil)), Bytes: counted.n}, nil
}

// counter counts the bytes that are read.
type counter struct {
	r io.Reader
	n int64
}

// Read implements io.Reader.
func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}

// putLarge stores the bytes of r as a file.
func (f *folder) putLarge(ctx context.Context, key string, r io.Reader) (Ref, error) {
	ctx, abandon := context.WithCancel(ctx)
	defer abandon()
	w, file, err := f.newWriter(ctx, key)
	if err != nil {
		return Ref{}, mapError("write", key, err)
	}
	sum := sha256.New()
	counted := &counter{r: io.TeeReader(r, sum)}
	sealed, err := f.ring.SealReader(counted, key)
	if err == nil {
		_, err = io.Copy(w, sealed)
	}
	if err == nil {
		err = f.syncFile(file)
	}
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		abandon() // makes Close drop the bytes
		_ = w.Close()
		return Ref{}, mapError("write", key, err)
	}
	if err := f.publish(ctx, key, w, filepath.Dir(file.Name())); err != nil {
		return Ref{}, mapError("write", key, err)
	}
	return Ref{Key: key, SHA256: hex.EncodeToString(sum.Sum(nil)), Bytes: counted.n}, nil
}

// publish renames the file of a large blob to its name in a folder, and removes the row
// that it replaces. Readers see the row as long as it is there, so the file is
// durable first.
func (f *folder) publish(ctx context.Context, key string, w io.Closer, folder string) error {
	unlock, err := f.locks.lock(ctx, key)
	if err != nil {
		_ = w.Close() // drops the bytes, because ctx has ended
		return err
	}
	defer unlock()
	if err := w.Close(); err != nil {
		return err
	}
	if err := f.syncOne(folder); err != nil {
		return err
	}
	return f.removeRow(context.WithoutCancel(ctx), key)
}

// removeRow removes the row of a blob that is a file now. If it cannot, the row
// still hides the file.
func (f *folder) removeRow(ctx context.Context, key string) error {
	found, err := f.small.exists(ctx, key)
	if err != nil || !found {
		return err
	}
	return f.small.write(ctx, row{key: key, delete: true})
}

// newWriter begins a write.
func (f *folder) newWriter(ctx context.Context, key string) (*blob.Writer, *os.File, error) {
	for try := 1; ; try++ {
		var file *os.File
		w, err := f.large.NewWriter(ctx, key, &blob.WriterOptions{
			ContentType: contentType,
			BeforeWrite: func(as func(any) bool) error {
				as(&file)
				return nil
			},
		})
		// DeletePrefix may remove the new folder while it is empty.
		if gcerrors.Code(err) == gcerrors.NotFound && try < 5 {
			continue
		}
		return w, file, err
	}
}
