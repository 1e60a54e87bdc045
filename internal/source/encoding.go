package source

import (
	"bufio"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"context"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/andybalholm/brotli"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/klauspost/compress/zstd"
)

// Decoded returns the body of an answer without its Content-Encoding, and whether there was
// one, so that the size of the bytes is not known. It knows gzip, deflate, br and zstd, and several of
// them one upon the other; bytes that are not what the answer says are returned as they are, but for
// br, which has no mark. The reader bounds how much it reads: a short body can become a very long one.
func Decoded(body io.ReadCloser, contentEncoding string) (decoded io.ReadCloser, isEncoded bool) {
	codings := strings.Split(contentEncoding, ",")
	for _, coding := range slices.Backward(codings) { // the last was applied last
		name := strings.TrimPrefix(strings.ToLower(strings.TrimSpace(coding)), "x-")
		if begin, ok := decoders()[name]; ok {
			body, isEncoded = &unpacked{body: body, coding: name, begin: begin}, true
		}
	}
	return body, isEncoded
}

// decoders begin to decode a body, by the name of its coding.
func decoders() map[string]func(*bufio.Reader) (io.Reader, error) {
	return map[string]func(*bufio.Reader) (io.Reader, error){
		"gzip": func(r *bufio.Reader) (io.Reader, error) {
			if ok, err := starts(r, "\x1f\x8b"); !ok {
				return r, err
			}
			return gzip.NewReader(r)
		},
		"deflate": deflated,
		"br": func(r *bufio.Reader) (io.Reader, error) {
			_, err := r.Peek(1) // it has no mark
			if errors.Is(err, io.EOF) {
				return r, nil
			}
			return brotli.NewReader(r), err
		},
		"zstd": func(r *bufio.Reader) (io.Reader, error) {
			if ok, err := starts(r, "\x28\xb5\x2f\xfd"); !ok {
				return r, err
			}
			// Without goroutines of its own, it needs no Close.
			return zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindow))
		},
	}
}

// maxWindow bounds the memory of a decoder, in bytes, as RFC 8878 does.
const maxWindow = 8 << 20

// deflated decodes zlib, or deflate without its frame, which some servers send.
func deflated(r *bufio.Reader) (io.Reader, error) {
	head, err := r.Peek(2)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if len(head) == 2 && head[0]&0x0f == 8 && (int(head[0])<<8|int(head[1]))%31 == 0 {
		return zlib.NewReader(r)
	}
	return flate.NewReader(r), nil
}

// starts reports whether a body begins with a mark.
func starts(r *bufio.Reader, mark string) (bool, error) {
	head, err := r.Peek(len(mark))
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return string(head) == mark, err
}

// unpacked reads a body that is compressed.
type unpacked struct {
	body   io.ReadCloser
	coding string
	begin  func(*bufio.Reader) (io.Reader, error)
	from   io.Reader // nil before the first Read
}

// Read implements io.Reader. It returns the errors of the body, and one that says that the object is
// damaged.
func (u *unpacked) Read(p []byte) (int, error) {
	if u.from == nil {
		from, err := u.begin(bufio.NewReader(u.body))
		if err != nil {
			return 0, u.damaged(err)
		}
		u.from = from
	}
	n, err := u.from.Read(p)
	return n, u.damaged(err)
}

// damaged returns an error of the decompression as one of the object.
func (u *unpacked) damaged(err error) error {
	if err == nil || errors.Is(err, io.EOF) || errors.Is(err, context.Canceled) {
		return err
	}
	if _, ok := errors.AsType[*knowledge.Error](err); ok {
		return err
	}
	return knowledge.Errorf(knowledge.CodeCorrupt, "the object says that it is compressed with %s, but cannot be decompressed; store it again", u.coding).WithCause(err)
}

// Close implements io.Closer.
func (u *unpacked) Close() error { return u.body.Close() }
