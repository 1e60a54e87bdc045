package image

import (
	"bytes"
	"encoding/binary"
)

// jpegHeader is what the segments before the picture of a JPEG state.
type jpegHeader struct {
	resolution float64 // pixels of an inch, 0 = not stated
	tags       tags    // of Exif
}

// readJPEGHeader reads the segments of a JPEG as far as they are sound.
func readJPEGHeader(data []byte) jpegHeader {
	const (
		startOfScan = 0xda
		app0, app1  = 0xe0, 0xe1
	)
	var h jpegHeader
	for at := 2; at+4 <= len(data) && data[at] == 0xff && data[at+1] != startOfScan; {
		size := int(binary.BigEndian.Uint16(data[at+2:]))
		if size < 2 || at+2+size > len(data) {
			break
		}
		switch body := data[at+4 : at+2+size]; {
		case data[at+1] == app0 && len(body) >= 12 && bytes.HasPrefix(body, []byte("JFIF\x00")):
			h.resolution = density(body[7], float64(binary.BigEndian.Uint16(body[8:])))
		case data[at+1] == app1 && bytes.HasPrefix(body, []byte("Exif\x00\x00")):
			if d, ok := newDirectory(body[6:]); ok {
				h.tags = d.tags(d.first)
			}
		}
		at += 2 + size
	}
	if h.resolution == 0 {
		h.resolution = h.tags.resolution
	}
	return h
}

// density returns the pixels of an inch, for the units of JFIF; 0 if there are none.
func density(unit byte, value float64) float64 {
	const perInch, perCentimetre = 1, 2
	switch unit {
	case perInch:
		return value
	case perCentimetre:
		return value * 2.54
	default:
		return 0
	}
}

// pngResolution returns the pixels of an inch that a PNG states, 0 if it does not.
func pngResolution(data []byte) float64 {
	const signature, head = 8, 8 // bytes
	for at := signature; at+head+9 <= len(data); {
		size := int(binary.BigEndian.Uint32(data[at:]))
		switch string(data[at+4 : at+head]) {
		case "pHYs":
			const perMetre = 1
			if body := data[at+head:]; size == 9 && body[8] == perMetre {
				return float64(binary.BigEndian.Uint32(body)) * .0254
			}
			return 0
		case "IDAT":
			return 0
		}
		if size < 0 || size > len(data) {
			return 0
		}
		at += head + size + 4
	}
	return 0
}
