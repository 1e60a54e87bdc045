package ooxml

import (
	"cmp"
	"path"
	"strings"

	"github.com/cairn-rag/cairn/internal/extract/html"
	"github.com/cairn-rag/cairn/internal/extract/markup"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// graphic adds what is in a drawing: pictures, text boxes, charts, diagrams and
// embedded documents. alt is the text that stands for it.
func (w *word) graphic(n *markup.Node, alt string) error {
	if d := n.Child("docPr"); d != nil {
		alt = altText(d)
	}
	for _, c := range n.Nodes {
		var err error
		switch c.Name {
		case "txbxContent":
			err = w.flow(c)
		case "AlternateContent":
			err = w.graphic(chosenOrEmpty(c), alt)
		case "pic":
			err = w.picture(w.part, c, cmp.Or(alt, altText(c.First("cNvPr"))))
		case "chart":
			err = w.chart(w.pack.part(w.part, c.Reference("id")), alt)
		case "relIds":
			err = w.diagram(w.pack.part(w.part, c.Reference("dm")))
		case "imagedata":
			err = w.image(w.pack.part(w.part, c.Reference("id")), cmp.Or(n.Attr("alt"), alt))
		case "OLEObject":
			err = w.embedded(w.pack.part(w.part, c.Reference("id")))
		default:
			err = w.graphic(c, alt)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func chosenOrEmpty(n *markup.Node) *markup.Node {
	if c := chosen(n); c != nil {
		return c
	}
	return &markup.Node{}
}

// altText returns the text that stands for a picture.
func altText(n *markup.Node) string {
	if n == nil {
		return ""
	}
	return cmp.Or(n.Attr("descr"), n.Attr("title"))
}

// picture adds the picture of an element with its alternative text.
func (p *pack) picture(from string, n *markup.Node, alt string) error {
	blip := n.First("blip")
	if blip == nil {
		return nil
	}
	return p.image(p.part(from, blip.Reference("embed")), alt)
}

// image adds the picture in a part. A part that is not there is a linked picture,
// whose text is kept.
func (p *pack) image(part, alt string) error {
	if part == "" {
		p.doc.Add(knowledge.BlockFigure, alt)
		return nil
	}
	return p.doc.Figure(part, alt, p.open(part))
}

// foreign adds text in another format that is part of the body.
func (w *word) foreign(n *markup.Node) error {
	part := w.pack.part(w.part, n.Reference("id"))
	switch strings.ToLower(path.Ext(part)) {
	case "":
		return nil
	case ".html", ".htm", ".xhtml":
		data, err := w.zip.Bytes(part, maxForeign)
		if err != nil {
			return err
		}
		_, blocks, err := html.Read(data, "")
		w.doc.AddBlocks(blocks)
		return err
	case ".txt":
		data, err := w.zip.Bytes(part, maxForeign)
		w.doc.Add(knowledge.BlockParagraph, strings.ToValidUTF8(string(data), "\ufffd"))
		return err
	}
	return w.doc.Attach(path.Base(part), w.open(part))
}

// maxForeign is the largest text in bytes that is read as part of a body.
const maxForeign = 32 << 20
