package image

import (
	"image"
	"math"

	"github.com/cairn-rag/cairn/internal/extract/format"
	"github.com/cairn-rag/cairn/internal/extract/picture"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

const pointsPerInch = 72

// maxDrawn is the largest number of pixels of a drawn page.
const maxDrawn = 24 << 20

// Draw returns a page of a file, 1 = first. It enlarges a picture for a resolution only,
// not for a side. It returns the errors of Read, and not_found if the file has no such page.
func Draw(s format.Source, number int, scale picture.Scale) (image.Image, error) {
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
	factor, bounds := 1.0, img.Bounds()
	if scale.Resolution > 0 {
		factor = float64(scale.Resolution) / f.resolution(number-1)
	}
	if scale.Side > 0 {
		factor = min(factor, float64(scale.Side)/float64(max(bounds.Dx(), bounds.Dy())))
	}
	if pixels := float64(bounds.Dx()*bounds.Dy()) * factor * factor; pixels > maxDrawn {
		factor *= math.Sqrt(maxDrawn / pixels)
	}
	drawn := picture.Scaled(img, factor)
	picture.Mark(drawn, scale.Boxes, factor*f.resolution(number-1)/pointsPerInch)
	return drawn, nil
}
