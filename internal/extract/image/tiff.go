package image

import (
	"bytes"
	"errors"
	"image"
	"image/color"
	"image/draw"
	"image/jpeg"

	"golang.org/x/image/tiff"

	"github.com/cairn-rag/cairn/internal/extract/picture"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

const (
	compressionJPEG = 7
	photometricRGB  = 2
)

// openTIFF finds the pages of a TIFF.
func (f *file) openTIFF() error {
	d, ok := newDirectory(f.data)
	if !ok {
		return corrupt(errors.New("it has no TIFF header"))
	}
	var offsets []int
	seen := map[int]bool{}
	for at := d.first; at != 0 && !seen[at] && len(offsets) < maxPages; {
		entries, next := d.entries(at)
		if entries == nil {
			break
		}
		if err := d.check(entries); err != nil {
			return err
		}
		offsets, seen[at], at = append(offsets, at), true, next
	}
	if len(offsets) == 0 {
		return corrupt(errors.New("it has no directory"))
	}
	f.pages = len(offsets)
	d.tags(offsets[0]).describe(f.metadata)
	f.resolution = func(i int) float64 {
		if r := d.tags(offsets[i]).resolution; plausible(r) {
			return r
		}
		return usualResolution
	}
	f.decode = func(i int) (image.Image, error) {
		img, err := d.decode(offsets[i])
		if err == nil {
			img = picture.Oriented(img, d.tags(offsets[i]).orientation)
		}
		return img, err
	}
	return nil
}

// check refuses a page that would take too much memory.
func (d directory) check(entries map[int]entry) error {
	model := color.NRGBAModel
	samples, bits := d.number(entries[tagSamplesPerPixel], 1), d.number(entries[tagBitsPerSample], 1)
	switch {
	case bits > 8 && samples > 1:
		model = color.NRGBA64Model
	case bits > 8:
		model = color.Gray16Model
	case samples == 1:
		model = color.GrayModel
	}
	return picture.Check(image.Config{
		Width: d.number(entries[tagWidth], 0), Height: d.number(entries[tagHeight], 0), ColorModel: model,
	})
}

// decode decodes the page with the directory at an offset.
func (d directory) decode(at int) (image.Image, error) {
	entries, _ := d.entries(at)
	if d.number(entries[tagCompression], 1) == compressionJPEG {
		return d.decodeJPEG(entries)
	}
	// The library decodes the first page: let the header name this one.
	d.order.PutUint32(d.data[4:], uint32(at))
	img, err := tiff.Decode(bytes.NewReader(d.data))
	var unsupported tiff.UnsupportedError
	switch {
	case errors.As(err, &unsupported):
		return nil, unsupportedTIFF(err)
	case err != nil:
		return nil, corrupt(err)
	}
	return img, nil
}

func unsupportedTIFF(cause error) error {
	return knowledge.Errorf(knowledge.CodeUnsupportedFormat, "this kind of TIFF is not supported; save the picture as PNG and send that").WithCause(cause)
}

// decodeJPEG decodes a page whose strips are JPEGs that share their tables.
func (d directory) decodeJPEG(entries map[int]entry) (image.Image, error) {
	width, height := d.number(entries[tagWidth], 0), d.number(entries[tagHeight], 0)
	rows := d.number(entries[tagRowsPerStrip], height)
	offsets, sizes := d.numbers(entries[tagStripOffsets]), d.numbers(entries[tagStripBytes])
	if len(offsets) == 0 || len(offsets) != len(sizes) || rows <= 0 {
		return nil, unsupportedTIFF(errors.New("it has no strips"))
	}
	isRGB := d.number(entries[tagPhotometric], 0) == photometricRGB && d.number(entries[tagSamplesPerPixel], 1) == 3
	whole := image.NewRGBA(image.Rect(0, 0, width, height))
	for i, offset := range offsets {
		if offset < 0 || sizes[i] < 2 || offset+sizes[i] > len(d.data) {
			return nil, corrupt(errors.New("a strip is outside of the file"))
		}
		data := wholeJPEG(entries[tagJPEGTables].bytes, d.data[offset:offset+sizes[i]], isRGB)
		c, err := jpeg.DecodeConfig(bytes.NewReader(data))
		if err != nil || c.Width > width || c.Height > height {
			return nil, corrupt(errors.Join(err, errors.New("a strip is not a part of the picture")))
		}
		strip, err := jpeg.Decode(bytes.NewReader(data))
		if err != nil {
			return nil, corrupt(err)
		}
		draw.Draw(whole, image.Rect(0, i*rows, width, min(height, (i+1)*rows)), strip, image.Point{}, draw.Src)
	}
	return whole, nil
}

// wholeJPEG returns a strip as a JPEG of its own: with the tables that all strips
// share, and with the mark of Adobe that says that its colours are RGB.
func wholeJPEG(tables, strip []byte, isRGB bool) []byte {
	const mark = 2 // bytes of the marks at the start and at the end
	out := append([]byte(nil), strip[:mark]...)
	if isRGB {
		out = append(out, 0xff, 0xee, 0, 14, 'A', 'd', 'o', 'b', 'e', 0, 100, 0, 0, 0, 0, 0)
	}
	if len(tables) > 2*mark {
		out = append(out, tables[mark:len(tables)-mark]...)
	}
	return append(out, strip[mark:]...)
}
