package archive

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"errors"
	"io"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// Limits of an archive.
const (
	maxMembers        = 200_000
	maxDirectoryBytes = 32 << 20
	maxTotal          = 64 << 30 // bytes of all files of an archive
	maxInnerTotal     = 8 << 30  // of all files of an archive inside it
	maxInner          = 1 << 30  // of an archive inside it
)

// directory is the list of the files of an archive.
type directory struct{ members []member }

// readDirectory reads the directory of an archive of size bytes, whose files may
// have total bytes.
func readDirectory(file io.ReaderAt, size, total int64) (*directory, error) {
	count, err := countMembers(file, size)
	if err != nil {
		return nil, err
	}
	if count > maxMembers {
		return nil, tooManyMembers()
	}
	budget := &budget{ReaderAt: file, left: maxDirectoryBytes}
	reader, err := zip.NewReader(budget, size)
	switch {
	case budget.left < 0:
		return nil, tooManyMembers()
	case err != nil && !errors.Is(err, zip.ErrInsecurePath):
		return nil, unreadable(err, "the file cannot be read as a zip archive: it may be truncated")
	case len(reader.File) > maxMembers:
		return nil, tooManyMembers()
	}
	budget.unlimited = true // the files have limits of their own
	return &directory{members: checked(reader.File, size, total)}, nil
}

func tooManyMembers() error {
	return knowledge.Errorf(knowledge.CodeParseLimit, "the archive holds more than %d files, or their names are too long; split it", maxMembers)
}

// budget fails after a number of bytes, until it is unlimited.
type budget struct {
	io.ReaderAt
	left      int64
	unlimited bool
}

// ReadAt implements io.ReaderAt.
func (b *budget) ReadAt(p []byte, offset int64) (int, error) {
	if !b.unlimited {
		if b.left -= int64(len(p)); b.left < 0 {
			return 0, errors.New("the directory of the archive is too long")
		}
	}
	return b.ReaderAt.ReadAt(p, offset)
}

// countMembers returns the number of members that the end of an archive states.
// The zip reader allocates memory for that number before it reads any of them.
// Its format is section 4.3.16 of the ZIP specification, and 4.3.14 for more
// than 65,534 members.
func countMembers(file io.ReaderAt, size int64) (uint64, error) {
	const endSize, locatorSize, longEndSize = 22, 20, 56
	tail := make([]byte, min(size, endSize+locatorSize+1<<16))
	if _, err := file.ReadAt(tail, size-int64(len(tail))); err != nil && !errors.Is(err, io.EOF) {
		return 0, unreadable(err, "")
	}
	end := bytes.LastIndex(tail, []byte("PK\x05\x06"))
	if end < 0 || len(tail) < end+endSize {
		return 0, knowledge.Errorf(knowledge.CodeCorrupt, "the file is not a zip archive, or it is truncated")
	}
	count := uint64(binary.LittleEndian.Uint16(tail[end+10:]))
	locator := end - locatorSize
	if locator < 0 || !bytes.HasPrefix(tail[locator:], []byte("PK\x06\x07")) {
		return count, nil
	}
	long := make([]byte, longEndSize)
	if _, err := file.ReadAt(long, int64(binary.LittleEndian.Uint64(tail[locator+8:]))); err != nil || !bytes.HasPrefix(long, []byte("PK\x06\x06")) {
		return count, nil // the zip reader looks elsewhere, or fails
	}
	return max(count, binary.LittleEndian.Uint64(long[32:])), nil
}

// storage marks the errors of the file that the archive is stored in, which are
// no fault of the archive.
type storage struct{ io.ReaderAt }

type storageError struct{ error }

// Unwrap returns the cause.
func (e storageError) Unwrap() error { return e.error }

// ReadAt implements io.ReaderAt.
func (s storage) ReadAt(p []byte, offset int64) (int, error) {
	n, err := s.ReaderAt.ReadAt(p, offset)
	if err != nil && !errors.Is(err, io.EOF) {
		err = storageError{err}
	}
	return n, err
}
