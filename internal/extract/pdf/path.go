package pdf

import (
	"math"

	"github.com/cairn-rag/cairn/internal/extract/layout"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// The paths and their segments that are looked at on one page. A page with more is a
// map or a chart, and its lines are no table.
const (
	maxPaths    = 8_000
	maxSegments = 40_000
	// maxPathSegments bounds the segments of one path. A table that one path draws
	// has fewer; a curve may have more.
	maxPathSegments = 4_000
)

// Types of the segments of a path.
const (
	segmentLine  = 0
	segmentCurve = 1
	segmentMove  = 2
)

// paths collects the straight lines and filled rectangles of a page.
type paths struct {
	count, segments int
	drawing         layout.Drawing
}

// result returns what was collected, nothing if it is not all of the page.
func (p *paths) result() layout.Drawing {
	if p.count > maxPaths || p.segments > maxSegments {
		return layout.Drawing{}
	}
	return p.drawing
}

// readPath adds the lines and rectangles of a path that are visible on the page.
func (d *document) readPath(p page, object uint64, outer matrix, found *paths) error {
	if found.count++; found.count > maxPaths || found.segments > maxSegments {
		return nil
	}
	fill, stroke, err := d.lib.drawMode(object)
	if err != nil || !fill && !stroke {
		return err
	}
	count, err := d.lib.number("FPDFPath_CountSegments", object)
	if err != nil {
		return err
	}
	if found.segments += count; count < 2 || count > maxPathSegments || found.segments > maxSegments {
		return nil
	}
	own, err := d.lib.objectMatrix(object)
	if err != nil {
		return err
	}
	m := own.then(outer)
	drawn := pathOnPage{frame: p.frame, to: &found.drawing}
	if stroke {
		if drawn.stroke, drawn.width, err = d.lib.strokeOf(object, m.scale()); err != nil {
			return err
		}
	}
	if fill {
		if drawn.color, drawn.fill, err = d.lib.color("FPDFPageObj_GetFillColor", object); err != nil {
			return err
		}
	}
	if !drawn.stroke && !drawn.fill {
		return nil
	}
	for i := range count {
		if err := d.lib.readSegment(object, i, m, &drawn); err != nil {
			return err
		}
	}
	drawn.endSubpath()
	return nil
}

// pathOnPage is the path that is being read.
type pathOnPage struct {
	frame        frame
	stroke, fill bool
	width        float64 // of the stroke
	color        uint32  // of the fill
	points       [][2]float64
	curves       int // segments that are not straight
	to           *layout.Drawing
}

// readSegment reads a segment of a path.
func (l *library) readSegment(object uint64, index int, m matrix, to *pathOnPage) error {
	segment, err := l.call("FPDFPath_GetPathSegment", object, uint64(index))
	if err != nil || segment == 0 {
		return err
	}
	kind, err := l.number("FPDFPathSegment_GetType", segment)
	if err != nil {
		return err
	}
	if _, err := l.call("FPDFPathSegment_GetPoint", segment, l.scratch, l.scratch+4); err != nil {
		return err
	}
	at := l.floats(2)
	closes, err := l.call("FPDFPathSegment_GetClose", segment)
	if err != nil {
		return err
	}
	x, y := to.frame.point(m.a*at[0]+m.c*at[1]+m.e, m.b*at[0]+m.d*at[1]+m.f)
	to.add(kind, x, y, closes != 0)
	return nil
}

// add adds the end of a segment, in points of the displayed page.
func (p *pathOnPage) add(kind int, x, y float64, closes bool) {
	if math.IsNaN(x+y) || math.Abs(x) > 1e5 || math.Abs(y) > 1e5 {
		x, y = 0, 0
	}
	switch kind {
	case segmentMove:
		p.endSubpath()
	case segmentCurve:
		p.curves++
	case segmentLine:
		if n := len(p.points); p.stroke && n > 0 {
			p.line(p.points[n-1], [2]float64{x, y})
		}
	}
	p.points = append(p.points, [2]float64{x, y})
	if closes && p.stroke {
		p.line(p.points[len(p.points)-1], p.points[0])
	}
}

// slant is how far the ends of a straight line across or down the page may be out of
// line, in points.
const slant = .6

// line adds a stroked line if it runs across or down the page.
func (p *pathOnPage) line(a, b [2]float64) {
	dx, dy := math.Abs(a[0]-b[0]), math.Abs(a[1]-b[1])
	if math.Min(dx, dy) > slant || math.Max(dx, dy) < slant || p.width > layout.MaxRule {
		return
	}
	half := math.Max(p.width, .2) / 2 // a width of 0 is the thinnest line that a printer has
	box := knowledge.Box{X1: math.Min(a[0], b[0]), Y1: math.Min(a[1], b[1]), X2: math.Max(a[0], b[0]), Y2: math.Max(a[1], b[1])}
	if dx > dy {
		box.Y1, box.Y2 = box.Y1-half, box.Y2+half
	} else {
		box.X1, box.X2 = box.X1-half, box.X2+half
	}
	p.rule(box)
}

func (p *pathOnPage) rule(box knowledge.Box) {
	if clipped, ok := p.frame.clip(box); ok {
		p.to.Rules = append(p.to.Rules, clipped)
	}
}

// endSubpath adds the area of the points so far if it is filled and a rectangle, whose
// corners may be round, or a thin strip. A thin one is a line.
func (p *pathOnPage) endSubpath() {
	points, curves := p.points, p.curves
	p.points, p.curves = p.points[:0], 0
	if !p.fill || len(points) < 4 || curves > 12 || curves == 0 && len(points) > 6 {
		return
	}
	box := knowledge.Box{X1: points[0][0], Y1: points[0][1], X2: points[0][0], Y2: points[0][1]}
	for _, at := range points[1:] {
		box = box.Union(knowledge.Box{X1: at[0], Y1: at[1], X2: at[0], Y2: at[1]})
	}
	if thin := math.Min(box.X2-box.X1, box.Y2-box.Y1) <= layout.MaxRule; thin {
		p.rule(box)
		return
	}
	for _, at := range points {
		if curves == 0 && !inCorner(box, at) {
			return
		}
	}
	if clipped, ok := p.frame.clip(box); ok {
		p.to.Fills = append(p.to.Fills, layout.Fill{Box: clipped, Color: p.color})
	}
}

func inCorner(box knowledge.Box, at [2]float64) bool {
	return math.Min(at[0]-box.X1, box.X2-at[0]) < slant && math.Min(at[1]-box.Y1, box.Y2-at[1]) < slant
}

// drawMode reports whether a path is filled and whether its outline is drawn.
func (l *library) drawMode(object uint64) (fill, stroke bool, err error) {
	ok, err := l.call("FPDFPath_GetDrawMode", object, l.scratch, l.scratch+4)
	if err != nil || ok == 0 {
		return false, false, err
	}
	read := l.words(2) // the mode of the fill, and whether there is an outline
	return read[0] != 0, read[1] != 0, nil
}

// strokeOf reports whether the outline of a path is visible, and its width on the page.
func (l *library) strokeOf(object uint64, scale float64) (visible bool, width float64, err error) {
	if _, visible, err = l.color("FPDFPageObj_GetStrokeColor", object); err != nil || !visible {
		return false, 0, err
	}
	ok, err := l.call("FPDFPageObj_GetStrokeWidth", object, l.scratch)
	if err != nil || ok == 0 {
		return true, 0, err
	}
	return true, l.floats(1)[0] * scale, nil
}

const (
	nearlyWhite       = 0xfa // of red, green and blue
	nearlyTransparent = 8
)

// color returns a colour of an object, and whether it shows on white paper.
func (l *library) color(name string, object uint64) (rgb uint32, visible bool, err error) {
	ok, err := l.call(name, object, l.scratch, l.scratch+4, l.scratch+8, l.scratch+12)
	if err != nil || ok == 0 {
		return 0, err == nil, err // a pattern
	}
	c := l.words(4)
	white := min(c[0], c[1], c[2]) >= nearlyWhite
	return c[0]<<16 | c[1]<<8 | c[2], !white && c[3] > nearlyTransparent, nil
}

// scale returns by how much a matrix makes lengths larger.
func (m matrix) scale() float64 { return math.Sqrt(math.Abs(m.a*m.d - m.b*m.c)) }
