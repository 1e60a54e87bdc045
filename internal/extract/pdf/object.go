package pdf

import (
	"bytes"
	"math"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// Types of page objects.
const (
	objectPath  = 2
	objectImage = 3
	objectForm  = 5
)

const (
	maxObjects     = 50_000 // of a page that are looked at
	maxFormNesting = 4
)

// objects is what a page shows beside text.
type objects struct {
	images []placedImage
	paths  paths
	seen   int
}

// placedImage is an image on a page.
type placedImage struct {
	box knowledge.Box // on the displayed page
	alt string        // alternative text
}

// mayHaveImages reports whether a PDF may have images. The dictionary of an image is
// not compressed, and an image within the content of a page is too small to be a
// figure or a scan.
func mayHaveImages(data []byte) bool {
	for rest := data; ; {
		_, after, found := bytes.Cut(rest, []byte("/Subtype"))
		if !found {
			return bytes.Contains(data, []byte("#")) && bytes.Contains(data, []byte("mage")) // a name may be written with codes
		}
		if bytes.HasPrefix(bytes.TrimLeft(after, " \r\n\t"), []byte("/Image")) {
			return true
		}
		rest = after
	}
}

// readObjects looks at the objects of a page.
func (d *document) readObjects(p page) (objects, error) {
	var found objects
	count, err := d.lib.number("FPDFPage_CountObjects", p.handle)
	if err != nil {
		return found, err
	}
	err = d.walkObjects(p, container{name: "FPDFPage_GetObject", handle: p.handle, count: count, matrix: identity}, &found)
	return found, err
}

// container is a page or a form within it, whose objects a function returns.
type container struct {
	name   string
	handle uint64
	count  int
	matrix matrix // to the user space of the page
	depth  int
}

func (d *document) walkObjects(p page, in container, found *objects) error {
	for i := range max(0, in.count) {
		if found.seen++; found.seen > maxObjects {
			return nil
		}
		object, err := d.lib.call(in.name, in.handle, uint64(i))
		if err != nil {
			return err
		}
		kind, err := d.lib.number("FPDFPageObj_GetType", object)
		if err != nil {
			return err
		}
		switch kind {
		case objectPath:
			err = d.readPath(p, object, in.matrix, &found.paths)
		case objectImage:
			err = d.readImage(p, object, in.matrix, found)
		case objectForm:
			err = d.walkForm(p, object, in, found)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (d *document) walkForm(p page, form uint64, in container, found *objects) error {
	if in.depth >= maxFormNesting {
		return nil
	}
	own, err := d.lib.objectMatrix(form)
	if err != nil {
		return err
	}
	count, err := d.lib.number("FPDFFormObj_CountObjects", form)
	if err != nil {
		return err
	}
	return d.walkObjects(p, container{
		name: "FPDFFormObj_GetObject", handle: form, count: count, matrix: own.then(in.matrix), depth: in.depth + 1,
	}, found)
}

// readImage adds an image that is on the page. An image fills the unit square of its
// own space.
func (d *document) readImage(p page, object uint64, outer matrix, found *objects) error {
	own, err := d.lib.objectMatrix(object)
	if err != nil {
		return err
	}
	box, ok := p.frame.clip(p.frame.box(own.then(outer).unitSquare()))
	if !ok {
		return nil
	}
	img := placedImage{box: rounded(box)}
	if p.tags != nil {
		id, err := d.lib.number("FPDFPageObj_GetMarkedContentID", object)
		if err != nil {
			return err
		}
		img.alt = p.tags.alts[id]
	}
	found.images = append(found.images, img)
	return nil
}

// rounded returns a box in hundredths of a point, as it is stored.
func rounded(b knowledge.Box) knowledge.Box {
	hundredths := func(x float64) float64 { return math.Round(x*100) / 100 }
	return knowledge.Box{X1: hundredths(b.X1), Y1: hundredths(b.Y1), X2: hundredths(b.X2), Y2: hundredths(b.Y2)}
}

// matrix maps (x, y) to (a·x+c·y+e, b·x+d·y+f).
type matrix struct{ a, b, c, d, e, f float64 }

var identity = matrix{a: 1, d: 1}

// then returns the matrix that maps by m and then by n.
func (m matrix) then(n matrix) matrix {
	return matrix{
		a: m.a*n.a + m.b*n.c, b: m.a*n.b + m.b*n.d,
		c: m.c*n.a + m.d*n.c, d: m.c*n.b + m.d*n.d,
		e: m.e*n.a + m.f*n.c + n.e, f: m.e*n.b + m.f*n.d + n.f,
	}
}

// unitSquare returns the extent of the unit square after mapping.
func (m matrix) unitSquare() (left, bottom, right, top float64) {
	left = m.e + math.Min(0, math.Min(m.a, math.Min(m.c, m.a+m.c)))
	right = m.e + math.Max(0, math.Max(m.a, math.Max(m.c, m.a+m.c)))
	bottom = m.f + math.Min(0, math.Min(m.b, math.Min(m.d, m.b+m.d)))
	top = m.f + math.Max(0, math.Max(m.b, math.Max(m.d, m.b+m.d)))
	return left, bottom, right, top
}

func (l *library) objectMatrix(object uint64) (matrix, error) {
	ok, err := l.call("FPDFPageObj_GetMatrix", object, l.scratch)
	if err != nil || ok == 0 {
		return identity, err
	}
	m := l.floats(6)
	for _, x := range m {
		if math.IsNaN(x) || math.Abs(x) > 1e7 {
			return matrix{}, nil
		}
	}
	return matrix{m[0], m[1], m[2], m[3], m[4], m[5]}, nil
}
