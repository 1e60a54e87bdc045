package pdf

import (
	"context"
	"image"

	"github.com/cairn-rag/cairn/internal/extract/format"
	"github.com/cairn-rag/cairn/internal/extract/picture"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// Draw returns the picture of a page, 1 = first. A very large page is drawn smaller. It returns the errors of Read, and not_found if the
// document has no such page.
func (r *Reader) Draw(ctx context.Context, source format.Source, number int, scale picture.Scale) (drawn *image.RGBA, err error) {
	data, err := source.Bytes()
	if err != nil {
		return nil, err
	}
	err = r.with(ctx, source, data, func(d *document) error {
		if number < 1 || number > d.pages {
			return knowledge.Errorf(knowledge.CodeNotFound, "the document has no page %d", number)
		}
		p, err := d.loadPage(number - 1)
		if err != nil {
			return err
		}
		if p.handle == 0 {
			return knowledge.Errorf(knowledge.CodeCorrupt, "page %d of the PDF is damaged and cannot be shown", number)
		}
		width, height := p.frame.size()
		perPoint := float64(scale.Resolution) / pointsPerInch
		if most := float64(scale.Side) / max(width, height); scale.Side > 0 && (perPoint == 0 || perPoint > most) {
			perPoint = most
		}
		if drawn, _, err = d.draw(p, knowledge.Box{X2: width, Y2: height}, perPoint); err != nil {
			return err
		}
		picture.Mark(drawn, scale.Boxes, float64(drawn.Bounds().Dx())/width)
		return nil
	})
	return drawn, err
}
