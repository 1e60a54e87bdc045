package pdf

import (
	"math"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// frame maps the user space of a page (origin at the bottom left, before
// rotation) to the displayed page.
type frame struct {
	left, bottom, right, top float64 // the crop box, in user space
	quarters                 int     // /Rotate, in quarter turns clockwise
}

// size returns width and height of the displayed page.
func (f frame) size() (width, height float64) {
	width, height = f.right-f.left, f.top-f.bottom
	if f.quarters%2 == 1 {
		return height, width
	}
	return width, height
}

// point maps a point of user space to the displayed page.
func (f frame) point(x, y float64) (float64, float64) {
	switch f.quarters {
	case 1:
		return y - f.bottom, x - f.left
	case 2:
		return f.right - x, y - f.bottom
	case 3:
		return f.top - y, f.right - x
	default:
		return x - f.left, f.top - y
	}
}

// box maps a rectangle of user space to the displayed page.
func (f frame) box(left, bottom, right, top float64) knowledge.Box {
	x1, y1 := f.point(left, bottom)
	x2, y2 := f.point(right, top)
	return knowledge.Box{X1: math.Min(x1, x2), Y1: math.Min(y1, y2), X2: math.Max(x1, x2), Y2: math.Max(y1, y2)}
}

// clip cuts a box to the displayed page, rounded inwards to hundredths of a
// point so that rounding never moves it outside. ok is false if nothing is
// left.
func (f frame) clip(b knowledge.Box) (clipped knowledge.Box, ok bool) {
	width, height := f.size()
	inner := func(x float64) float64 { return math.Floor(x*100) / 100 }
	clipped = knowledge.Box{
		X1: math.Max(b.X1, 0), Y1: math.Max(b.Y1, 0),
		X2: math.Min(b.X2, inner(width)), Y2: math.Min(b.Y2, inner(height)),
	}
	return clipped, clipped.X2-clipped.X1 >= .01 && clipped.Y2-clipped.Y1 >= .01
}

// holds reports whether a box lies on the displayed page.
func (f frame) holds(b knowledge.Box) bool {
	clipped, ok := f.clip(b)
	return ok && clipped == b
}

func height(b knowledge.Box) float64 { return b.Y2 - b.Y1 }
