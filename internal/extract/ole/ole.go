// Package ole opens the OLE containers in which older Office documents, encrypted
// newer ones and embedded objects are stored.
package ole

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/richardlehane/mscfb"
	"github.com/xuri/excelize/v2"
	"golang.org/x/text/encoding/charmap"
)

// signature begins an OLE container.
const signature = "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"

// IsContainer reports whether a file that begins with head is an OLE container.
func IsContainer(head []byte) bool { return bytes.HasPrefix(head, []byte(signature)) }

// Open reads the directory of a container. It refuses a header that states more parts than
// the file has, for which the library would take the memory.
func Open(r io.ReaderAt) (*mscfb.Reader, error) {
	const size, shift, directories, fats, miniFATs, moreFATs = 512, 30, 40, 44, 64, 72 // offsets in the header
	header := make([]byte, size)
	if _, err := r.ReadAt(header, 0); err != nil {
		return nil, fmt.Errorf("read the header of a container: %w", err)
	}
	for _, at := range []int{directories, fats, miniFATs, moreFATs} {
		parts := int64(binary.LittleEndian.Uint32(header[at:]))
		end := parts<<min(binary.LittleEndian.Uint16(header[shift:]), 12) - 1 // of the parts, if nothing else is in the file
		if parts == 0 {
			continue
		}
		if _, err := r.ReadAt(make([]byte, 1), end); err != nil {
			return nil, fmt.Errorf("the header of a container states %d parts: %w", parts, err)
		}
	}
	container, err := mscfb.New(r)
	if err != nil {
		return nil, fmt.Errorf("open a container: %w", err)
	}
	return container, nil
}

// IsEncrypted reports whether an OLE container holds an encrypted document of the
// newer formats (DOCX, PPTX, XLSX).
func IsEncrypted(r io.ReaderAt) bool {
	container, err := Open(r)
	if err != nil {
		return false
	}
	for _, f := range container.File {
		if strings.EqualFold(f.Name, "EncryptedPackage") {
			return true
		}
	}
	return false
}

// IsMessage reports whether a file is the container of a message of Outlook.
func IsMessage(r io.ReaderAt) bool {
	head := make([]byte, len(signature))
	if _, err := r.ReadAt(head, 0); err != nil || !IsContainer(head) {
		return false
	}
	container, err := Open(r)
	if err != nil {
		return false
	}
	for _, f := range container.File {
		if len(f.Path) == 0 && f.Name == "__properties_version1.0" {
			return true
		}
	}
	return false
}

// Decrypt returns the document in an encrypted container. Errors are
// *knowledge.Error with code encrypted.
func Decrypt(data []byte, password string) ([]byte, error) {
	if password == "" {
		return nil, knowledge.Errorf(knowledge.CodeEncrypted, "the document asks for a password; send it with override.password, or without a password")
	}
	plain, err := excelize.Decrypt(data, &excelize.Options{Password: password})
	if err != nil || !bytes.HasPrefix(plain, []byte("PK")) {
		return nil, knowledge.Errorf(knowledge.CodeEncrypted,
			"the document cannot be opened with this password; send it with the right override.password, or without a password").WithCause(err)
	}
	return plain, nil
}

// Unpack returns the document in an embedded object, and its name: the one that the
// object states, else base with an extension. data is nil if the object contains no
// document.
func Unpack(base string, object []byte) (name string, data []byte) {
	switch {
	case bytes.HasPrefix(object, []byte("PK\x03\x04")):
		return base, object // the content decides the kind
	case bytes.HasPrefix(object, []byte("%PDF-")):
		return base + ".pdf", object
	}
	container, err := Open(bytes.NewReader(object))
	if err != nil {
		return "", nil // damaged: the picture that stands for it is kept
	}
	for _, f := range container.File {
		if len(f.Path) > 0 { // a stream of an object inside
			continue
		}
		switch f.Name {
		case "\x01Ole10Native", "Ole10Native":
			if content, err := io.ReadAll(f); err == nil {
				return native(base, content)
			}
		case "Package":
			if content, err := io.ReadAll(f); err == nil {
				return base, content
			}
		case "CONTENTS":
			if content, err := io.ReadAll(f); err == nil && bytes.HasPrefix(content, []byte("%PDF-")) {
				return base + ".pdf", content
			}
		case "WordDocument":
			return base + ".doc", object
		case "Workbook", "Book":
			return base + ".xls", object
		case "PowerPoint Document":
			return base + ".ppt", object
		}
	}
	return "", nil
}

// native returns the file in the stream of an object that is a file of any kind: its
// size, a number, its label, its path, a number, another path, its size, its bytes.
func native(base string, b []byte) (name string, data []byte) {
	r := bytes.NewBuffer(b)
	r.Next(4 + 2)
	label := text(r)
	text(r)
	r.Next(4)
	r.Next(length(r))
	size := length(r)
	if size == 0 || size > r.Len() {
		return "", nil
	}
	if label = strings.TrimSpace(label); label == "" {
		label = base
	}
	return label, r.Next(size)
}

// text reads a text that ends with a zero byte.
func text(r *bytes.Buffer) string {
	s, err := r.ReadBytes(0)
	if err != nil {
		return ""
	}
	decoded, err := charmap.Windows1252.NewDecoder().Bytes(s[:len(s)-1])
	if err != nil {
		return ""
	}
	return string(decoded)
}

// length reads a length of four bytes.
func length(r *bytes.Buffer) int {
	b := r.Next(4)
	if len(b) < 4 {
		return 0
	}
	n := binary.LittleEndian.Uint32(b)
	return int(min(n, 1<<30))
}

// IsProtected reports whether a document of the older Office formats is encrypted.
func IsProtected(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	container, err := Open(f)
	if err != nil {
		return false
	}
	for _, stream := range container.File {
		head := make([]byte, 4096)
		n, err := io.ReadFull(stream, head)
		if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
			continue
		}
		if head = head[:n]; isEncryptedStream(stream.Name, head) {
			return true
		}
	}
	return false
}

// isEncryptedStream reports whether the beginning of a stream says that the document
// is encrypted: a bit of a Word document, a record of a workbook, a mark of a
// presentation.
func isEncryptedStream(name string, head []byte) bool {
	switch name {
	case "WordDocument":
		return len(head) > 11 && head[11]&1 != 0
	case "Workbook", "Book":
		for len(head) >= 4 {
			kind, size := binary.LittleEndian.Uint16(head), int(binary.LittleEndian.Uint16(head[2:]))
			if kind == 0x2f {
				return true
			}
			head = head[min(4+size, len(head)):]
		}
	case "Current User":
		return len(head) >= 16 && binary.LittleEndian.Uint32(head[12:]) == 0xf3d1c4df
	}
	return false
}
