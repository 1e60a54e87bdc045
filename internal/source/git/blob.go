package git

import (
	"crypto/sha1" //nolint:gosec // Git names objects by it
	"fmt"
	stdhash "hash"
	"io"

	"github.com/cairn-rag/cairn/internal/source"
)

// blob is the content of a file. It implements io.ReadCloser.
type blob struct {
	body io.Closer
	data io.Reader
	left int64
	name string
	sum  stdhash.Hash
}

// openBlob reads the head of the pack in an answer, which has one file.
func openBlob(body io.ReadCloser, name string) (r io.ReadCloser, size int64, err error) {
	in, err := packOf(body)
	if err != nil {
		return nil, 0, err
	}
	p, err := openPack(in)
	if err != nil {
		return nil, 0, err
	}
	if p.left != 1 {
		return nil, 0, errPack
	}
	h, err := p.next()
	if err != nil {
		return nil, 0, err
	}
	if h.kind != kindBlob {
		return nil, 0, errPack
	}
	data, err := p.data()
	if err != nil {
		return nil, 0, err
	}
	sum := sha1.New() //nolint:gosec // Git names objects by it
	fmt.Fprintf(sum, "blob %d\x00", h.size)
	return &blob{body: body, data: data, left: h.size, name: name, sum: sum}, h.size, nil
}

// Read implements io.Reader. At the end it compares the content with its name.
func (b *blob) Read(p []byte) (int, error) {
	n, err := b.data.Read(p)
	_, _ = b.sum.Write(p[:n]) // a hash takes everything
	b.left -= int64(n)
	switch {
	case b.left < 0:
		return n, source.Unavailable(errPack)
	case err == io.EOF && (b.left > 0 || fmt.Sprintf("%x", b.sum.Sum(nil)) != b.name):
		return n, source.Unavailable(errPack)
	case err != nil && err != io.EOF:
		return n, source.FromExchange(err)
	}
	return n, err
}

// Close implements io.Closer.
func (b *blob) Close() error { return b.body.Close() }
