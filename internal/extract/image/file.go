package image

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"
	"math"

	"github.com/cairn-rag/cairn/internal/extract/picture"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// usualResolution is the pixels of an inch of a file that does not state them: one
// for each point.
const usualResolution = 72.0

// file is a picture with one page or more, each decoded when it is needed.
type file struct {
	data       []byte
	pages      int
	decode     func(index int) (image.Image, error)
	resolution func(index int) float64 // pixels of an inch
	metadata   map[string]string
	showable   bool // browsers and models show the bytes as they are
}

// open reads the header of a picture. It refuses one that would take too much memory.
func open(mediaType string, data []byte) (*file, error) {
	f := &file{data: data, pages: 1, metadata: map[string]string{}, resolution: func(int) float64 { return usualResolution }}
	switch mediaType {
	case "image/png":
		return f, f.single(png.DecodeConfig, png.Decode, pngResolution(data))
	case "image/jpeg":
		return f, f.openJPEG()
	case "image/gif":
		err := f.single(gif.DecodeConfig, gif.Decode, 0)
		f.showable = false // a model may refuse it
		return f, err
	case "image/tiff":
		return f, f.openTIFF()
	case "image/webp":
		return f, f.openWebP()
	case "image/bmp":
		return f, f.openBMP()
	default:
		return nil, fmt.Errorf("%s is not a kind of picture", mediaType)
	}
}

func corrupt(err error) error {
	return knowledge.Errorf(knowledge.CodeCorrupt, "the picture is damaged and cannot be decoded; open it, save it again and send the new file").WithCause(err)
}

// single prepares a file of one page. resolution is 0 if the file does not state it.
func (f *file) single(config func(io.Reader) (image.Config, error), decode func(io.Reader) (image.Image, error), resolution float64) error {
	c, err := config(bytes.NewReader(f.data))
	if err != nil {
		return corrupt(err)
	}
	if err := picture.Check(c); err != nil {
		return err
	}
	f.showable = true
	if plausible(resolution) {
		f.resolution = func(int) float64 { return resolution }
	}
	f.decode = func(int) (image.Image, error) {
		img, err := decode(bytes.NewReader(f.data))
		if err != nil {
			return nil, corrupt(err)
		}
		return img, nil
	}
	return nil
}

// plausible reports whether a file can mean the resolution that it states.
func plausible(resolution float64) bool { return resolution >= 50 && resolution <= 2400 }

func (f *file) openJPEG() error {
	about := readJPEGHeader(f.data)
	if err := f.single(jpeg.DecodeConfig, jpeg.Decode, about.resolution); err != nil {
		return err
	}
	about.tags.describe(f.metadata)
	if c, err := jpeg.DecodeConfig(bytes.NewReader(f.data)); err == nil && c.ColorModel == color.CMYKModel {
		f.showable = false
	}
	if about.tags.orientation > 1 {
		f.showable = false
		f.decode = orient(f.decode, about.tags.orientation)
	}
	return nil
}

// orient returns a decoder that turns the picture as its file states.
func orient(decode func(int) (image.Image, error), orientation int) func(int) (image.Image, error) {
	if orientation <= 1 {
		return decode
	}
	return func(index int) (image.Image, error) {
		img, err := decode(index)
		if err == nil {
			img = picture.Oriented(img, orientation)
		}
		return img, err
	}
}

// shrink returns the factor by which both sides of a picture become smaller so that
// it has at most so many pixels.
func shrink(pixels, most float64) float64 { return math.Sqrt(most / pixels) }
