package image

import (
	"bytes"
	"encoding/binary"
	stdimage "image"

	"golang.org/x/image/webp"

	"github.com/cairn-rag/cairn/internal/extract/picture"
)

// The chunks of a WebP that are read, and the bytes of their heads.
const (
	riffHead  = 12
	chunkHead = 8
	frameHead = 16 // of an animation
)

// openWebP opens a WebP. The page of an animation is its first picture.
func (f *file) openWebP() error {
	original := f.data
	data, about := still(f.data)
	f.data = data
	err := f.single(webp.DecodeConfig, webp.Decode, about.tags.resolution)
	if err != nil {
		return err
	}
	if err := about.check(); err != nil {
		return err
	}
	about.tags.describe(f.metadata)
	if about.isAnimation {
		f.showable = false // a model may refuse it
	}
	decode := f.decode
	f.decode = orient(decode, about.tags.orientation)
	f.showable = f.showable && about.tags.orientation <= 1
	if !about.isAnimation {
		f.data = original
	}
	return nil
}

// webpAbout is what the chunks beside the picture of a WebP state.
type webpAbout struct {
	isAnimation bool
	pictures    []stdimage.Config // the sizes that the lossless pictures state
	tags        tags              // of Exif
}

// check refuses a file whose picture is larger than the file says.
func (a webpAbout) check() error {
	for _, c := range a.pictures {
		if err := picture.Check(c); err != nil {
			return err
		}
	}
	return nil
}

// losslessSize returns the size that a lossless picture states.
func losslessSize(body []byte) stdimage.Config {
	const header = 5
	if len(body) < header {
		return stdimage.Config{Width: 1, Height: 1} // the decoder reports it
	}
	bits := binary.LittleEndian.Uint32(body[1:])
	return stdimage.Config{Width: int(bits&0x3fff) + 1, Height: int(bits>>14&0x3fff) + 1}
}

// still returns a WebP with one picture: the first one of an animation, and other files as
// they are.
func still(data []byte) ([]byte, webpAbout) {
	var about webpAbout
	var first []byte
	collect := func(name string, body []byte) {
		if name == "VP8L" {
			about.pictures = append(about.pictures, losslessSize(body))
		}
	}
	if len(data) < riffHead {
		return data, about
	}
	eachChunk(data[riffHead:], func(name string, body []byte) {
		collect(name, body)
		switch {
		case name == "ANMF" && first == nil && len(body) > frameHead:
			about.isAnimation, first = true, body
		case name == "EXIF":
			if d, ok := newDirectory(bytes.TrimPrefix(body, []byte("Exif\x00\x00"))); ok {
				about.tags = d.tags(d.first)
			}
		}
	})
	if first == nil {
		return data, about
	}
	eachChunk(first[frameHead:], collect)
	return frame(first), about
}

// frame returns a picture of an animation as a file.
func frame(body []byte) []byte {
	const alpha = 1 << 4
	extended := make([]byte, 10)
	copy(extended[4:], body[6:12]) // width and height
	chunks := body[frameHead:]
	eachChunk(chunks, func(name string, _ []byte) {
		if name == "ALPH" {
			extended[0] = alpha
		}
	})
	var content []byte
	if extended[0] == alpha {
		content = append(chunkOf("VP8X", extended), chunks...)
	} else {
		content = chunks
	}
	return chunkOf("RIFF", append([]byte("WEBP"), content...))
}

func chunkOf(name string, body []byte) []byte {
	return append(binary.LittleEndian.AppendUint32([]byte(name), uint32(len(body))), body...)
}

// eachChunk calls visit for each chunk, as far as they are sound.
func eachChunk(data []byte, visit func(name string, body []byte)) {
	for len(data) >= chunkHead {
		size := int64(binary.LittleEndian.Uint32(data[4:]))
		if size > int64(len(data)-chunkHead) {
			return
		}
		visit(string(data[:4]), data[chunkHead:chunkHead+size])
		data = data[min(int64(len(data)), chunkHead+size+size&1):]
	}
}
