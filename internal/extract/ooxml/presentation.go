package ooxml

import (
	"slices"
	"strings"

	"github.com/cairn-rag/cairn/internal/extract/markup"
	"github.com/cairn-rag/cairn/internal/extract/office"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// presentation reads a presentation slide by slide.
type presentation struct {
	*pack
	part    string
	authors map[string]string          // of comments, by id
	footers []string                   // texts of masters, layouts and footers
	plain   map[string]map[string]bool // by layout, the placeholders without bullets
	places  map[string]map[string]box  // by layout, the places of its placeholders
}

func newPresentation(p *pack, part string) *presentation {
	return &presentation{pack: p, part: part, plain: map[string]map[string]bool{}, places: map[string]map[string]box{}}
}

func readPresentation(p *pack, part string) error {
	root, err := p.tree(part)
	if err != nil {
		return err
	}
	s := newPresentation(p, part)
	if err := s.readAuthors(); err != nil {
		return err
	}
	for i, n := range root.Child("sldIdLst").Children("sldId") {
		slide := p.part(part, n.Reference("id"))
		if slide == "" {
			continue // a slide that the file does not have
		}
		if err := s.slide(slide, i+1); err != nil {
			return err
		}
	}
	for _, text := range s.footers {
		p.doc.Furniture(knowledge.BlockFooter, text)
	}
	return nil
}

// slide adds a slide: its title as a heading with its number, its shapes in order,
// its notes and its comments.
func (p *presentation) slide(part string, n int) error {
	root, err := p.tree(part)
	if root == nil || err != nil {
		return err
	}
	s := slide{presentation: p, part: part, layout: p.partOfKind(part, "slideLayout")}
	tree := root.Child("cSld", "spTree")
	title := s.title(tree)
	p.doc.Slide(n, textOf(title.Child("txBody")), root.Attr("show") == "0")
	s.titleShape = title
	if err := s.shapes(tree); err != nil {
		return err
	}
	if err := p.masterText(s.layout); err != nil {
		return err
	}
	for _, notes := range p.partsOfKind(part, "notesSlide") {
		if err := p.addNotes(notes); err != nil {
			return err
		}
	}
	if err := p.addComments(part); err != nil {
		return err
	}
	return p.doc.Err()
}

// slide is a slide that is being read.
type slide struct {
	*presentation
	part       string
	layout     string
	titleShape *markup.Node // its text is in the heading already
}

// title returns the shape with the title of a slide, nil if it has none.
func (s *slide) title(tree *markup.Node) *markup.Node {
	var found *markup.Node
	tree.All("sp", func(n *markup.Node) {
		if kind, _ := placeholder(n); found == nil && (kind == "title" || kind == "ctrTitle") && strings.TrimSpace(textOf(n.Child("txBody"))) != "" {
			found = n
		}
	})
	return found
}

// placeholder returns the type and the index of the placeholder that a shape fills.
// ok is false in kind "": a shape without one.
func placeholder(n *markup.Node) (kind, index string) {
	for _, c := range n.Nodes { // nvSpPr, nvPicPr, nvGraphicFramePr
		if ph := c.Child("nvPr", "ph"); ph != nil {
			if kind = ph.Attr("type"); kind == "" {
				kind = "obj"
			}
			return kind, ph.Attr("idx")
		}
	}
	return "", ""
}

// shapes adds all shapes of a slide or a group, in the order in which they are read.
func (s *slide) shapes(parent *markup.Node) error {
	if parent == nil {
		return nil
	}
	for _, n := range s.inOrder(parent) {
		var err error
		switch n.Name {
		case "sp":
			err = s.shape(n)
		case "grpSp":
			err = s.shapes(n)
		case "graphicFrame":
			err = s.frame(n)
		case "pic":
			err = s.picture(s.part, n, altText(n.Child("nvPicPr", "cNvPr")))
		case "AlternateContent":
			err = s.shapes(chosen(n))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// shape adds the text of a shape.
func (s *slide) shape(n *markup.Node) error {
	body := n.Child("txBody")
	kind, index := placeholder(n)
	switch kind {
	case "title", "ctrTitle":
		if n == s.titleShape {
			return nil
		}
	case "dt", "ftr", "hdr":
		s.addFooter(textOf(body))
		return nil
	case "sldNum":
		return nil
	}
	if fill := n.Child("spPr", "blipFill"); fill != nil {
		if err := s.picture(s.part, fill, altText(n.Child("nvSpPr", "cNvPr"))); err != nil {
			return err
		}
	}
	isBody := kind == "body" || kind == "obj"
	addText(s.doc, body, isBody && !s.isPlain(kind, index))
	return nil
}

func (p *presentation) addFooter(text string) {
	if text = office.Tidy(text); text != "" && !slices.Contains(p.footers, text) {
		p.footers = append(p.footers, text)
	}
}

// isPlain reports whether the layout of the slide shows a placeholder without
// bullets.
func (s *slide) isPlain(kind, index string) bool {
	known, ok := s.plain[s.layout]
	if !ok {
		known = map[string]bool{}
		if root, err := s.tree(s.layout); err == nil {
			root.Child("cSld", "spTree").All("sp", func(n *markup.Node) {
				if n.Child("txBody", "lstStyle", "lvl1pPr", "buNone") != nil {
					k, i := placeholder(n)
					known[k+" "+i] = true
				}
			})
		}
		s.plain[s.layout] = known
	}
	return known[kind+" "+index] || known["body "+index]
}

// frame adds what a frame shows: a table, a chart, a diagram or an embedded document.
func (s *slide) frame(n *markup.Node) error {
	alt := altText(n.Child("nvGraphicFramePr", "cNvPr"))
	data := n.Child("graphic", "graphicData")
	if data == nil {
		return nil
	}
	for _, c := range data.Nodes {
		var err error
		switch c.Name {
		case "tbl":
			slideTable(s.doc, c)
		case "chart":
			err = s.chart(s.pack.part(s.part, c.Reference("id")), alt)
		case "relIds":
			err = s.diagram(s.pack.part(s.part, c.Reference("dm")))
		case "oleObj":
			err = s.object(c, alt)
		case "AlternateContent":
			if object := c.First("oleObj"); object != nil {
				err = s.object(object, alt)
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// object adds an embedded document, and the picture that stands for it.
func (s *slide) object(n *markup.Node, alt string) error {
	if err := s.embedded(s.pack.part(s.part, n.Reference("id"))); err != nil {
		return err
	}
	if alt == "" && n.First("blip") == nil {
		return nil
	}
	return s.picture(s.part, n, alt)
}

// masterText adds the text on the layout and the master of a slide that is not a
// placeholder: a company's name, a classification.
func (p *presentation) masterText(layout string) error {
	for _, part := range []string{layout, p.partOfKind(layout, "slideMaster")} {
		if part == "" || p.attached[part] {
			continue
		}
		p.attached[part] = true
		root, err := p.tree(part)
		if err != nil {
			return err
		}
		root.Child("cSld", "spTree").All("sp", func(n *markup.Node) {
			if kind, _ := placeholder(n); kind == "" || kind == "ftr" {
				p.addFooter(textOf(n.Child("txBody")))
			}
		})
	}
	return nil
}

// addNotes adds the speaker notes of a slide.
func (p *presentation) addNotes(part string) error {
	root, err := p.tree(part)
	if err != nil {
		return err
	}
	var texts []string
	root.Child("cSld", "spTree").All("sp", func(n *markup.Node) {
		switch kind, _ := placeholder(n); kind {
		case "sldImg", "sldNum", "dt", "ftr", "hdr":
		default:
			if text := office.Tidy(textOf(n.Child("txBody"))); text != "" {
				texts = append(texts, text)
			}
		}
	})
	p.doc.Notes(strings.Join(texts, "\n"))
	return nil
}

// readAuthors reads the names of those who comment.
func (p *presentation) readAuthors() error {
	p.authors = map[string]string{}
	for _, kind := range []string{"commentAuthors", "authors"} {
		for _, part := range p.partsOfKind(p.part, kind) {
			root, err := p.tree(part)
			if err != nil {
				return err
			}
			for _, n := range root.Nodes {
				p.authors[n.Attr("id")] = n.Attr("name")
			}
		}
	}
	return nil
}

// addComments adds the comments on a slide, with the answers to them.
func (p *presentation) addComments(part string) error {
	for _, comments := range p.partsOfKind(part, "comments") {
		root, err := p.tree(comments)
		if err != nil {
			return err
		}
		for _, n := range root.Children("cm") {
			p.comment(n)
			n.All("reply", p.comment)
		}
	}
	return nil
}

func (p *presentation) comment(n *markup.Node) {
	text := n.Child("text").Content()
	if body := n.Child("txBody"); body != nil {
		text = textOf(body)
	}
	date := n.Attr("dt") + n.Attr("created") // the older and the newer form
	p.doc.Add(knowledge.BlockParagraph, office.Comment(p.authors[n.Attr("authorId")], date, text))
}
