package erase

import (
	"encoding/binary"
	"errors"
	"io"
	"math"
	"os"
)

// maxNoted bounds the memory of the noted pages. Above it all pages are looked at.
const maxNoted = 1 << 17

// The sizes of the headers of a write-ahead log and of its frames, in bytes. See
// "WAL File Format" in https://www.sqlite.org/walformat.html.
const (
	logHeader   = 32
	frameHeader = 24
)

// logReader notes the pages of the frames in a write-ahead log.
type logReader struct {
	path string
	// salt stands in the header and in each frame until the log is begun anew.
	salt [8]byte
	// next is the place behind the last frame that ended a transaction.
	next  int64
	pages map[uint32]struct{}
	// lost is set when pages may have been missed, as before the first erasure. All
	// pages are looked at then, so none are noted.
	lost bool
}

// read notes the frames that were written since the last call. It has to be called
// before the log is begun anew.
func (l *logReader) read() {
	if l.lost {
		return
	}
	file, err := os.Open(l.path)
	if os.IsNotExist(err) {
		return // nothing was written
	}
	if err != nil {
		l.lost = true
		return
	}
	defer file.Close() // of a file that was only read
	if err := l.readFrames(file); err != nil {
		l.lost = true
	}
}

func (l *logReader) readFrames(file io.ReaderAt) error {
	var header [logHeader]byte
	if n, err := file.ReadAt(header[:], 0); n < logHeader {
		return ignoreEOF(err) // the log is empty
	}
	pageBytes := int64(binary.BigEndian.Uint32(header[8:]))
	if salt := [8]byte(header[16:24]); salt != l.salt {
		l.salt, l.next = salt, logHeader
	}
	for at := l.next; ; at += frameHeader + pageBytes {
		var frame [16]byte
		if n, err := file.ReadAt(frame[:], at); n < len(frame) {
			return ignoreEOF(err)
		}
		if [8]byte(frame[8:16]) != l.salt { // left of an earlier log
			return nil
		}
		l.note(binary.BigEndian.Uint32(frame[:]))
		if endsTransaction := binary.BigEndian.Uint32(frame[4:]) != 0; endsTransaction {
			l.next = at + frameHeader + pageBytes
		}
	}
}

func ignoreEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

func (l *logReader) note(page uint32) {
	if l.pages == nil {
		l.pages = map[uint32]struct{}{}
	}
	if l.pages[page] = struct{}{}; len(l.pages) > maxNoted {
		l.pages, l.lost = nil, true
	}
}

// take returns the noted pages, or all of count pages if some may have been missed,
// and forgets them. The first page, which describes the tables, is left out.
func (l *logReader) take(count uint32) []uint32 {
	var pages []uint32
	if l.lost {
		pages = make([]uint32, 0, count)
		for page := uint32(2); page <= count && page < math.MaxUint32; page++ {
			pages = append(pages, page)
		}
	} else {
		for page := range l.pages {
			if page > 1 {
				pages = append(pages, page)
			}
		}
	}
	l.pages, l.lost = nil, false
	return pages
}
