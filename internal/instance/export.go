package instance

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/cairn-rag/cairn/internal/blob"
	"github.com/cairn-rag/cairn/internal/store"
)

// ownPrefixes begin the keys that a store of blobs has for itself.
var ownPrefixes = []string{"cairn-instance/", "cairn-probe/", markPrefix}

func isOwn(key string) bool {
	return slices.ContainsFunc(ownPrefixes, func(p string) bool { return strings.HasPrefix(key, p) })
}

// Export writes the instance to out. The format of h is set. Rows are as they were at one moment,
// behind the blobs, which nobody changes meanwhile.
func Export(ctx context.Context, rows *store.Store, blobs *blob.Store, h Header, out io.Writer) (Summary, error) {
	e := &exporting{rows: rows, blobs: blobs, w: &frameWriter{w: out}, known: map[string]known{}}
	h.Format = format
	if err := e.w.writeJSON(kindHeader, h); err != nil {
		return Summary{}, err
	}
	return e.run(ctx)
}

// ExportFile writes the instance to a file that does not exist. Until it is whole the file
// is path.partial, from which a call after an interruption resumes.
func ExportFile(ctx context.Context, rows *store.Store, blobs *blob.Store, h Header, path string) (s Summary, err error) {
	if _, err := os.Stat(path); err == nil {
		return s, fmt.Errorf("%s exists: name another file, or remove it", path)
	}
	file, err := os.OpenFile(path+".partial", os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return s, fmt.Errorf("write the export: %w", err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	e := &exporting{rows: rows, blobs: blobs, w: &frameWriter{w: file}, known: map[string]known{}}
	h.Format = format
	at, err := e.resume(file, h)
	if err == nil {
		err = file.Truncate(at)
	}
	if err == nil {
		_, err = file.Seek(at, io.SeekStart)
	}
	if err == nil && at == 0 {
		err = e.w.writeJSON(kindHeader, h)
	}
	if err == nil {
		s, err = e.run(ctx)
	}
	if err == nil {
		err = file.Sync()
	}
	if err == nil {
		err = os.Rename(path+".partial", path)
	}
	return s, err
}

// known is a blob that the export has.
type known struct {
	start blobStart
	end   blobEnd
}

type exporting struct {
	rows  *store.Store
	blobs *blob.Store
	w     *frameWriter
	known map[string]known
}

// resume reads what an earlier attempt wrote, and returns where to go on: behind its last
// whole blob, or at 0.
func (e *exporting) resume(file io.Reader, h Header) (at int64, err error) {
	r := newFrameReader(file)
	var start blobStart
	for {
		f, err := r.read()
		if err != nil { // the attempt ended here, or what follows is lost
			return at, nil
		}
		switch f.kind {
		case kindHeader:
			var before Header
			if f.decode(&before) != nil || before.Format != h.Format || before.Instance != h.Instance || before.Schema != h.Schema || before.SecretKey != h.SecretKey {
				return 0, errors.New("the .partial file beside the export is of another instance or version: remove it, or name another file")
			}
		case kindBlob:
			start = blobStart{}
			err = f.decode(&start)
		case kindBlobEnd:
			k := known{start: start}
			err = f.decode(&k.end)
			e.known[start.Key] = k
		case kindGone:
			err = f.decode(&start)
			delete(e.known, start.Key)
		case kindData:
		default: // the rows are read again
			return at, nil
		}
		if err != nil {
			return at, nil
		}
		if f.kind == kindHeader || f.kind == kindBlobEnd || f.kind == kindGone {
			at, e.w.chain = r.end, r.next
		}
	}
}

func (e *exporting) run(ctx context.Context) (Summary, error) {
	if err := e.writeBlobs(ctx); err != nil {
		return Summary{}, fmt.Errorf("export the blobs: %w", err)
	}
	s := Summary{Tables: map[string]TableSum{}}
	for _, k := range e.known {
		s.Blobs, s.BlobBytes = s.Blobs+1, s.BlobBytes+k.end.Bytes
	}
	err := e.rows.ReadAll(ctx, func(m *store.Move) error {
		for _, t := range m.Tables() {
			var err error
			if s.Tables[t.Name], err = e.writeTable(ctx, m, t); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return Summary{}, err
	}
	s.Chain = hex.EncodeToString(e.w.chain[:])
	return s, e.w.writeJSON(kindEnd, s)
}

// writeBlobs writes the blobs that the export does not have, or has with other bytes.
func (e *exporting) writeBlobs(ctx context.Context) error {
	left := map[string]bool{}
	for key := range e.known {
		left[key] = true
	}
	for object, err := range e.blobs.List(ctx, "") {
		if err != nil {
			return err
		}
		if isOwn(object.Key) {
			continue
		}
		delete(left, object.Key)
		start := blobStart{object.Key, object.Bytes, object.Modified.UTC().Truncate(time.Microsecond)}
		if k, ok := e.known[object.Key]; ok && (k.start.Bytes == start.Bytes || e.blobs.Encrypts()) && k.start.Modified.Equal(start.Modified) {
			continue
		}
		if err := e.writeBlob(ctx, start); err != nil {
			return err
		}
	}
	for key := range left {
		if err := e.w.writeJSON(kindGone, blobStart{Key: key}); err != nil {
			return err
		}
		delete(e.known, key)
	}
	return nil
}

func (e *exporting) writeBlob(ctx context.Context, start blobStart) error {
	r, size, err := e.blobs.Open(ctx, start.Key)
	if err != nil {
		return err
	}
	defer r.Close()
	start.Bytes = size
	if err := e.w.writeJSON(kindBlob, start); err != nil {
		return err
	}
	hash, piece := sha256.New(), make([]byte, dataBytes)
	var n int64
	for {
		got, err := io.ReadFull(r, piece)
		n += int64(got)
		hash.Write(piece[:got])
		if got > 0 {
			if err := e.w.write(kindData, piece[:got]); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			break
		}
		if err != nil {
			return fmt.Errorf("read blob %s: %w", start.Key, err)
		}
	}
	if n != size {
		return fmt.Errorf("blob %s has %d bytes instead of %d", start.Key, n, size)
	}
	end := blobEnd{n, hex.EncodeToString(hash.Sum(nil))}
	e.known[start.Key] = known{start, end}
	return e.w.writeJSON(kindBlobEnd, end)
}

func (e *exporting) writeTable(ctx context.Context, m *store.Move, t store.Table) (TableSum, error) {
	if err := e.w.writeJSON(kindTable, t); err != nil {
		return TableSum{}, err
	}
	var lines []byte
	flush := func() error {
		if len(lines) == 0 {
			return nil
		}
		err := e.w.write(kindRows, lines)
		lines = lines[:0]
		return err
	}
	total, err := eachRow(ctx, m, t, func(row []byte) error {
		if len(lines)+len(row) > rowsBytes {
			if err := flush(); err != nil {
				return err
			}
		}
		lines = append(append(lines, row...), '\n')
		return nil
	})
	if err == nil {
		err = flush()
	}
	return total, err
}
