package instance

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"

	"github.com/cairn-rag/cairn/internal/blob"
	"github.com/cairn-rag/cairn/internal/store"
)

const (
	// markPrefix begins the key of the blob that says which import has begun to fill a
	// store of blobs.
	markPrefix = "cairn-import/"
	markKey    = markPrefix + "unfinished"
	// opened is how many documents an import opens at its end.
	opened = 10
)

// Result is what an import has written.
type Result struct {
	Header
	Summary
	Skipped int // blobs that an earlier attempt wrote
	Opened  int // documents whose originals were compared
}

// Target is where an import writes.
type Target struct {
	Rows  *store.Store
	Blobs *blob.Store
	// Schema is of this program, SecretKey of the target. Both must be as exported.
	Schema    int64
	SecretKey string
}

// Import reads an export and writes it. The stores of the target are empty, or have the
// blobs of an interrupted import of the same instance, which are not written again. The rows
// are committed only after they were compared with the export.
func Import(ctx context.Context, in io.Reader, to Target) (Result, error) {
	i := &importing{Target: to, r: newFrameReader(in), wrote: map[string]blobEnd{}}
	if err := i.begin(ctx); err != nil {
		return Result{}, err
	}
	f, err := i.readBlobs(ctx)
	if err != nil {
		return Result{}, err
	}
	err = to.Rows.WriteAll(ctx, func(m *store.Move) error {
		if err := i.readTables(ctx, m, f); err != nil {
			return err
		}
		if err := i.compare(ctx, m); err != nil {
			return err
		}
		return i.openDocuments(ctx, m)
	})
	if err != nil {
		return Result{}, err
	}
	if err := to.Blobs.Delete(ctx, markKey); err != nil {
		return Result{}, fmt.Errorf("end the import: %w", err)
	}
	return i.result, nil
}

type importing struct {
	Target
	r      *frameReader
	result Result
	wrote  map[string]blobEnd // by key
}

// begin reads the header, and marks the store of blobs.
func (i *importing) begin(ctx context.Context) error {
	f, err := i.r.read()
	if err != nil {
		return err
	}
	h := &i.result.Header
	if f.kind != kindHeader || f.decode(h) != nil || h.Format != format {
		return errors.New("this is no export of an instance, or one of another version of cairn")
	}
	if h.Schema != i.Schema {
		return fmt.Errorf("the export has tables of version %d (cairn %s), and this program has version %d: export and import with the same version of cairn", h.Schema, h.Cairn, i.Schema)
	}
	if h.SecretKey != i.SecretKey {
		return errors.New("the exported secrets are sealed with another key: copy secret.key of the exported instance into the data folder, or set secret_key to its value, and import again")
	}
	mark, err := i.Blobs.Get(ctx, markKey)
	switch {
	case err == nil && string(mark) != h.Instance:
		return errors.New("the blob store has an unfinished import of another instance: name an empty one")
	case err == nil:
		return nil
	case !errors.Is(err, blob.ErrNotFound):
		return fmt.Errorf("read the blob store: %w", err)
	}
	for object, err := range i.Blobs.List(ctx, "") {
		if err != nil {
			return fmt.Errorf("read the blob store: %w", err)
		}
		if !isOwn(object.Key) {
			return fmt.Errorf("the blob store is not empty (it has %s): name a new folder, or another prefix", object.Key)
		}
	}
	if _, err := i.Blobs.Put(ctx, markKey, []byte(h.Instance)); err != nil {
		return fmt.Errorf("begin the import: %w", err)
	}
	return nil
}

// readBlobs writes the blobs, and returns the frame behind them.
func (i *importing) readBlobs(ctx context.Context) (frame, error) {
	for {
		f, err := i.r.read()
		if err != nil {
			return frame{}, err
		}
		var start blobStart
		if f.kind != kindBlob && f.kind != kindGone {
			return f, nil
		}
		if err := f.decode(&start); err != nil {
			return frame{}, i.r.damage(err.Error())
		}
		i.r.in = "blob " + start.Key
		if f.kind == kindGone {
			if err := i.Blobs.Delete(ctx, start.Key); err != nil && !errors.Is(err, blob.ErrNotFound) {
				return frame{}, fmt.Errorf("import blob %s: %w", start.Key, err)
			}
			delete(i.wrote, start.Key)
			continue
		}
		if err := i.readBlob(ctx, start); err != nil {
			return frame{}, err
		}
	}
}

