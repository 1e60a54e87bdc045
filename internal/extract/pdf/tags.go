package pdf

import (
	"regexp"
	"strconv"

	"github.com/cairn-rag/cairn/internal/extract/layout"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

const (
	maxElements = 50_000 // structure elements of a page
	maxNesting  = 100
	// maxVisits bounds the elements that pdfium visits for all pages. For each page
	// it visits the children of all elements above the elements of the page, which in a
	// tree without sections are the paragraphs of the whole document. It takes
	// 3 µs for one.
	maxVisits = 500_000
)

// tags is what the structure tree of a tagged PDF says of the marked content of one
// page.
type tags struct {
	roles map[int]layout.Role // by the id of marked content
	alts  map[int]string      // alternative texts of figures

	lib      *library
	names    map[uint64]layout.Role // roles that were looked up, by text object
	frame    frame
	next     *int // last number of an element or table of the document
	elements int
	visits   int
}

// nesting is the part of the tree around an element.
type nesting struct {
	role     layout.Role
	sections int
	depth    int
	row      *int        // last row of the table
	column   *int        // column behind the last cell of the row
	open     map[int]int // rows below that a cell covers, by column
	inline   bool        // within a paragraph
}

// readTags reads the structure tree of a page. It returns nil if the page has none,
// and clears tagged if the tree is too large to be read for every page.
func (d *document) readTags(page uint64, f frame) (*tags, error) {
	tree, err := d.lib.call("FPDF_StructTree_GetForPage", page)
	if err != nil || tree == 0 {
		return nil, err
	}
	t := &tags{
		roles: map[int]layout.Role{}, alts: map[int]string{}, lib: d.lib, names: map[uint64]layout.Role{}, frame: f, next: &d.elements,
	}
	count, err := d.lib.number("FPDF_StructTree_CountChildren", tree)
	if err != nil {
		return nil, err
	}
	for i := range max(0, count) {
		element, err := d.lib.call("FPDF_StructTree_GetChildAtIndex", tree, uint64(i))
		if err != nil {
			return nil, err
		}
		if err := t.walk(element, nesting{}); err != nil {
			return nil, err
		}
	}
	if _, err := d.lib.call("FPDF_StructTree_Close", tree); err != nil || len(t.roles) == 0 {
		return nil, err
	}
	if d.tagged = t.visits*d.pages <= maxVisits; !d.tagged {
		return nil, nil
	}
	return t, nil
}

// walk reads an element and those in it.
func (t *tags) walk(element uint64, in nesting) error {
	if t.elements++; element == 0 || in.depth > maxNesting || t.elements > maxElements {
		return nil
	}
	name, err := t.lib.wideText("FPDF_StructElement_GetType", element)
	if err != nil {
		return err
	}
	in.depth++
	t.enter(&in, name)
	if isCell(name) && in.row != nil {
		if err := t.enterCell(&in, element); err != nil {
			return err
		}
	}
	alt := ""
	if name == "Figure" {
		if alt, err = t.lib.wideText("FPDF_StructElement_GetAltText", element); err != nil {
			return err
		}
	}
	count, err := t.lib.number("FPDF_StructElement_CountChildren", element)
	if err != nil {
		return err
	}
	t.visits += max(0, count)
	for i := range max(0, min(count, maxElements)) {
		id, err := t.lib.number("FPDF_StructElement_GetChildMarkedContentID", element, uint64(i))
		if err != nil {
			return err
		}
		if id >= 0 {
			t.roles[id] = in.role
			if alt != "" {
				t.alts[id] = alt
			}
			continue
		}
		child, err := t.lib.call("FPDF_StructElement_GetChildAtIndex", element, uint64(i))
		if err != nil {
			return err
		}
		if err := t.walk(child, in); err != nil {
			return err
		}
	}
	return nil
}

// enter changes the nesting for the inside of an element.
func (t *tags) enter(in *nesting, name string) {
	switch {
	case name == "Sect":
		in.sections++
	case name == "Table":
		in.role = layout.Role{Table: t.number()}
		in.row, in.column, in.open = new(int), new(int), map[int]int{}
		*in.row = -1
	case name == "TR" && in.row != nil:
		*in.row++
		*in.column = 0
		in.role.Row = *in.row
		for column, rows := range in.open {
			in.open[column] = rows - 1
		}
	case isCell(name) && in.row != nil:
		in.role.Header = name == "TH"
	case in.role.Table != 0: // headings and lists in a cell are text of the cell
	case name == "Title":
		in.role = layout.Role{Kind: knowledge.BlockTitle, Element: t.number()}
	case headingTag.MatchString(name):
		in.role = layout.Role{Kind: knowledge.BlockHeading, Level: headingLevel(name, in.sections), Element: t.number()}
	case name == "LI" || name == "TOCI":
		in.role = layout.Role{Kind: knowledge.BlockList, Element: t.number()}
	case name == "Caption":
		in.role = layout.Role{Kind: knowledge.BlockCaption, Element: t.number()}
	case name == "Code" && !in.inline:
		in.role = layout.Role{Kind: knowledge.BlockCode, Element: t.number()}
	case name == "P" && in.role.Element == 0:
		in.role.Paragraph = t.number()
	}
	in.inline = in.inline || name == "P" || name == "Span"
}

func (t *tags) number() int {
	*t.next++
	return *t.next
}

var headingTag = regexp.MustCompile(`^H\d?$`)

// headingLevel returns the level of a heading: the level in its name, or the number of
// sections around it.
func headingLevel(name string, sections int) int {
	level, err := strconv.Atoi(name[1:])
	if err != nil {
		level = sections
	}
	return min(max(level, 1), 6)
}

// part is glyphs with the same role.
type part struct {
	glyphs []glyph
	role   layout.Role
}

// byRole splits the glyphs of a line where another cell of a table begins. All
// others have the role of the first.
func (t textPage) byRole(glyphs []glyph) ([]part, error) {
	if t.tags == nil {
		return []part{{glyphs: glyphs}}, nil
	}
	var parts []part
	start := 0
	for i, g := range glyphs {
		if !g.visible() {
			continue
		}
		role, err := t.role(g)
		if err != nil {
			return nil, err
		}
		switch {
		case len(parts) == 0:
			parts = append(parts, part{role: role})
		case role != parts[len(parts)-1].role:
			parts[len(parts)-1].glyphs = glyphs[start:i]
			parts, start = append(parts, part{role: role}), i
		}
		if role.Table == 0 && len(parts) == 1 {
			break
		}
	}
	if len(parts) > 0 {
		parts[len(parts)-1].glyphs = glyphs[start:]
	}
	return parts, nil
}

// role returns what the structure tree says of a glyph.
func (t textPage) role(g glyph) (layout.Role, error) {
	object, err := t.lib.call("FPDFText_GetTextObject", t.handle, uint64(g.index))
	if err != nil {
		return layout.Role{}, err
	}
	if role, ok := t.tags.names[object]; ok || object == 0 {
		return role, nil
	}
	id, err := t.lib.number("FPDFPageObj_GetMarkedContentID", object)
	if err != nil {
		return layout.Role{}, err
	}
	role := t.tags.roles[id]
	if id < 0 {
		if role, err = t.artifact(object, g.box); err != nil {
			return layout.Role{}, err
		}
	}
	t.tags.names[object] = role
	return role, nil
}

// artifactMargin is the share of a page's height, at its top and bottom, in which
// an artifact is a header or a footer.
const artifactMargin = .15

// artifact returns the role of text that is not in the structure tree: a header or
// a footer if the file marks it as an artifact.
func (t textPage) artifact(object uint64, box knowledge.Box) (role layout.Role, err error) {
	_, pageHeight := t.frame.size()
	switch {
	case box.Y2 < artifactMargin*pageHeight:
		role.Kind = knowledge.BlockHeader
	case box.Y1 > (1-artifactMargin)*pageHeight:
		role.Kind = knowledge.BlockFooter
	default:
		return role, nil
	}
	count, err := t.lib.number("FPDFPageObj_CountMarks", object)
	if err != nil {
		return layout.Role{}, err
	}
	for i := range max(0, count) {
		mark, err := t.lib.call("FPDFPageObj_GetMark", object, uint64(i))
		if err != nil {
			return layout.Role{}, err
		}
		if name, err := t.lib.markName(mark); err != nil || name == "Artifact" {
			return role, err
		}
	}
	return layout.Role{}, nil
}

// markName returns the name of a mark.
func (l *library) markName(mark uint64) (string, error) {
	const sizeBytes, nameBytes = 8, 128
	ok, err := l.call("FPDFPageObjMark_GetName", mark, l.scratch+sizeBytes, nameBytes, l.scratch)
	if err != nil || ok == 0 {
		return "", err
	}
	data := l.bytes(sizeBytes + nameBytes)
	n := min(int(data[0]), nameBytes)
	var name []byte
	for i := 0; i+3 < n; i += 2 { // without the zero at the end
		name = append(name, data[sizeBytes+i])
	}
	return string(name), nil
}
