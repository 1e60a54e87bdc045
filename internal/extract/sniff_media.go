package extract

import (
	"bytes"
	"encoding/binary"
)

// isBMP reports whether head, which begins with BM, is the header of a picture: the bytes
// that are reserved are zero, and the second header has one of its known sizes.
func isBMP(head []byte) bool {
	const fileHeader, core, newest = 14, 12, 124 // bytes
	if len(head) < fileHeader+4 {
		return false
	}
	size := binary.LittleEndian.Uint32(head[fileHeader:])
	return binary.LittleEndian.Uint32(head[6:]) == 0 && size >= core && size <= newest
}

// isAAC reports whether head begins with frames of AAC (ADTS), which tags (ID3) may
// precede.
func isAAC(head []byte) bool {
	const frame = 7 // bytes of the header of a frame
	at := tagBytes(head)
	if len(head) < at+frame || head[at] != 0xff || head[at+1]&0xf6 != 0xf0 {
		return false
	}
	const rates = 13 // that have a number
	rate := head[at+2] >> 2 & 0xf
	size := int(head[at+3]&3)<<11 | int(head[at+4])<<3 | int(head[at+5])>>5
	next := at + size
	if rate >= rates || size < frame {
		return false
	}
	return next+2 > len(head) || head[next] == 0xff && head[next+1]&0xf6 == 0xf0
}

// tagBytes returns the size of the tags with which a recording begins, 0 if it has none.
func tagBytes(head []byte) int {
	const header = 10
	if !bytes.HasPrefix(head, []byte("ID3")) || len(head) < header {
		return 0
	}
	size := 0
	for _, b := range head[6:header] {
		size = size<<7 | int(b&0x7f)
	}
	return header + size
}
