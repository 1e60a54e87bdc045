package ooxml

import (
	"bytes"
	"io"
	"path"
	"strings"

	"github.com/cairn-rag/cairn/internal/extract/ole"
)

// maxEmbedded is the largest embedded object in bytes that is unpacked.
const maxEmbedded = 256 << 20

// embedded adds the document in a part as a child.
func (p *pack) embedded(part string) error {
	if part == "" || p.attached[part] {
		return nil
	}
	p.attached[part] = true
	name := path.Base(part)
	if ext := strings.ToLower(path.Ext(name)); ext != ".bin" && ext != ".ole" {
		return p.doc.Attach(name, p.open(part))
	}
	data, err := p.zip.Bytes(part, maxEmbedded)
	if err != nil {
		return err
	}
	inner, data := ole.Unpack(strings.TrimSuffix(name, path.Ext(name)), data)
	if data == nil {
		return nil // a control or a formula
	}
	return p.doc.Attach(inner, func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(data)), nil })
}
