package pdf

import (
	"slices"
	"strings"

	"github.com/cairn-rag/cairn/internal/extract/layout"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// Subtypes of annotations, types of form fields and flags of annotations.
const (
	subtypeLink     = 2
	subtypeFreeText = 3
	subtypePopup    = 16
	subtypeWidget   = 20

	fieldCheckBox    = 2
	fieldRadioButton = 3
	fieldComboBox    = 4
	fieldListBox     = 5
	fieldText        = 6

	flagHidden = 1 << 1
)

const (
	maxAnnotations = 5000 // of a page
	maxNote        = 10_000

	// checked is the text of a check box or radio button that is on. The page shows
	// it as a drawing, or as a letter of a font of symbols.
	checked = "☒"
)

// note is text of a page that is not in its content: a comment, or the value of a
// form field.
type note struct {
	text string
	box  knowledge.Box // on the displayed page
}

// annotations are the notes of a page.
type annotations struct {
	comments []note
	fields   []note
}

// readAnnotations reads the comments and the form fields of a page that has count
// annotations. It must come before the page is flattened, which removes them.
func (d *document) readAnnotations(page uint64, count int, f frame) (read annotations, err error) {
	for i := range min(count, maxAnnotations) {
		annotation, err := d.lib.call("FPDFPage_GetAnnot", page, uint64(i))
		if err != nil {
			return read, err
		}
		if annotation == 0 {
			continue
		}
		if err := d.readAnnotation(annotation, f, &read); err != nil {
			return read, err
		}
		if _, err := d.lib.call("FPDFPage_CloseAnnot", annotation); err != nil {
			return read, err
		}
	}
	return read, nil
}

func (d *document) readAnnotation(annotation uint64, f frame, read *annotations) error {
	subtype, err := d.lib.number("FPDFAnnot_GetSubtype", annotation)
	if err != nil || subtype == subtypeLink || subtype == subtypePopup {
		return err
	}
	flags, err := d.lib.number("FPDFAnnot_GetFlags", annotation)
	if err != nil || flags&flagHidden != 0 {
		return err
	}
	text, list := "", &read.comments
	if subtype == subtypeWidget {
		list = &read.fields
		text, err = d.fieldValue(annotation)
	} else {
		text, err = d.lib.wideText("FPDFAnnot_GetStringValue", annotation, d.lib.writeString("Contents"))
	}
	text = strings.Join(strings.Fields(text), " ")
	if err != nil || text == "" || len(text) > maxNote {
		return err
	}
	ok, err := d.lib.call("FPDFAnnot_GetRect", annotation, d.lib.scratch)
	if err != nil || ok == 0 {
		return err
	}
	r := d.lib.floats(4) // left, top, right, bottom
	if box, on := f.clip(f.box(r[0], r[3], r[2], r[1])); on {
		if subtype == subtypeFreeText { // the page shows it
			list = &read.fields
		}
		*list = append(*list, note{text: text, box: box})
	}
	return nil
}

// fieldValue returns the value of a form field that a person fills in with text,
// chooses from a list or checks.
func (d *document) fieldValue(annotation uint64) (string, error) {
	if err := d.startForm(); err != nil || d.form == 0 {
		return "", err
	}
	kind, err := d.lib.number("FPDFAnnot_GetFormFieldType", d.form, annotation)
	if err != nil {
		return "", err
	}
	switch kind {
	case fieldText, fieldComboBox, fieldListBox:
		return d.lib.wideText("FPDFAnnot_GetFormFieldValue", d.form, annotation)
	case fieldCheckBox, fieldRadioButton:
		state, err := d.lib.wideText("FPDFAnnot_GetStringValue", annotation, d.lib.writeString("AS"))
		if err != nil || state == "" || state == "Off" {
			return "", err
		}
		return checked, nil
	default:
		return "", nil
	}
}

// startForm starts pdfium's form environment, which reads the values of fields. It
// calls nothing back, because no page is told to it.
func (d *document) startForm() error {
	if d.form != 0 || d.formless {
		return nil
	}
	info, err := d.lib.call("FPDF_FORMFILLINFO_Create")
	if err != nil || info == 0 {
		d.formless = true
		return err
	}
	d.form, err = d.lib.call("FPDFDOC_InitFormFillEnvironment", d.handle, info)
	d.formless = d.form == 0
	return err
}

// withFields returns the lines of a page with the values of its form fields. pdfium
// returns the values that the page shows behind all other lines: each belongs behind
// its label, which is to the left of it. A value without an appearance is added.
func withFields(lines []layout.Line, fields []note, page int) []layout.Line {
	for _, f := range fields {
		var own, others []layout.Line
		for _, l := range lines {
			if layout.Overlap(l.Box.X1, l.Box.X2, f.box.X1, f.box.X2) > .3 && layout.Overlap(l.Box.Y1, l.Box.Y2, f.box.Y1, f.box.Y2) > .3 {
				own = append(own, l)
			} else {
				others = append(others, l)
			}
		}
		switch {
		case f.text == checked && len(own) == 1 && len([]rune(own[0].Text)) == 1:
			own[0].Text = checked
		case !strings.Contains(squeezed(own), squeezed([]layout.Line{{Text: f.text}})):
			own = append(own, layout.Line{Text: f.text, Page: page, Box: f.box, Size: min(12, f.box.Y2-f.box.Y1)})
		}
		lines = slices.Insert(others, label(others, f.box)+1, own...)
	}
	return lines
}

// label returns the index of the line to the left of a field that is nearest to it,
// or of the last line if there is none.
func label(lines []layout.Line, field knowledge.Box) int {
	nearest := -1
	for i, l := range lines {
		left := l.Box.X2 <= field.X1+2 && layout.Overlap(l.Box.Y1, l.Box.Y2, field.Y1, field.Y2) > .5
		if left && (nearest < 0 || l.Box.X2 > lines[nearest].Box.X2) {
			nearest = i
		}
	}
	if nearest < 0 {
		return len(lines) - 1
	}
	return nearest
}

// squeezed returns the text of lines in lower case, without white space and hyphens.
func squeezed(lines []layout.Line) string {
	var b strings.Builder
	for _, l := range lines {
		b.WriteString(l.Text)
	}
	return strings.ToLower(strings.NewReplacer(" ", "", "-", "").Replace(b.String()))
}

// commentBlocks returns a paragraph for each comment.
func commentBlocks(comments []note, page int) []knowledge.Block {
	var blocks []knowledge.Block
	for _, c := range comments {
		blocks = append(blocks, knowledge.Block{
			Kind: knowledge.BlockParagraph, Text: c.text,
			Lines: []knowledge.Line{{Start: 0, End: len([]rune(c.text)), Page: page, Box: c.box}},
		})
	}
	return blocks
}
