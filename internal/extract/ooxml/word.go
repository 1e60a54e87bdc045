package ooxml

import (
	"slices"
	"strings"

	"github.com/cairn-rag/cairn/internal/extract/markup"
	"github.com/cairn-rag/cairn/internal/extract/office"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// word reads a Word document.
type word struct {
	*pack
	part      string // that is read: the body, or one with notes, a header or a footer
	styles    styles
	numbering numbering
	notes     map[string]note
	noteCount int
	comments  map[string]string
	headers   []string
	footers   []string
}

func readWord(p *pack, part string) error {
	w := &word{pack: p, part: part}
	if err := w.prepare(); err != nil {
		return err
	}
	r, err := p.zip.Open(part)
	if err != nil {
		return err
	}
	defer r.Close()
	err = markup.Each(r, func(n *markup.Node) bool {
		switch n.Name {
		case "document", "body", "sdt", "sdtContent", "customXml", "ins", "moveTo":
			return true
		}
		return false
	}, w.block)
	if err != nil {
		return err
	}
	w.doc.MarkHeadings()
	w.addFurniture()
	return nil
}

// prepare reads the parts that the body refers to.
func (w *word) prepare() (err error) {
	if w.styles, err = w.pack.styles(w.part); err != nil {
		return err
	}
	if w.numbering, err = w.pack.numbering(w.part, w.styles); err != nil {
		return err
	}
	if err = w.readNotes(); err != nil {
		return err
	}
	return w.readComments()
}

// block adds an element of the body, of a cell, or of a text box.
func (w *word) block(n *markup.Node) error {
	switch n.Name {
	case "p":
		return w.paragraph(n)
	case "tbl":
		return w.table(n)
	case "sdt":
		return w.flow(n.Child("sdtContent"))
	case "customXml", "ins", "moveTo", "smartTag":
		return w.flow(n)
	case "AlternateContent":
		return w.flow(chosen(n))
	case "oMathPara":
		w.doc.Add(knowledge.BlockParagraph, math(n))
	case "sectPr":
		return w.section(n)
	case "altChunk":
		return w.foreign(n)
	}
	return nil
}

// flow adds all elements in a container.
func (w *word) flow(n *markup.Node) error {
	if n == nil {
		return nil
	}
	for _, c := range n.Nodes {
		if err := w.block(c); err != nil {
			return err
		}
	}
	return w.doc.Err()
}

// paragraph adds a paragraph, then what is anchored in it.
func (w *word) paragraph(n *markup.Node) error {
	text, after := w.inline(n)
	w.addParagraph(n, text)
	if section := n.Child("pPr", "sectPr"); section != nil {
		after = append(after, func() error { return w.section(section) })
	}
	return run(after)
}

func run(actions []func() error) error {
	for _, action := range actions {
		if err := action(); err != nil {
			return err
		}
	}
	return nil
}

// addParagraph adds the text of a paragraph as a block of the kind that its style
// says.
func (w *word) addParagraph(n *markup.Node, text string) {
	properties := n.Child("pPr")
	id := value(properties.Child("pStyle"))
	if id == "" {
		id = w.styles.standard
	}
	mark, depth, isItem := w.mark(properties, id, strings.TrimSpace(text) != "")
	name := w.styles.byID[id].name
	level := w.styles.headingLevel(id)
	if direct := number(properties.Child("outlineLvl"), -1); direct >= 0 {
		level = (direct + 1) % 10
	}
	switch {
	case strings.HasPrefix(name, "toc ") || name == "table of figures":
		w.doc.Add(knowledge.BlockFurniture, text) // a table of contents repeats the headings
	case name == "title" && !w.hasTitle():
		w.doc.Add(knowledge.BlockTitle, text)
	case name == "title":
		w.doc.Heading(1, text)
	case level > 0 && len(text) <= maxHeading:
		w.doc.Heading(level, join(mark, text))
	case name == "caption":
		w.doc.Add(knowledge.BlockCaption, text)
	case isCode(name):
		w.doc.Add(knowledge.BlockCode, text)
	case isItem:
		w.doc.Item(depth, mark, text)
	default:
		w.doc.Paragraph(join(mark, text), w.look(n, id))
	}
}

// maxHeading is the length in bytes above which text in the style of a heading is a
// paragraph.
const maxHeading = 500

func isCode(name string) bool {
	switch name {
	case "html preformatted", "source code", "code", "code block", "macro text", "preformatted text":
		return true
	}
	return false
}

func join(mark, text string) string {
	if mark == "" || strings.TrimSpace(text) == "" {
		return text
	}
	return mark + " " + text
}

// mark returns the number of a paragraph in its list, its depth there, and whether it
// is in a list. A paragraph without text does not count.
func (w *word) mark(properties *markup.Node, style string, hasText bool) (mark string, depth int, isItem bool) {
	list := properties.Child("numPr")
	numID := value(list.Child("numId"))
	at := number(list.Child("ilvl"), -1)
	if numID == "" {
		var ids []string
		var stated int
		if numID, stated, ids = w.styles.list(style); at < 0 {
			at = w.numbering.levelOf(numID, stated, ids)
		}
	}
	if numID == "" || numID == "0" || !hasText {
		return "", 0, false
	}
	at = max(at, 0)
	return w.numbering.next(numID, at), at, w.numbering.instances[numID] != nil
}

// look returns how the text of a paragraph looks.
func (w *word) look(n *markup.Node, style string) office.Look {
	bold, size := w.styles.look(style)
	all := true
	n.All("r", func(r *markup.Node) {
		if strings.TrimSpace(r.Child("t").Content()) == "" {
			return
		}
		properties := r.Child("rPr")
		if direct := properties.Child("b"); direct != nil {
			all = all && isOn(direct)
		} else {
			all = all && bold
		}
		size = max(size, number(properties.Child("sz"), 0))
	})
	return office.Look{Size: float64(size) / 2, Bold: all}
}

func (w *word) hasTitle() bool {
	return slices.ContainsFunc(w.doc.Result.Layout.Blocks, func(b knowledge.Block) bool { return b.Kind == knowledge.BlockTitle })
}

// section collects the headers and footers of a section.
func (w *word) section(n *markup.Node) error {
	for _, c := range n.Nodes {
		list := &w.headers
		switch c.Name {
		case "headerReference":
		case "footerReference":
			list = &w.footers
		default:
			continue
		}
		text, err := w.furniture(w.pack.part(w.part, c.Reference("id")))
		if err != nil {
			return err
		}
		if !slices.Contains(*list, text) {
			*list = append(*list, text)
		}
	}
	return nil
}

// furniture returns the text of a header or a footer.
func (w *word) furniture(part string) (string, error) {
	if part == "" {
		return "", nil
	}
	root, err := w.tree(part)
	if err != nil {
		return "", err
	}
	inner := *w
	inner.part = part
	text, _ := inner.text(root)                      // pictures in it are not kept
	root.All("txbxContent", func(box *markup.Node) { // twice, where there is an alternative for older programs
		if inside, _ := inner.text(box); !strings.Contains(text, inside) {
			text += "\n" + inside
		}
	})
	if watermark := root.First("textpath"); watermark != nil {
		text += "\n" + watermark.Attr("string")
	}
	return office.Tidy(text), nil
}

// addFurniture adds the headers before the text and the footers behind it.
func (w *word) addFurniture() {
	w.doc.Headers(w.headers)
	for _, text := range w.footers {
		w.doc.Furniture(knowledge.BlockFooter, text)
	}
}
