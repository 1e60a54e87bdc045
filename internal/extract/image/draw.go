package image

import (
	"image"
	"math"

	"github.com/cairn-rag/cairn/internal/extract/format"
	"github.com/cairn-rag/cairn/internal/extract/picture"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// maxDrawn is the largest number of pixels of a drawn page.
const maxDrawn = 24 << 20

// Draw returns a page of a file, 1 = first, in a resolution in pixels an inch. Its
// errors are those of Read, and not_found if the file has no such page.
func Draw(s format.Source, number, resolution int) (image.Image, error) {
	data, err := s.Bytes()
	if err != nil {
		return nil, err
	}
	f, err := open(s.MediaType, data)
	if err != nil {
		return nil, err
	}
	if number < 1 || number > f.pages {
		return nil, knowledge.Errorf(knowledge.CodeNotFound, "the document has no page %d", number)
	}
	img, err := f.decode(number - 1)
	if err != nil {
		return nil, err
	}
	scale := float64(resolution) / f.resolution(number-1)
	if pixels := float64(img.Bounds().Dx()*img.Bounds().Dy()) * scale * scale; pixels > maxDrawn {
		scale *= math.Sqrt(maxDrawn / pixels)
	}
	return picture.Scaled(img, scale), nil
}
