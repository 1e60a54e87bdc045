package picture

import (
	"image"
	"image/color"
	"image/draw"
	"math"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// A box is filled with a yellow through which the page shows, and has a red edge.
var (
	markFill = image.NewUniform(color.NRGBA{R: 255, G: 214, A: 70})
	markEdge = image.NewUniform(color.NRGBA{R: 214, G: 40, B: 40, A: 255})
)

const (
	markMargin = 2. // points between a box and its edge, which hides no letter
	markWidth  = 1. // points of the edge
)

// Mark draws boxes on a page. They are in points from its top left, of perPoint pixels
// each. Parts outside the page are left out.
func Mark(page *image.RGBA, boxes []knowledge.Box, perPoint float64) {
	pixel := func(points float64) int {
		return int(math.Round(min(max(points*perPoint, -1e6), 1e6)))
	}
	edge := max(1, pixel(markWidth))
	for _, b := range boxes {
		area := image.Rect(pixel(b.X1-markMargin), pixel(b.Y1-markMargin), pixel(b.X2+markMargin), pixel(b.Y2+markMargin))
		draw.Draw(page, area, markFill, image.Point{}, draw.Over)
		for _, side := range []image.Rectangle{
			image.Rect(area.Min.X, area.Min.Y, area.Max.X, area.Min.Y+edge),
			image.Rect(area.Min.X, area.Max.Y-edge, area.Max.X, area.Max.Y),
			image.Rect(area.Min.X, area.Min.Y, area.Min.X+edge, area.Max.Y),
			image.Rect(area.Max.X-edge, area.Min.Y, area.Max.X, area.Max.Y),
		} {
			draw.Draw(page, side, markEdge, image.Point{}, draw.Over)
		}
	}
}
