package ooxml

import (
	"cmp"
	"slices"

	"github.com/cairn-rag/cairn/internal/extract/markup"
	"github.com/cairn-rag/cairn/internal/extract/office"
)

// diagram adds the text of a SmartArt diagram as a list that is nested as its shapes
// are.
func (p *pack) diagram(part string) error {
	if part == "" {
		return nil
	}
	root, err := p.tree(part)
	if root == nil || err != nil {
		return err
	}
	d := diagram{doc: p.doc, texts: map[string]string{}, below: map[string][]edge{}, seen: map[string]bool{}}
	d.read(root)
	for _, id := range d.roots {
		d.add(id, 0)
	}
	for _, id := range d.points { // those that no connection reaches
		d.add(id, 0)
	}
	return p.doc.Err()
}

type diagram struct {
	doc    *office.Document
	texts  map[string]string // of the points, by id
	points []string
	roots  []string
	below  map[string][]edge
	seen   map[string]bool
}

type edge struct {
	to    string
	order int
}

func (d *diagram) read(root *markup.Node) {
	for _, pt := range root.Child("ptLst").Children("pt") {
		id := pt.Attr("modelId")
		switch pt.Attr("type") {
		case "", "node", "asst":
			d.points = append(d.points, id)
			d.texts[id] = textOf(pt.Child("t"))
		case "doc":
			d.roots = append(d.roots, id)
		}
	}
	for _, c := range root.Child("cxnLst").Children("cxn") {
		if kind := c.Attr("type"); kind == "" || kind == "parOf" {
			from := c.Attr("srcId")
			d.below[from] = append(d.below[from], edge{c.Attr("destId"), office.Int(c.Attr("srcOrd"), 0)})
		}
	}
	for _, edges := range d.below {
		slices.SortStableFunc(edges, func(a, b edge) int { return cmp.Compare(a.order, b.order) })
	}
}

// add adds a point and those below it, each once.
func (d *diagram) add(id string, depth int) {
	if d.seen[id] || depth > 50 {
		return
	}
	d.seen[id] = true
	if text := office.Tidy(d.texts[id]); text != "" {
		d.doc.Item(depth, "", text)
		depth++
	}
	for _, e := range d.below[id] {
		d.add(e.to, depth)
	}
}
