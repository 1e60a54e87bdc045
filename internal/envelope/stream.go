package envelope

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/minio/sio"
)

// A stream is cut into packages, each with a tag of its own.
const (
	packageBytes  = 64 << 10
	packageSealed = packageBytes + packageExtra
	packageExtra  = 32 // header and tag of a package
)

// SealReader returns the encrypted bytes of r. Without a data key it returns r.
func (r *Ring) SealReader(plain io.Reader, valueContext string) (io.Reader, error) {
	active := r.sealing()
	if active == nil {
		return plain, nil
	}
	first := make([]byte, 1)
	if _, err := io.ReadFull(plain, first); errors.Is(err, io.EOF) { // an empty stream has no package whose loss would show
		sealed, err := r.Seal(nil, valueContext)
		return bytes.NewReader(sealed), err
	} else if err != nil {
		return nil, err
	}
	h := newHeader(kindStream, active.id)
	config, err := h.dare(active.key, valueContext, 0)
	if err != nil {
		return nil, fmt.Errorf("encrypt: %w", err)
	}
	sealed, err := sio.EncryptReader(broken{io.MultiReader(bytes.NewReader(first), plain)}, config)
	if err != nil {
		return nil, fmt.Errorf("encrypt: %w", err)
	}
	return io.MultiReader(bytes.NewReader(h.append(nil)), sealed), nil
}

// dare returns how the packages of a stream from a number on are encrypted.
func (h header) dare(dataKey []byte, valueContext string, first uint32) (sio.Config, error) {
	key, err := h.derive(dataKey, valueContext)
	return sio.Config{
		MinVersion: sio.Version20, MaxVersion: sio.Version20, CipherSuites: []byte{sio.AES_256_GCM}, Key: key, SequenceNumber: first,
	}, err
}

// Stream is a stream of bytes whose beginning was read: an encrypted one, or any other.
type Stream struct {
	ring    *Ring
	context string
	head    []byte
	header  header
	sealed  bool
}

// ReadStream reads the beginning of a stream that was sealed for a context, or was not sealed.
func (r *Ring) ReadStream(from io.Reader, valueContext string) (Stream, error) {
	s := Stream{ring: r, context: valueContext, head: make([]byte, HeaderBytes)}
	n, err := io.ReadFull(from, s.head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return s, err
	}
	s.head = s.head[:n]
	s.header, s.sealed = parseHeader(s.head)
	return s, nil
}

// IsSealed reports whether the stream is encrypted.
func (s Stream) IsSealed() bool { return s.sealed }

// IsCurrent reports whether the stream need not be sealed again.
func (s Stream) IsCurrent() bool { return s.ring.IsCurrent(s.head) }

// Size returns the number of bytes that are encrypted in a stream of so many bytes.
func (s Stream) Size(stored int64) (int64, error) {
	if !s.sealed {
		return stored, nil
	}
	if s.header.kind == kindPiece {
		return max(stored-int64(HeaderBytes)-pieceExtra, 0), nil
	}
	size, err := sio.DecryptedSize(uint64(max(stored-int64(HeaderBytes), 0)))
	if err != nil {
		return 0, ErrOpen
	}
	return int64(size), nil
}

// Open returns the plain bytes. rest continues where ReadStream stopped.
func (s Stream) Open(ctx context.Context, rest io.Reader) (io.Reader, error) {
	if !s.sealed {
		return io.MultiReader(bytes.NewReader(s.head), rest), nil
	}
	if s.header.kind == kindStream {
		return s.packages(ctx, rest, 0)
	}
	sealed, err := io.ReadAll(rest)
	if err != nil {
		return nil, err
	}
	plain, err := s.ring.Unseal(ctx, append(bytes.Clone(s.head), sealed...), s.context)
	return bytes.NewReader(plain), err
}

// At returns at which stored byte a reader for OpenAt begins.
func (s Stream) At(offset int64) int64 {
	if !s.sealed {
		return offset
	}
	return int64(HeaderBytes) + offset/packageBytes*packageSealed
}

// OpenAt returns the plain bytes from an offset on. from begins at the stored byte that At
// returns. Bytes of another stream than ReadStream has read are ErrOpen.
func (s Stream) OpenAt(ctx context.Context, from io.Reader, offset int64) (io.Reader, error) {
	if !s.sealed {
		return from, nil
	}
	plain, err := s.packages(ctx, from, uint32(offset/packageBytes)) //nolint:gosec // DARE 2.0 has at most 2^32 packages
	if err != nil {
		return nil, err
	}
	ahead := bufio.NewReader(plain)
	if _, err := ahead.Discard(int(offset % packageBytes)); err != nil {
		return nil, err
	}
	if _, err := ahead.Peek(1); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	return ahead, nil
}

func (s Stream) packages(ctx context.Context, from io.Reader, first uint32) (io.Reader, error) {
	key, err := s.ring.keyOf(ctx, s.header.key)
	if err != nil {
		return nil, err
	}
	config, err := s.header.dare(key, s.context, first)
	if err != nil {
		return nil, fmt.Errorf("decrypt: %w", err)
	}
	plain, err := sio.DecryptReader(broken{from}, config)
	if err != nil {
		return nil, fmt.Errorf("decrypt: %w", err)
	}
	return opening{plain}, nil
}

// broken wraps the errors of a reader. The packages would take a bare io.ErrUnexpectedEOF, such as
// that of an upload that was cut off, for the end.
type broken struct{ r io.Reader }

// Read implements io.Reader.
func (b broken) Read(p []byte) (int, error) {
	n, err := b.r.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		err = fmt.Errorf("read: %w", err)
	}
	return n, err
}

// opening returns ErrOpen for the errors of the packages.
type opening struct{ r io.Reader }

// Read implements io.Reader.
func (o opening) Read(p []byte) (int, error) {
	n, err := o.r.Read(p)
	if _, wrong := errors.AsType[sio.Error](err); wrong {
		err = fmt.Errorf("%w: %w", ErrOpen, err)
	}
	return n, err
}
