package outlook

import (
	"encoding/binary"
	"errors"
)

// maxRTF is the most bytes of an unpacked text.
const maxRTF = 64 << 20

var errCompressed = errors.New("the compressed text is damaged")

// known is what the dictionary holds at the beginning ([MS-OXRTFCP], 2.1.2.1).
const known = `{\rtf1\ansi\mac\deff0\deftab720{\fonttbl;}{\f0\fnil \froman \fswiss \fmodern \fscript ` +
	`\fdecor MS Sans SerifSymbolArialTimes New RomanCourier{\colortbl\red0\green0\blue0` + "\r\n" + `\par ` +
	`\pard\plain\f0\fs20\b\i\u\tab\tx`

// decompress returns compressed RTF.
func decompress(data []byte) ([]byte, error) {
	const header, isPlain, isPacked = 16, 0x414c454d, 0x75465a4c
	if len(data) < header {
		return nil, errCompressed
	}
	size, kind := int64(binary.LittleEndian.Uint32(data[4:])), binary.LittleEndian.Uint32(data[8:])
	data = data[header:]
	switch {
	case size > maxRTF:
		return nil, errCompressed
	case kind == isPlain:
		return data[:min(size, int64(len(data)))], nil
	case kind != isPacked:
		return nil, errCompressed
	}
	return unpack(data, int(size))
}

// unpack reads runs of eight items, each a byte or a reference into the dictionary: the
// last 4,096 bytes.
func unpack(data []byte, size int) ([]byte, error) {
	const dictionary = 4096
	var window [dictionary]byte
	at := copy(window[:], known)
	out := make([]byte, 0, min(size, 8*len(data)))
	add := func(b byte) {
		out = append(out, b)
		window[at] = b
		at = (at + 1) % dictionary
	}
	for len(data) > 0 {
		control := data[0]
		data = data[1:]
		for bit := range 8 {
			if control>>bit&1 == 0 {
				if len(data) == 0 {
					return ended(out, size)
				}
				add(data[0])
				data = data[1:]
				continue
			}
			if len(data) < 2 {
				return ended(out, size)
			}
			reference := int(binary.BigEndian.Uint16(data))
			data = data[2:]
			from, length := reference>>4, reference&0xf+2
			if from == at { // the end
				return out, nil
			}
			for i := range length {
				add(window[(from+i)%dictionary])
			}
			if len(out) > maxRTF {
				return nil, errCompressed
			}
		}
	}
	return ended(out, size)
}

// ended returns a text whose end is not marked. It is damaged if it is shorter than stated.
func ended(out []byte, size int) ([]byte, error) {
	if len(out) < size {
		return nil, errCompressed
	}
	return out, nil
}
