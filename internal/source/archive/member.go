package archive

import (
	"archive/zip"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/source"
)

// A file of more than bombBytes that is more than bombRatio times as large as its
// compressed form is a bomb. The highest ratio of the usual compression is 1,032.
const (
	bombBytes = 10 << 20
	bombRatio = 500
)

// encryptedFlag is the bit of an encrypted file in its header.
const encryptedFlag = 1

// member is a file of an archive.
type member struct {
	file  *zip.File
	key   string
	fault *knowledge.Error // why it must not be read, nil if it may be
}

// isArchive reports whether the member is an archive itself, by its name: many
// formats of documents are zip archives too.
func (m member) isArchive() bool { return strings.EqualFold(path.Ext(m.key), ".zip") }

// object returns the member as a source lists it.
func (m member) object(folder string, at place) source.Object {
	return source.Object{
		Key: folder + m.key, ETag: fmt.Sprintf("%08x-%d", m.file.CRC32, m.file.UncompressedSize64),
		Bytes: int64(min(m.file.UncompressedSize64, 1<<62)), Modified: m.file.Modified, Ref: at.String(),
	}
}

// open returns the bytes of the member.
func (m member) open() (io.ReadCloser, error) {
	if m.fault != nil {
		return nil, m.fault
	}
	body, err := m.file.Open()
	if err != nil {
		return nil, m.unreadable(err)
	}
	return &reader{ReadCloser: body, of: m}, nil
}

// reader is the bytes of a member with the errors of a source.
type reader struct {
	io.ReadCloser
	of member
}

// Read implements io.Reader.
func (r *reader) Read(p []byte) (int, error) {
	n, err := r.ReadCloser.Read(p)
	if err == nil || err == io.EOF {
		return n, err
	}
	return n, r.of.unreadable(err)
}

func (m member) unreadable(err error) error {
	if errors.Is(err, zip.ErrAlgorithm) {
		return knowledge.Errorf(knowledge.CodeUnsupportedFormat, "%q is compressed by a method that is not supported; pack it again with the usual one", m.key)
	}
	return unreadable(err, fmt.Sprintf("%q in the archive is damaged", knowledge.Cut(m.key, 200)))
}

// unreadable returns the error for bytes that could not be read: one that can be
// retried if the file that holds the archive failed, else a corrupt archive.
func unreadable(err error, message string) error {
	if e, ok := errors.AsType[storageError](err); ok {
		return source.FromExchange(e.error)
	}
	return (&knowledge.Error{Code: knowledge.CodeCorrupt, Message: message}).WithCause(err)
}

// checked returns the files of an archive of size bytes, each with the reason why
// it must not be read, if there is one. Folders and the files that systems add to
// archives are left out.
func checked(files []*zip.File, size, total int64) []member {
	decode := decoderFor(files)
	members := make([]member, 0, len(files))
	var packed, unpacked uint64
	for _, f := range files {
		name := decode(f)
		if strings.HasSuffix(name, "/") || addedBySystem(name) {
			continue
		}
		m := member{file: f, key: name}
		key, fault := checkedPath(name)
		if fault != nil {
			m.fault = fault
		} else {
			m.key, m.fault = key, contentFault(f, key)
		}
		packed += f.CompressedSize64
		unpacked += f.UncompressedSize64
		if m.fault == nil && (packed > uint64(size) || unpacked > uint64(total)) {
			m.fault = knowledge.Errorf(knowledge.CodeParseLimit,
				"%q is left out: the files of the archive are larger than they can be, so it may be a bomb", key)
		}
		members = append(members, m)
	}
	unique(members)
	return members
}

// contentFault returns the reason why the bytes of a file must not be read.
func contentFault(f *zip.File, name string) *knowledge.Error {
	switch {
	case !f.Mode().IsRegular():
		return knowledge.Errorf(knowledge.CodeInvalid, "%q is a link or a special file, which is not followed; pack the file itself", name)
	case f.Flags&encryptedFlag != 0:
		return knowledge.Errorf(knowledge.CodeEncrypted, "%q is encrypted; pack it again without a password", name)
	case f.UncompressedSize64 > bombBytes && f.UncompressedSize64/bombRatio > f.CompressedSize64:
		return knowledge.Errorf(knowledge.CodeParseLimit, "%q grows more than %d times when it is unpacked, so it may be a bomb", name, bombRatio)
	}
	return nil
}
