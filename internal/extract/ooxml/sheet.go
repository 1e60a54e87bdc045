package ooxml

import (
	"path"
	"strings"

	"github.com/cairn-rag/cairn/internal/extract/container"
	"github.com/cairn-rag/cairn/internal/extract/markup"
	"github.com/cairn-rag/cairn/internal/extract/office"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// Workbook is an open Excel workbook. It reads all but the cells of its sheets.
type Workbook struct {
	pack   *pack
	part   string
	Sheets []WorkbookSheet
}

// Texts returns the part with the texts that cells name by number, "" if there is none.
func (w *Workbook) Texts() string { return w.pack.partOfKind(w.part, "sharedStrings") }

// WorkbookSheet is a sheet of a workbook.
type WorkbookSheet struct {
	Name     string
	Part     string // its file in the workbook, "" = the workbook lacks it
	IsHidden bool
	IsChart  bool // it has no cells
}

// OpenWorkbook reads the list of the sheets. ok is false if the document is no
// workbook that has its cells in XML. A workbook that lacks all its sheets is damaged.
func OpenWorkbook(zip *container.Container, doc *office.Document) (w *Workbook, ok bool, err error) {
	p := newPack(zip, doc)
	part, kind, err := p.mainPart()
	if err != nil || kind != "xl" {
		return nil, false, err
	}
	root, err := p.tree(part)
	if err != nil {
		return nil, false, err
	}
	w = &Workbook{pack: p, part: part}
	missing := 0
	for _, n := range root.Child("sheets").Children("sheet") {
		target := p.part(part, n.Reference("id"))
		if target == "" {
			missing++
		}
		w.Sheets = append(w.Sheets, WorkbookSheet{
			Name: n.Attr("name"), Part: target, IsHidden: n.Attr("state") != "" && n.Attr("state") != "visible",
			IsChart: path.Base(path.Dir(target)) == "chartsheets",
		})
	}
	if missing > 0 && missing == len(w.Sheets) {
		return nil, false, container.Damaged(container.ErrNotFound)
	}
	return w, true, nil
}

// Properties reads what the workbook says of itself, and returns its stated title.
func (w *Workbook) Properties() (title string, err error) { return w.pack.properties() }

// Comment is a comment on a cell.
type Comment struct{ Cell, Author, Text string }

// Comments returns the comments on the cells of a sheet.
func (w *Workbook) Comments(sheet string) ([]Comment, error) {
	var found []Comment
	for _, part := range w.pack.partsOfKind(sheet, "threadedComment") {
		root, err := w.pack.tree(part)
		if err != nil {
			return nil, err
		}
		for _, n := range root.Children("threadedComment") {
			found = append(found, Comment{Cell: n.Attr("ref"), Text: n.Child("text").Content()})
		}
	}
	for _, part := range w.pack.partsOfKind(sheet, "comments") {
		root, err := w.pack.tree(part)
		if err != nil {
			return nil, err
		}
		authors := root.Child("authors").Children("author")
		for _, n := range root.Child("commentList").Children("comment") {
			c := Comment{Cell: n.Attr("ref"), Text: n.Child("text").Content()}
			if at := office.Int(n.Attr("authorId"), -1); at >= 0 && at < len(authors) {
				c.Author = authors[at].Content()
			}
			if !strings.HasPrefix(c.Text, "[Threaded comment]") { // for programs that do not know such comments
				found = append(found, c)
			}
		}
	}
	return found, nil
}

// AddDrawings adds what is drawn on a sheet: text boxes, charts and pictures; and the
// documents that are embedded in it.
func (w *Workbook) AddDrawings(sheet string) error {
	for _, part := range w.pack.partsOfKind(sheet, "drawing") {
		root, err := w.pack.tree(part)
		if err != nil {
			return err
		}
		s := &slide{presentation: newPresentation(w.pack, ""), part: part}
		if err := s.anchors(root); err != nil {
			return err
		}
	}
	for _, kind := range []string{"oleObject", "package"} {
		for _, part := range w.pack.partsOfKind(sheet, kind) {
			if err := w.pack.embedded(part); err != nil {
				return err
			}
		}
	}
	return w.pack.doc.Err()
}

// anchors adds the shapes that are anchored in the cells of a sheet.
func (s *slide) anchors(root *markup.Node) error {
	for _, n := range root.Nodes {
		if n.Name == "AlternateContent" {
			n = chosenOrEmpty(n)
		}
		if err := s.shapes(n); err != nil {
			return err
		}
	}
	return nil
}

// AddHeaderFooter adds the header and the footer that a sheet prints, which are
// written with codes: "&L" begins the left part, "&P" is the number of the page.
func AddHeaderFooter(doc *office.Document, n *markup.Node) {
	if n == nil {
		return
	}
	for _, c := range n.Nodes {
		kind := knowledge.BlockHeader
		if strings.HasSuffix(c.Name, "Footer") {
			kind = knowledge.BlockFooter
		}
		doc.Furniture(kind, withoutCodes(c.Content()))
	}
}

func withoutCodes(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '&' || i+1 == len(s) {
			b.WriteByte(s[i])
			continue
		}
		i++
		switch c := s[i]; {
		case c == '&':
			b.WriteByte('&')
		case c == 'L' || c == 'C' || c == 'R':
			b.WriteByte('\n')
		case c == '"': // a font
			if end := strings.IndexByte(s[i+1:], '"'); end >= 0 {
				i += end + 1
			}
		case c >= '0' && c <= '9': // a size
			for i+1 < len(s) && s[i+1] >= '0' && s[i+1] <= '9' {
				i++
			}
		}
	}
	return b.String()
}
