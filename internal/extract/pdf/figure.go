package pdf

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/cairn-rag/cairn/internal/extract/picture"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

const (
	// A figure has at least this side, in points, and this share of its page. Images
	// that cover more than background of a page with text are its background.
	minFigureSide  = 50
	minFigureShare = .02
	background     = .85

	figureResolution = 150.0 / 72 // pixels a point

	// maxFigures and maxFigureBytes bound the pictures of one document.
	maxFigures     = 300
	maxFigureBytes = 64 << 20
)

// figures are the pictures of figures so far.
type figures struct {
	known map[[sha256.Size]byte]bool // pictures that were written
	bytes int
}

// readFigures writes the images of a page that are large enough as assets, and adds
// a block for each. A picture that the document repeats, such as a logo, is written
// once. The picture of a scanned page is its text, unless it has none and a model
// describes figures.
func (d *document) readFigures(p page, found objects, scanned bool) error {
	width, height := p.frame.size()
	share := func(img placedImage) float64 {
		return (img.box.X2 - img.box.X1) * (img.box.Y2 - img.box.Y1) / (width * height)
	}
	photo := d.source.Options.Describe && len(p.lines) == 0
	images := slices.DeleteFunc(slices.Clone(found.images), func(img placedImage) bool {
		return share(img) > background && len(p.lines) > 0 || scanned && share(img) > smallestScan && !photo
	})
	for _, img := range together(images) {
		if img.box.X2-img.box.X1 < minFigureSide || img.box.Y2-img.box.Y1 < minFigureSide || share(img) < minFigureShare {
			continue
		}
		if err := d.addFigure(p, img); err != nil {
			return err
		}
	}
	return nil
}

func (d *document) addFigure(p page, img placedImage) error {
	if d.source.Folder == "" || len(d.assets) >= maxFigures || d.figures.bytes > maxFigureBytes {
		return nil
	}
	drawn, _, err := d.draw(p, img.box, figureResolution)
	if err != nil {
		return err
	}
	hash := sha256.Sum256(drawn.Pix)
	if d.figures.known[hash] {
		return nil
	}
	if d.figures.known == nil {
		d.figures.known = map[[sha256.Size]byte]bool{}
	}
	d.figures.known[hash] = true
	data, mediaType, err := picture.Encode(drawn)
	if err != nil {
		return err
	}
	asset, err := picture.Asset(d.source, fmt.Sprintf("figure-%03d", len(d.assets)+1), mediaType, data)
	if err != nil {
		return err
	}
	asset.Page, asset.Box = p.number, &img.box
	d.assets = append(d.assets, asset)
	d.figures.bytes += len(data)
	d.extra = append(d.extra, knowledge.Block{
		Kind: knowledge.BlockFigure, Text: img.alt, Figure: asset.Name,
		Lines: []knowledge.Line{{End: utf8.RuneCountInString(img.alt), Page: p.number, Box: img.box}},
	})
	return nil
}

// touching is how far the parts of an image may be apart, in points: some programs
// cut images into strips.
const touching = 1

// together joins images that touch or overlap.
func together(images []placedImage) []placedImage {
	var joined []placedImage
	for _, img := range images {
		for i := 0; i < len(joined); i++ {
			other := joined[i]
			if near(img.box, other.box) {
				img.box = img.box.Union(other.box)
				if img.alt == "" {
					img.alt = other.alt
				}
				joined = append(joined[:i], joined[i+1:]...)
				i = -1 // the larger box may touch others
			}
		}
		joined = append(joined, img)
	}
	return joined
}

func near(a, b knowledge.Box) bool {
	return a.X1 <= b.X2+touching && b.X1 <= a.X2+touching && a.Y1 <= b.Y2+touching && b.Y1 <= a.Y2+touching
}
