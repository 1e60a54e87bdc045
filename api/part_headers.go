package api

import (
	"bytes"
	"io"
)

// partHeaders reads a multipart body without the control characters in the headers of
// its parts. A file name may have some, which are not shown, but the parser refuses
// the whole body for them.
type partHeaders struct {
	r         io.Reader
	delimiter string // between the parts
	matched   int    // bytes of the delimiter before this place
	inHeaders bool
	lineEmpty bool // no byte of the line has come
}

func newPartHeaders(r io.Reader, boundary string) *partHeaders {
	delimiter := "\r\n--" + boundary
	return &partHeaders{r: r, delimiter: delimiter, matched: len("\r\n")} // the first one may begin the body
}

// Read implements io.Reader.
func (h *partHeaders) Read(p []byte) (int, error) {
	for {
		n, err := h.r.Read(p)
		if n = h.filter(p[:n]); n > 0 || err != nil || len(p) == 0 {
			return n, err
		}
	}
}

// filter moves what stays in the body to the front of data, and returns its length.
func (h *partHeaders) filter(data []byte) int {
	kept := 0
	for i := 0; i < len(data); i++ {
		if !h.inHeaders && h.matched == 0 { // most of a body: no delimiter before the next line
			next := bytes.IndexByte(data[i:], '\r')
			if next < 0 {
				next = len(data) - i
			}
			kept += copy(data[kept:], data[i:i+next])
			if i += next; i == len(data) {
				break
			}
		}
		if c := data[i]; h.keeps(c) {
			data[kept] = c
			kept++
		}
	}
	return kept
}

// keeps reports whether the next byte of the body stays in it.
func (h *partHeaders) keeps(c byte) bool {
	if !h.inHeaders {
		h.match(c)
		return true
	}
	switch {
	case c == '\n' && h.lineEmpty:
		h.inHeaders, h.matched = false, len("\r\n") // a delimiter may follow at once
	case c == '\n':
		h.lineEmpty = true
	case c == '\r', c == '\t':
	case c < ' ', c == 0x7f:
		return false
	default:
		h.lineEmpty = false
	}
	return true
}

// match looks for a delimiter and the space or the end of line behind it, where the
// headers of a part begin.
func (h *partHeaders) match(c byte) {
	whole := h.matched == len(h.delimiter)
	switch {
	case whole && (c == ' ' || c == '\t' || c == '\r' || c == '\n'):
		h.matched, h.inHeaders, h.lineEmpty = 0, true, c == '\n'
	case !whole && c == h.delimiter[h.matched]:
		h.matched++
	case c == '\r': // which a boundary does not have
		h.matched = 1
	default:
		h.matched = 0
	}
}
