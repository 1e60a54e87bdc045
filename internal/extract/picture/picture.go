// Package picture prepares the pictures of documents: it bounds them before they are
// decoded, turns and scales them, and writes them as assets.
package picture

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"

	"golang.org/x/image/draw"

	"github.com/cairn-rag/cairn/internal/extract/format"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

const (
	maxPixels  = 150 << 20
	maxDecoded = 300 << 20 // bytes of a decoded picture

	// largeAsset is the size in bytes above which an asset is stored as JPEG.
	largeAsset  = 512 << 10
	jpegQuality = 85
)

// Scale is how large a page is drawn. Width and height have at most Side pixels, 0 = no
// limit. Resolution 0 is the largest that Side allows. Boxes are marked on the page; they
// are in points from its top left.
type Scale struct {
	Resolution int // pixels an inch
	Side       int
	Boxes      []knowledge.Box
}

// Check refuses a picture that would take too much memory, before it is decoded.
func Check(c image.Config) error {
	pixels := int64(c.Width) * int64(c.Height)
	if c.Width <= 0 || c.Height <= 0 {
		return knowledge.Errorf(knowledge.CodeCorrupt, "the picture has no pixels; open it, save it again and send the new file")
	}
	if pixels > maxPixels || pixels*bytesPerPixel(c.ColorModel) > maxDecoded {
		return knowledge.Errorf(knowledge.CodeParseLimit,
			"the picture has %d x %d pixels, which takes more memory than is allowed; send a smaller one", c.Width, c.Height)
	}
	return nil
}

func bytesPerPixel(model color.Model) int64 {
	switch model {
	case color.GrayModel, color.AlphaModel:
		return 1
	case color.Gray16Model:
		return 2
	case color.RGBA64Model, color.NRGBA64Model:
		return 8
	}
	if _, ok := model.(color.Palette); ok {
		return 1
	}
	return 4
}

// Gray returns a picture in shades of gray, on white where it is transparent, scaled
// by a factor.
func Gray(img image.Image, scale float64) *image.Gray {
	from := img.Bounds()
	to := image.Rect(0, 0, max(1, int(float64(from.Dx())*scale)), max(1, int(float64(from.Dy())*scale)))
	gray := image.NewGray(to)
	for i := range gray.Pix {
		gray.Pix[i] = 0xff
	}
	if to.Dx() == from.Dx() && to.Dy() == from.Dy() {
		draw.Draw(gray, to, img, from.Min, draw.Over)
	} else {
		draw.ApproxBiLinear.Scale(gray, to, img, from, draw.Over, nil)
	}
	return gray
}

// Scaled returns a picture scaled by a factor, on white where it is transparent.
func Scaled(img image.Image, scale float64) *image.RGBA {
	from := img.Bounds()
	to := image.Rect(0, 0, max(1, int(float64(from.Dx())*scale)), max(1, int(float64(from.Dy())*scale)))
	scaled := image.NewRGBA(to)
	draw.Draw(scaled, to, image.White, image.Point{}, draw.Src)
	var scaler draw.Scaler = draw.ApproxBiLinear
	if scale < .5 {
		scaler = draw.BiLinear // the faster one leaves thin lines out
	}
	scaler.Scale(scaled, to, img, from, draw.Over, nil)
	return scaled
}

// Encode returns a picture as PNG, or as JPEG if it is a large PNG, and its media
// type.
func Encode(img image.Image) (data []byte, mediaType string, err error) {
	if data, err = PNG(img); err != nil || len(data) <= largeAsset {
		return data, "image/png", err
	}
	var b bytes.Buffer
	if err := jpeg.Encode(&b, img, &jpeg.Options{Quality: jpegQuality}); err != nil {
		return nil, "", fmt.Errorf("encode a picture: %w", err)
	}
	return b.Bytes(), "image/jpeg", nil
}

// PNG returns a picture as PNG.
func PNG(img image.Image) ([]byte, error) {
	var b bytes.Buffer
	encoder := png.Encoder{CompressionLevel: png.BestSpeed}
	if err := encoder.Encode(&b, img); err != nil {
		return nil, fmt.Errorf("encode a picture: %w", err)
	}
	return b.Bytes(), nil
}

// Asset writes an encoded picture to the folder of the source. name is the asset's
// name without an extension.
func Asset(s format.Source, name, mediaType string, data []byte) (format.File, error) {
	file := format.File{Name: name + ".png", MediaType: mediaType}
	if mediaType == "image/jpeg" {
		file.Name = name + ".jpg"
	}
	file.File = file.Name
	f, err := s.Create(file.File)
	if err != nil {
		return file, err
	}
	_, err = f.Write(data)
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return file, fmt.Errorf("write a picture: %w", err)
	}
	return file, nil
}

// Oriented returns a picture as it is to be displayed, for an orientation of Exif or
// TIFF, 1..8.
func Oriented(img image.Image, orientation int) image.Image {
	if orientation < 2 || orientation > 8 {
		return img
	}
	from := img.Bounds()
	width, height := from.Dx(), from.Dy()
	if orientation >= 5 {
		width, height = height, width
	}
	out := image.NewRGBA(image.Rect(0, 0, width, height))
	for y := range height {
		for x := range width {
			fromX, fromY := origin(orientation, x, y, from.Dx(), from.Dy())
			out.Set(x, y, img.At(from.Min.X+fromX, from.Min.Y+fromY))
		}
	}
	return out
}

// origin returns where the pixel of a displayed picture stands in the stored one, of
// the given width and height.
func origin(orientation, x, y, width, height int) (int, int) {
	switch orientation {
	case 2:
		return width - 1 - x, y
	case 3:
		return width - 1 - x, height - 1 - y
	case 4:
		return x, height - 1 - y
	case 5:
		return y, x
	case 6:
		return y, height - 1 - x
	case 7:
		return width - 1 - y, height - 1 - x
	default: // 8
		return width - 1 - y, x
	}
}
