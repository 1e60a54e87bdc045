// Package container opens the ZIP files that office documents and books are, and
// bounds what they unpack to.
package container

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

const (
	// maxEntries is the largest number of files in a document.
	maxEntries = 50_000
	// A document may unpack to maxRatio times its size, at least to alwaysUnpacked
	// and at most to MaxUnpacked bytes.
	maxRatio       = 100
	alwaysUnpacked = 64 << 20
	// MaxUnpacked is the most bytes to which a document may unpack.
	MaxUnpacked = 1 << 30
)

// ErrNotFound is returned for a file that the document does not have.
var ErrNotFound = errors.New("the document has no such file")

// Container is an open document. It is not safe for concurrent use.
type Container struct {
	file  *os.File
	zip   *zip.Reader
	files map[string]*zip.File
	room  int64 // bytes that may still be unpacked
}

// Open opens a document, whose errors are *knowledge.Error: corrupt or parse_limit.
func Open(path string) (*Container, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("open document: %w", err)
	}
	c, err := open(file)
	if err != nil {
		_ = file.Close() // it was only read
		return nil, err
	}
	return c, nil
}

func open(file *os.File) (*Container, error) {
	info, err := file.Stat()
	if err != nil {
		return nil, fmt.Errorf("stat document: %w", err)
	}
	z, err := zip.NewReader(file, info.Size())
	if err != nil {
		return nil, Damaged(err)
	}
	if len(z.File) > maxEntries {
		return nil, knowledge.Errorf(knowledge.CodeParseLimit, "the document consists of more than %d files; split it", maxEntries)
	}
	c := &Container{file: file, zip: z, files: make(map[string]*zip.File, len(z.File)), room: limit(info.Size())}
	var total uint64
	for _, f := range z.File {
		name := strings.TrimPrefix(strings.ReplaceAll(f.Name, `\`, "/"), "/")
		if _, ok := c.files[name]; ok && !strings.HasSuffix(name, "/") {
			return nil, knowledge.Errorf(knowledge.CodeCorrupt,
				"the document has two files named %q, so it is not clear which one counts; open it in its program, save it again and send the new file", name)
		}
		c.files[name] = f
		total += f.UncompressedSize64
	}
	if total > uint64(c.room) {
		return nil, tooLarge()
	}
	return c, nil
}

// limit returns to how many bytes a document of a size may unpack.
func limit(size int64) int64 { return min(max(maxRatio*size, alwaysUnpacked), MaxUnpacked) }

func tooLarge() error {
	return knowledge.Errorf(knowledge.CodeParseLimit,
		"the document unpacks to more than %d times its size, or to more than %d MB; remove pictures or split it", maxRatio, MaxUnpacked>>20)
}

// Damaged returns the error of a document that cannot be parsed.
func Damaged(cause error) error {
	return knowledge.Errorf(knowledge.CodeCorrupt,
		"the document is damaged and cannot be parsed; open it in its program, save it again and send the new file").WithCause(cause)
}

// Close closes the document.
func (c *Container) Close() error { return c.file.Close() }

// Has reports whether the document has a file.
func (c *Container) Has(name string) bool {
	_, ok := c.find(name)
	return ok
}

// Names returns the names of the files in the order of the document.
func (c *Container) Names() []string {
	names := make([]string, 0, len(c.zip.File))
	for _, f := range c.zip.File {
		names = append(names, f.Name)
	}
	return names
}

// find returns a file by its name, whose case does not matter.
func (c *Container) find(name string) (*zip.File, bool) {
	name = strings.TrimPrefix(name, "/")
	if f, ok := c.files[name]; ok {
		return f, true
	}
	for other, f := range c.files {
		if strings.EqualFold(other, name) {
			return f, true
		}
	}
	return nil, false
}

// Size returns the unpacked size that a file states, 0 if there is no such file.
func (c *Container) Size(name string) int64 {
	if f, ok := c.find(name); ok {
		return int64(f.UncompressedSize64)
	}
	return 0
}

// Open opens a file of the document. It returns ErrNotFound if there is none. The
// bytes read count towards the limit of the document.
func (c *Container) Open(name string) (io.ReadCloser, error) {
	f, ok := c.find(name)
	if !ok {
		return nil, fmt.Errorf("%w: %s", ErrNotFound, name)
	}
	r, err := f.Open()
	if err != nil {
		return nil, Damaged(err)
	}
	return &bounded{r, c}, nil
}

// Bytes returns a file of the document that has at most so many bytes.
func (c *Container) Bytes(name string, most int64) ([]byte, error) {
	r, err := c.Open(name)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	var b bytes.Buffer
	n, err := io.Copy(&b, io.LimitReader(r, most+1))
	if err == nil && n > most {
		err = tooLarge()
	}
	return b.Bytes(), err
}

// bounded counts the bytes of a file. The sizes that a ZIP states can be wrong.
type bounded struct {
	io.ReadCloser
	c *Container
}

// Read implements io.Reader.
func (b *bounded) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if b.c.room -= int64(n); b.c.room < 0 {
		return 0, tooLarge()
	}
	if err != nil && !errors.Is(err, io.EOF) {
		err = Damaged(err)
	}
	return n, err
}
