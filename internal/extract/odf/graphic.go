package odf

import (
	"bytes"
	"cmp"
	"io"
	"path"
	"strings"

	"github.com/cairn-rag/cairn/internal/extract/markup"
	"github.com/cairn-rag/cairn/internal/extract/ole"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// graphic adds what is in a frame or a shape: text, a picture, a table, an embedded
// document. alt is the text that stands for it.
func (r *reader) graphic(n *markup.Node, alt string) error {
	switch n.Name {
	case "frame":
		return r.frame(n)
	case "g", "a", "shapes":
		return r.graphics(n, alt)
	case "custom-shape", "rect", "ellipse", "circle", "line", "polygon", "polyline", "path", "connector", "caption", "measure", "regular-polygon":
		return r.flow(n)
	case "annotation":
		r.doc.Add(knowledge.BlockParagraph, r.comment(n))
	case "control":
		r.doc.Add(knowledge.BlockParagraph, r.controls[n.Attr("control")])
	}
	return r.doc.Err()
}

func (r *reader) graphics(n *markup.Node, alt string) error {
	for _, c := range n.Nodes {
		if err := r.graphic(c, alt); err != nil {
			return err
		}
	}
	return nil
}

// frame adds the first content of a frame that this package knows. The others are
// pictures that stand for it.
func (r *reader) frame(n *markup.Node) error {
	alt := cmp.Or(n.Child("desc").Content(), n.Child("title").Content())
	for _, c := range n.Nodes {
		switch c.Name {
		case "text-box":
			return r.flow(c)
		case "table":
			return r.table(c)
		case "object":
			if known, err := r.object(c, alt); known || err != nil {
				return err
			}
		case "object-ole":
			if err := r.embedded(r.path(c)); err != nil {
				return err
			}
		}
	}
	if file := r.image(n); file != "" {
		return r.doc.Figure(file, alt, func() (io.ReadCloser, error) { return r.zip.Open(file) })
	}
	r.doc.Add(knowledge.BlockFigure, alt) // a picture that is a link
	return nil
}

// image returns the picture in a frame: of several forms of it one that browsers show,
// if there is one.
func (r *reader) image(n *markup.Node) string {
	found := ""
	for _, c := range n.Children("image") {
		file := r.path(c)
		if !r.zip.Has(file) {
			continue
		}
		switch strings.ToLower(path.Ext(file)) {
		case ".emf", ".wmf", ".svm", ".svg", ".pdf", "":
			found = cmp.Or(found, file)
		default:
			return file
		}
	}
	return found
}

// path returns the path in the document to which an element refers, "" if it refers
// to an address.
func (r *reader) path(n *markup.Node) string {
	target := n.Attr("href")
	if target == "" || strings.Contains(target, "://") || strings.HasPrefix(target, "#") {
		return ""
	}
	return strings.TrimPrefix(path.Clean("/"+r.folder+target), "/")
}

// embedded adds the document in an OLE object as a child.
func (r *reader) embedded(file string) error {
	if !r.zip.Has(file) {
		return nil
	}
	data, err := r.zip.Bytes(file, maxEmbedded)
	if err != nil {
		return err
	}
	name, data := ole.Unpack(path.Base(file), data)
	if data == nil {
		return nil
	}
	return r.doc.Attach(name, func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(data)), nil })
}

const (
	// maxEmbedded is the largest embedded object in bytes that is unpacked.
	maxEmbedded = 256 << 20
	maxDepth    = 5 // of objects in objects
)

// object adds an embedded chart, formula, text or spreadsheet as part of the text.
// known is false if there is nothing to add.
func (r *reader) object(n *markup.Node, alt string) (known bool, err error) {
	if formula := n.Child("math"); formula != nil { // not in a file of its own
		r.doc.Add(knowledge.BlockParagraph, formulaText(formula))
		return true, nil
	}
	folder := r.path(n)
	if folder == "" || r.depth >= maxDepth || !r.zip.Has(folder+"/content.xml") {
		return false, nil
	}
	root, err := r.rootOf(folder + "/content.xml")
	if err != nil {
		return false, err
	}
	if root.Name == "math" {
		formula, err := r.tree(folder + "/content.xml")
		r.doc.Add(knowledge.BlockParagraph, formulaText(formula))
		return true, err
	}
	r.doc.Add(knowledge.BlockFigure, alt)
	before := len(r.doc.Result.Layout.Blocks)
	inner := newReader(r.zip, r.doc)
	inner.folder, inner.depth = folder+"/", r.depth+1
	if err := inner.read(); err != nil {
		return false, err
	}
	return len(r.doc.Result.Layout.Blocks) > before, nil
}

// rootOf returns the root element of a file without its content.
func (r *reader) rootOf(name string) (*markup.Node, error) {
	f, err := r.zip.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return markup.Root(f)
}

// formulaText returns a formula as it was typed, else its signs.
func formulaText(n *markup.Node) string {
	if typed := n.First("annotation"); typed != nil {
		return typed.Content()
	}
	return n.Content()
}

// chart adds a chart: its titles as a caption, and its data as a table.
func (r *reader) chart(n *markup.Node) error {
	var titles []string
	for _, name := range []string{"title", "subtitle"} {
		titles = append(titles, r.plain(n.Child(name)))
	}
	n.Child("plot-area").All("axis", func(axis *markup.Node) {
		titles = append(titles, r.plain(axis.Child("title")))
	})
	r.doc.Add(knowledge.BlockCaption, strings.Join(titles, "\n"))
	if data := n.Child("table"); data != nil {
		return r.table(data)
	}
	return nil
}
