package image

import (
	"encoding/binary"
	"strings"
	"time"

	"github.com/cairn-rag/cairn/internal/extract/charset"
)

// Tags of TIFF and Exif that are read.
const (
	tagWidth           = 256
	tagHeight          = 257
	tagBitsPerSample   = 258
	tagCompression     = 259
	tagPhotometric     = 262
	tagDescription     = 270
	tagStripOffsets    = 273
	tagOrientation     = 274
	tagSamplesPerPixel = 277
	tagRowsPerStrip    = 278
	tagStripBytes      = 279
	tagResolution      = 282
	tagResolutionUnit  = 296
	tagDateTime        = 306
	tagArtist          = 315
	tagJPEGTables      = 347
)

const (
	maxEntries = 1000
	maxValues  = 1 << 20
)

// directory reads the entries of TIFF, which Exif has too.
type directory struct {
	data  []byte
	order binary.ByteOrder
	first int // offset of the first directory
}

func newDirectory(data []byte) (d directory, ok bool) {
	if len(data) < 8 {
		return d, false
	}
	switch string(data[:4]) {
	case "II*\x00":
		d.order = binary.LittleEndian
	case "MM\x00*":
		d.order = binary.BigEndian
	default:
		return d, false
	}
	d.data, d.first = data, int(d.order.Uint32(data[4:]))
	return d, true
}

// entry is a value of a directory: its type, and its bytes.
type entry struct {
	kind  uint16
	bytes []byte
}

// entries returns the entries of the directory at an offset, and the offset of the
// next one, 0 if there is none.
func (d directory) entries(at int) (found map[int]entry, next int) {
	if at < 8 || at+2 > len(d.data) {
		return nil, 0
	}
	count := int(d.order.Uint16(d.data[at:]))
	end := at + 2 + 12*count
	if count > maxEntries || end > len(d.data) {
		return nil, 0
	}
	found = map[int]entry{}
	for i := range count {
		raw := d.data[at+2+12*i:][:12]
		kind, values := d.order.Uint16(raw[2:]), int64(d.order.Uint32(raw[4:]))
		size := values * sizeOf(kind)
		value := raw[8:]
		if size > 4 {
			offset := int64(d.order.Uint32(raw[8:]))
			if values > maxValues*8 || offset+size > int64(len(d.data)) {
				continue
			}
			value = d.data[offset:]
		}
		found[int(d.order.Uint16(raw))] = entry{kind: kind, bytes: value[:size]}
	}
	if end+4 <= len(d.data) {
		next = int(d.order.Uint32(d.data[end:]))
	}
	return found, next
}

// sizeOf returns the size of a value in bytes, 0 for a kind that is not read.
func sizeOf(kind uint16) int64 {
	switch kind {
	case 1, 2, 7: // byte, text, anything
		return 1
	case 3: // short
		return 2
	case 4: // long
		return 4
	case 5: // fraction
		return 8
	default:
		return 0
	}
}

// numbers returns the whole numbers of an entry.
func (d directory) numbers(e entry) []int {
	var list []int
	for b := e.bytes; len(b) > 0 && len(list) < maxValues; b = b[sizeOf(e.kind):] {
		switch e.kind {
		case 1, 7:
			list = append(list, int(b[0]))
		case 3:
			list = append(list, int(d.order.Uint16(b)))
		case 4:
			list = append(list, int(d.order.Uint32(b)))
		default:
			return nil
		}
	}
	return list
}

// number returns the first number of an entry, or otherwise.
func (d directory) number(e entry, otherwise int) int {
	if list := d.numbers(e); len(list) > 0 {
		return list[0]
	}
	return otherwise
}

func (d directory) text(e entry) string {
	text, _, _ := strings.Cut(string(e.bytes), "\x00")
	return strings.Join(strings.Fields(charset.Clean(strings.ToValidUTF8(text, ""))), " ")
}

// tags is what a directory states of its picture.
type tags struct {
	orientation         int
	resolution          float64 // pixels of an inch, 0 = not stated
	author, description string
	created             time.Time
}

func (d directory) tags(at int) tags {
	found, _ := d.entries(at)
	t := tags{orientation: d.number(found[tagOrientation], 1), author: d.text(found[tagArtist]), description: d.text(found[tagDescription])}
	if e := found[tagResolution]; e.kind == 5 && len(e.bytes) >= 8 {
		const inch, centimetre = 2, 3
		value := float64(d.order.Uint32(e.bytes)) / max(1, float64(d.order.Uint32(e.bytes[4:])))
		switch d.number(found[tagResolutionUnit], inch) {
		case inch:
			t.resolution = value
		case centimetre:
			t.resolution = value * 2.54
		}
	}
	t.created, _ = time.Parse("2006:01:02 15:04:05", d.text(found[tagDateTime])) // the zero time if it is none
	return t
}

// describe adds what the picture states of itself to its metadata.
func (t tags) describe(metadata map[string]string) {
	if t.author != "" {
		metadata["author"] = t.author
	}
	if t.description != "" {
		metadata["description"] = t.description
	}
	if !t.created.IsZero() {
		metadata["created"] = t.created.Format("2006-01-02T15:04:05") // in an unknown zone
	}
}
