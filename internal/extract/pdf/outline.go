package pdf

import (
	"math"

	"github.com/tetratelabs/wazero/api"

	"github.com/cairn-rag/cairn/internal/extract/layout"
)

// maxBookmarks bounds the entries of an outline that are read.
const maxBookmarks = 20_000

// outline reads the bookmarks of the document.
func (d *document) outline() ([]layout.Bookmark, error) {
	var marks []layout.Bookmark
	err := d.readBookmarks(0, 1, &marks)
	return marks, err
}

// readBookmarks appends the bookmarks below a parent, 0 = the outermost.
func (d *document) readBookmarks(parent uint64, level int, marks *[]layout.Bookmark) error {
	if level > maxNesting {
		return nil
	}
	mark, err := d.lib.call("FPDFBookmark_GetFirstChild", d.handle, parent)
	for ; err == nil && mark != 0 && len(*marks) < maxBookmarks; mark, err = d.lib.call("FPDFBookmark_GetNextSibling", d.handle, mark) {
		read, err := d.bookmark(mark)
		if err != nil {
			return err
		}
		read.Level = level
		*marks = append(*marks, read)
		if err := d.readBookmarks(mark, level+1, marks); err != nil {
			return err
		}
	}
	return err
}

func (d *document) bookmark(mark uint64) (read layout.Bookmark, err error) {
	read.Top = math.NaN()
	if read.Title, err = d.lib.wideText("FPDFBookmark_GetTitle", mark); err != nil {
		return read, err
	}
	target, err := d.lib.call("FPDFBookmark_GetDest", d.handle, mark)
	if err == nil && target == 0 {
		var action uint64
		if action, err = d.lib.call("FPDFBookmark_GetAction", mark); err == nil && action != 0 {
			target, err = d.lib.call("FPDFAction_GetDest", d.handle, action)
		}
	}
	if err != nil || target == 0 {
		return read, err
	}
	index, err := d.lib.number("FPDFDest_GetDestPageIndex", d.handle, target)
	if err != nil || index < 0 {
		return read, err
	}
	read.Page = index + 1
	read.Top, err = d.top(target, index)
	return read, err
}

// top returns the distance of a target from the top of its page, NaN if the file
// does not state it.
func (d *document) top(target uint64, index int) (float64, error) {
	const flag, value = 4, 4 // bytes each
	at := d.lib.scratch
	ok, err := d.lib.call("FPDFDest_GetLocationInPage", target,
		at, at+flag, at+2*flag, at+3*flag, at+3*flag+value, at+3*flag+2*value) // has x, y, zoom; x, y, zoom
	if err != nil || ok == 0 {
		return math.NaN(), err
	}
	data := d.lib.bytes(3*flag + 3*value)
	f, known := d.frames[index]
	if hasY := data[flag]; hasY == 0 || !known {
		return math.NaN(), nil
	}
	y := float64(api.DecodeF32(uint64(littleEndian(data[3*flag+value:]))))
	_, top := f.point(f.left, y)
	return top, nil
}

func littleEndian(b []byte) uint32 {
	return uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16 | uint32(b[3])<<24
}
