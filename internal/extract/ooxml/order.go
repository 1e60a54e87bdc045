package ooxml

import (
	"cmp"
	"slices"
	"strings"

	"github.com/cairn-rag/cairn/internal/extract/markup"
	"github.com/cairn-rag/cairn/internal/extract/office"
)

// box is the place of a shape on its slide or in its group, in EMU (914,400 to the
// inch), from the top left.
type box struct{ x1, y1, x2, y2 int }

// placed is a shape with its place, and those behind it in the file whose place is
// not known.
type placed struct {
	box
	nodes []*markup.Node
}

// inOrder returns the shapes of a slide or a group as they are read: from top to bottom,
// and from left to right. A file has them in the order in which they are drawn. Where
// gaps part the shapes, the widest gap parts them first: it is wider between columns than
// within them, and wider between the rows of a table of boxes than within them.
func (s *slide) inOrder(parent *markup.Node) []*markup.Node {
	var before []*markup.Node // without a place, at the beginning
	var shapes []placed
	for _, n := range parent.Nodes {
		if at, ok := s.boxOf(n); ok {
			shapes = append(shapes, placed{at, []*markup.Node{n}})
		} else if last := len(shapes) - 1; last >= 0 {
			shapes[last].nodes = append(shapes[last].nodes, n)
		} else {
			before = append(before, n)
		}
	}
	var behind, front []placed // a picture behind all others cannot be parted from them
	for _, p := range shapes {
		if isBackground(p, shapes) {
			behind = append(behind, p)
		} else {
			front = append(front, p)
		}
	}
	for _, p := range append(behind, parted(front, 0)...) {
		before = append(before, p.nodes...)
	}
	return before
}

// isBackground reports whether the middles of two other shapes are within a shape that
// has no text.
func isBackground(p placed, shapes []placed) bool {
	if p.nodes[0].First("t") != nil {
		return false
	}
	inside := 0
	for _, other := range shapes {
		x, y := (other.x1+other.x2)/2, (other.y1+other.y2)/2
		if other.box != p.box && x > p.x1 && x < p.x2 && y > p.y1 && y < p.y2 {
			inside++
		}
	}
	return inside > 1
}

// maxParting bounds how often shapes are parted.
const maxParting = 50

// parted returns the shapes in order.
func parted(shapes []placed, depth int) []placed {
	if len(shapes) < 2 {
		return shapes
	}
	rows := func(b box) (int, int) { return b.y1, b.y2 }
	columns := func(b box) (int, int) { return b.x1, b.x2 }
	row, rowGap := widest(shapes, rows)
	column, columnGap := widest(shapes, columns)
	if depth >= maxParting || row == 0 && column == 0 {
		slices.SortStableFunc(shapes, func(a, b placed) int { return cmp.Or(cmp.Compare(a.y1, b.y1), cmp.Compare(a.x1, b.x1)) })
		return shapes
	}
	at := row
	extent := rows
	if row == 0 || column > 0 && columnGap > rowGap {
		at, extent = column, columns
	}
	sortBy(shapes, extent)
	first, rest := slices.Clone(shapes[:at]), slices.Clone(shapes[at:])
	return append(parted(first, depth+1), parted(rest, depth+1)...)
}

func sortBy(shapes []placed, extent func(box) (int, int)) {
	slices.SortStableFunc(shapes, func(a, b placed) int {
		first, _ := extent(a.box)
		second, _ := extent(b.box)
		return cmp.Compare(first, second)
	})
}

// widest returns how many shapes are before the widest gap between shapes in one
// direction, 0 if there is none, and its width. Shapes that overlap by a tenth have a gap
// between them, because a box is larger than its text.
func widest(shapes []placed, extent func(box) (int, int)) (at, gap int) {
	sortBy(shapes, extent)
	_, end := extent(shapes[0].box)
	least := end
	for i, p := range shapes {
		first, last := extent(p.box)
		if i > 0 {
			size := min(last-first, least)
			if width := first - end + size/10; width >= 0 && (at == 0 || width > gap) {
				at, gap = i, width
			}
		}
		if last >= end {
			end, least = last, last-first
		}
	}
	return at, gap
}

// boxOf returns the place of a shape, which a placeholder inherits from the layout of
// its slide. ok is false if it is not known.
func (s *slide) boxOf(n *markup.Node) (box, bool) {
	switch n.Name {
	case "sp", "pic":
		if at, ok := frameOf(n.Child("spPr", "xfrm")); ok {
			return at, true
		}
		kind, index := placeholder(n)
		if kind == "" {
			return box{}, false
		}
		return s.inherited(kind, index)
	case "grpSp":
		return frameOf(n.Child("grpSpPr", "xfrm"))
	case "graphicFrame":
		if at, ok := frameOf(n.Child("xfrm")); ok {
			return at, true
		}
		kind, index := placeholder(n)
		return s.inherited(kind, index)
	case "AlternateContent":
		if inner := chosen(n); inner != nil {
			for _, c := range inner.Nodes {
				if at, ok := s.boxOf(c); ok {
					return at, true
				}
			}
		}
	}
	return box{}, false
}

func frameOf(n *markup.Node) (box, bool) {
	offset, size := n.Child("off"), n.Child("ext")
	if offset == nil || size == nil {
		return box{}, false
	}
	x, y := office.Int(offset.Attr("x"), 0), office.Int(offset.Attr("y"), 0)
	return box{x, y, x + office.Int(size.Attr("cx"), 0), y + office.Int(size.Attr("cy"), 0)}, true
}

// inherited returns the place of a placeholder in the layout of the slide, or in its
// master.
func (s *slide) inherited(kind, index string) (box, bool) {
	if s.layout == "" || kind == "" {
		return box{}, false
	}
	known, ok := s.places[s.layout]
	if !ok {
		known = map[string]box{}
		s.addPlaces(known, s.partOfKind(s.layout, "slideMaster"), "master ")
		s.addPlaces(known, s.layout, "")
		s.places[s.layout] = known
	}
	keys := []string{"# " + index, kind, "master " + kind, "master body"}
	if index == "" {
		keys = keys[1:]
	}
	for _, key := range keys {
		if at, ok := known[key]; ok {
			return at, true
		}
	}
	return box{}, false
}

// addPlaces adds the places of the placeholders of a layout or a master, by their kind
// and, in a layout, by their index.
func (s *slide) addPlaces(known map[string]box, part, prefix string) {
	if part == "" {
		return
	}
	root, err := s.tree(part)
	if err != nil {
		return // the order of the file is good enough
	}
	root.Child("cSld", "spTree").All("sp", func(n *markup.Node) {
		kind, index := placeholder(n)
		at, ok := frameOf(n.Child("spPr", "xfrm"))
		if kind == "" || !ok {
			return
		}
		if key := strings.TrimSpace(prefix + kind); known[key] == (box{}) {
			known[key] = at
		}
		if index != "" && prefix == "" {
			known["# "+index] = at
		}
	})
}
