package source

import (
	"bufio"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"strings"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// Decoded returns the body of an answer without its Content-Encoding, and whether there was
// one, so that the size of the bytes is not known. It knows gzip; bytes that are not
// gzip although the answer says so are returned as they are. The reader bounds how much
// it reads: a short body can become a very long one.
func Decoded(body io.ReadCloser, contentEncoding string) (decoded io.ReadCloser, isEncoded bool) {
	for coding := range strings.SplitSeq(contentEncoding, ",") {
		switch strings.ToLower(strings.TrimSpace(coding)) {
		case "gzip", "x-gzip":
			return &unzipped{body: body}, true
		}
	}
	return body, false
}

// unzipped reads a body that is gzip.
type unzipped struct {
	body io.ReadCloser
	from io.Reader // nil before the first Read
}

// Read implements io.Reader. It returns the errors of the body, and one that says that the object is
// damaged.
func (u *unzipped) Read(p []byte) (int, error) {
	if u.from == nil {
		if err := u.begin(); err != nil {
			return 0, damaged(err)
		}
	}
	n, err := u.from.Read(p)
	return n, damaged(err)
}

func (u *unzipped) begin() error {
	buffered := bufio.NewReader(u.body)
	magic, err := buffered.Peek(2)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if len(magic) < 2 || magic[0] != 0x1f || magic[1] != 0x8b {
		u.from = buffered
		return nil
	}
	unzip, err := gzip.NewReader(buffered)
	if err != nil {
		return err
	}
	u.from = unzip
	return nil
}

// damaged returns an error of the decompression as one of the object.
func damaged(err error) error {
	if err == nil || errors.Is(err, io.EOF) || errors.Is(err, context.Canceled) {
		return err
	}
	if _, ok := errors.AsType[*knowledge.Error](err); ok {
		return err
	}
	return knowledge.Errorf(knowledge.CodeCorrupt, "the object says that it is compressed with gzip, but cannot be decompressed; store it again").WithCause(err)
}

// Close implements io.Closer.
func (u *unzipped) Close() error { return u.body.Close() }