// readBlob writes a blob, unless it is there.
func (i *importing) readBlob(ctx context.Context, start blobStart) error {
	there, err := i.hashOf(ctx, start.Key)
	if err != nil && !errors.Is(err, blob.ErrNotFound) {
		return fmt.Errorf("import blob %s: %w", start.Key, err)
	}
	var whole bytes.Buffer
	if start.Bytes <= dataBytes { // small ones are read before they are written
		end, err := i.copyBlob(&whole)
		if err != nil {
			return err
		}
		return i.keep(ctx, start.Key, end, there, &whole)
	}
	if there.Bytes == start.Bytes { // it is compared with the end, which is not known yet
		end, err := i.copyBlob(io.Discard)
		if err != nil {
			return err
		}
		if there != end {
			return fmt.Errorf("blob %s of the earlier import has other bytes: empty the blob store and import again", start.Key)
		}
		i.wrote[start.Key] = end
		i.result.Skipped++
		return nil
	}
	r, w := io.Pipe()
	copied := make(chan error, 1)
	var end blobEnd
	go func() {
		var err error
		end, err = i.copyBlob(w)
		copied <- errors.Join(err, w.CloseWithError(err))
	}()
	_, err = i.Blobs.PutReader(ctx, start.Key, r)
	_ = r.CloseWithError(err) // so that the copy ends where the write failed
	if err = errors.Join(<-copied, err); err != nil {
		return fmt.Errorf("import blob %s: %w", start.Key, err)
	}
	i.wrote[start.Key] = end
	return nil
}

// keep writes a small blob.
func (i *importing) keep(ctx context.Context, key string, end, there blobEnd, whole *bytes.Buffer) error {
	i.wrote[key] = end
	if there == end {
		i.result.Skipped++
		return nil
	}
	if _, err := i.Blobs.Put(ctx, key, whole.Bytes()); err != nil {
		return fmt.Errorf("import blob %s: %w", key, err)
	}
	return nil
}

// copyBlob reads the frames of a blob, and compares them with its end.
func (i *importing) copyBlob(w io.Writer) (end blobEnd, err error) {
	hash := sha256.New()
	var n int64
	for {
		f, err := i.r.read()
		if err != nil {
			return end, err
		}
		switch f.kind {
		case kindData:
			n += int64(len(f.payload))
			hash.Write(f.payload)
			if _, err := w.Write(f.payload); err != nil {
				return end, err
			}
			continue
		case kindBlobEnd:
			if f.decode(&end) != nil || end.Bytes != n || end.SHA256 != hex.EncodeToString(hash.Sum(nil)) {
				return end, i.r.damage("the blob has other bytes than were exported")
			}
			return end, nil
		}
		return end, i.r.damage("the blob has no end")
	}
}

// hashOf reads a blob of the target.
func (i *importing) hashOf(ctx context.Context, key string) (blobEnd, error) {
	r, _, err := i.Blobs.Open(ctx, key)
	if err != nil {
		return blobEnd{}, err
	}
	defer r.Close()
	hash := sha256.New()
	n, err := io.Copy(hash, r)
	return blobEnd{n, hex.EncodeToString(hash.Sum(nil))}, err
}

// readTables inserts the rows. f is the first frame of them.
func (i *importing) readTables(ctx context.Context, m *store.Move, f frame) error {
	var table store.Table
	for {
		switch f.kind {
		case kindTable:
			table = store.Table{}
			if err := f.decode(&table); err != nil {
				return i.r.damage(err.Error())
			}
			i.r.in = "table " + table.Name
		case kindRows:
			for line := range bytes.Lines(f.payload) {
				values, err := decodeRow(line)
				if err != nil {
					return i.r.damage(err.Error())
				}
				if err := m.Insert(ctx, table, values); err != nil {
					return fmt.Errorf("insert into %s: %w", table.Name, err)
				}
			}
		case kindEnd:
			if err := f.decode(&i.result.Summary); err != nil {
				return i.r.damage(err.Error())
			}
			if i.result.Chain != hex.EncodeToString(i.r.chain[:]) {
				return i.r.damage("frames are missing, or are in another order")
			}
			return nil
		default:
			return i.r.damage("a part of the kind " + f.kind + " is not expected here")
		}
		var err error
		if f, err = i.r.read(); err != nil {
			return err
		}
	}
}
