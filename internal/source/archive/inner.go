package archive

import (
	"context"
	"io"
	"os"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/source"
)

// unpack reads the directory of an archive inside an archive. Its bytes are in a
// temporary file without a name, which disappears with its last reader.
func unpack(ctx context.Context, m member) (*directory, error) {
	if m.file.UncompressedSize64 > maxInner {
		return nil, knowledge.TooLarge("archive in the archive", maxInner)
	}
	body, err := m.open()
	if err != nil {
		return nil, err
	}
	defer body.Close()
	file, err := os.CreateTemp("", "cairn-archive-*")
	if err != nil {
		return nil, source.Unavailable(err)
	}
	if err := os.Remove(file.Name()); err != nil {
		_ = file.Close()
		return nil, source.Unavailable(err)
	}
	size, err := io.Copy(file, &cancelable{ctx: ctx, r: body})
	if err == nil {
		var inner *directory
		if inner, err = readDirectory(file, size, maxInnerTotal); err == nil {
			return inner, nil // which holds the file
		}
	}
	_ = file.Close() // nothing was kept
	return nil, source.FromExchange(err)
}

// cancelable is a reader that ends with its context.
type cancelable struct {
	ctx context.Context
	r   io.Reader
}

// Read implements io.Reader.
func (c *cancelable) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.r.Read(p)
}
