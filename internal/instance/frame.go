package instance

import (
	"bufio"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"
)

// The kinds of frames.
const (
	kindHeader  = "HEAD" // Header
	kindBlob    = "BLOB" // blobStart, followed by DATA and BEND
	kindData    = "DATA" // bytes
	kindBlobEnd = "BEND" // blobEnd
	kindGone    = "GONE" // blobStart of a blob that an earlier attempt wrote and that is no more
	kindTable   = "TABL" // store.Table, followed by ROWS
	kindRows    = "ROWS" // rows as JSON arrays, one a line
	kindEnd     = "STOP" // Summary
)

const (
	format     = "cairn-instance/1"
	maxPayload = 8 << 20
	dataBytes  = 1 << 20
	rowsBytes  = 256 << 10
	headBytes  = 8 // of a frame: its kind and the length of its payload
)

// Header begins an export.
type Header struct {
	Format    string    `json:"format"`
	Cairn     string    `json:"cairn"`    // version of the command
	Schema    int64     `json:"schema"`   // of the tables
	Instance  string    `json:"instance"` // name of the instance
	SecretKey string    `json:"secret_key"`
	Begun     time.Time `json:"begun"`
}

// blobStart begins a blob.
type blobStart struct {
	Key      string    `json:"key"`
	Bytes    int64     `json:"bytes"`
	Modified time.Time `json:"modified,omitzero"`
}

// blobEnd ends a blob.
type blobEnd struct {
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
}

// TableSum is what a table has.
type TableSum struct {
	Rows   int64  `json:"rows"`
	SHA256 string `json:"sha256"` // of its rows, whatever their order
}

// Summary ends an export.
type Summary struct {
	Blobs     int                 `json:"blobs"`
	BlobBytes int64               `json:"blob_bytes"`
	Tables    map[string]TableSum `json:"tables"`
	Chain     string              `json:"chain"` // hash of the checksums of all frames before
}

// DamageError reports bytes that are not those that were exported.
type DamageError struct {
	Offset int64  // of the frame
	In     string // "blob KEY", "table NAME"
	Cause  string
}

// Error implements error.
func (e DamageError) Error() string {
	return fmt.Sprintf("the export is damaged in the frame at byte %d (%s): %s; nothing of the database was written; export again", e.Offset, e.In, e.Cause)
}

// errCutOff means that a stream ends before its ending.
var errCutOff = errors.New("the export is not whole: it ends too early; run cairn export again with the same file, which resumes it")

// frame is one part of an export.
type frame struct {
	kind    string
	payload []byte
}

func (f frame) decode(v any) error { return json.Unmarshal(f.payload, v) }

// chain hashes the checksums of frames in their order.
type chain [sha256.Size]byte

func (c *chain) add(sum []byte) { *c = sha256.Sum256(append(c[:], sum...)) }

// frameWriter writes frames.
type frameWriter struct {
	w     io.Writer
	chain chain
}

func (w *frameWriter) write(kind string, payload []byte) error {
	head := binary.BigEndian.AppendUint32([]byte(kind), uint32(len(payload)))
	sum := sha256.New()
	sum.Write(head)
	sum.Write(payload)
	check := sum.Sum(nil)
	w.chain.add(check)
	for _, part := range [][]byte{head, payload, check} {
		if _, err := w.w.Write(part); err != nil {
			return fmt.Errorf("write the export: %w", err)
		}
	}
	return nil
}

func (w *frameWriter) writeJSON(kind string, v any) error {
	payload, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return w.write(kind, payload)
}

// frameReader reads frames, and compares each with its checksum.
type frameReader struct {
	r      *bufio.Reader
	chain  chain // of the frames before the present one
	next   chain
	offset int64 // of the present frame
	end    int64 // of the present frame, where the next begins
	in     string
}

func newFrameReader(r io.Reader) *frameReader {
	return &frameReader{r: bufio.NewReaderSize(r, 1<<20), in: "its beginning"}
}

func (r *frameReader) read() (frame, error) {
	r.offset, r.chain = r.end, r.next
	head := make([]byte, headBytes)
	if _, err := io.ReadFull(r.r, head); err != nil {
		return frame{}, cutOff(err)
	}
	n := binary.BigEndian.Uint32(head[4:])
	if n > maxPayload {
		return frame{}, r.damage("its length is wrong")
	}
	body := make([]byte, int(n)+sha256.Size)
	if _, err := io.ReadFull(r.r, body); err != nil {
		return frame{}, cutOff(err)
	}
	sum := sha256.New()
	sum.Write(head)
	sum.Write(body[:n])
	if check := sum.Sum(nil); string(check) != string(body[n:]) {
		return frame{}, r.damage("its checksum is wrong")
	}
	r.next.add(body[n:])
	r.end = r.offset + headBytes + int64(len(body))
	return frame{string(head[:4]), body[:n]}, nil
}

func (r *frameReader) damage(cause string) error {
	return DamageError{Offset: r.offset, In: r.in, Cause: cause}
}

func cutOff(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errCutOff
	}
	return fmt.Errorf("read the export: %w", err)
}
