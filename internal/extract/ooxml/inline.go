package ooxml

import (
	"strings"

	"github.com/cairn-rag/cairn/internal/extract/markup"
	"github.com/cairn-rag/cairn/internal/extract/script"
)

// inline collects the text of a paragraph, and what follows the paragraph: notes,
// comments, and what is anchored in it.
type inline struct {
	w      *word
	b      strings.Builder
	after  []func() error
	fields []bool          // the open fields: whether their instruction is being read
	script strings.Builder // text at a position, of one or more runs
	at     script.Position // of it
	form   *markup.Node
}

// inline returns the text of a paragraph, and the actions that add what follows it.
func (w *word) inline(n *markup.Node) (string, []func() error) {
	i := &inline{w: w}
	i.walk(n)
	i.end()
	return i.b.String(), i.after
}

// text returns the text of all paragraphs in a container, one a line, and the
// actions that add what follows them.
func (w *word) text(n *markup.Node) (string, []func() error) {
	var b strings.Builder
	var after []func() error
	if n == nil {
		return "", nil
	}
	for _, c := range n.Nodes {
		var text string
		var more []func() error
		switch c.Name {
		case "p":
			text, more = w.inline(c)
			properties := c.Child("pPr")
			mark, _, _ := w.mark(properties, value(properties.Child("pStyle")), strings.TrimSpace(text) != "")
			text = join(mark, text)
		case "AlternateContent":
			text, more = w.text(chosen(c))
		case "del", "moveFrom", "tcPr", "trPr", "tblPr", "sdtPr":
		default:
			text, more = w.text(c)
		}
		after = append(after, more...)
		if text != "" {
			b.WriteString(text)
			b.WriteByte('\n')
		}
	}
	return b.String(), after
}

func (i *inline) walk(parent *markup.Node) {
	if parent == nil {
		return
	}
	for _, n := range parent.Nodes {
		switch n.Name {
		case "r":
			if !i.isHidden(n.Child("rPr")) {
				i.run(n)
			}
		case "del", "moveFrom", "pPr", "sdtPr", "sdtEndPr", "fldData", "rPr":
		case "oMath", "oMathPara":
			i.end()
			i.b.WriteString(math(n))
		case "AlternateContent":
			i.walk(chosen(n))
		default: // a link, an insertion, a content control, …
			i.walk(n)
		}
	}
}

func (i *inline) isHidden(properties *markup.Node) bool {
	if properties == nil {
		return false
	}
	if vanish := properties.Child("vanish"); vanish != nil {
		return isOn(vanish)
	}
	return i.w.styles.isHidden(value(properties.Child("rStyle")))
}

// run adds the content of a run, which has one format.
func (i *inline) run(r *markup.Node) {
	if at := i.w.styles.position(r.Child("rPr")); at != i.at {
		i.end()
		i.at = at
	}
	for _, n := range r.Nodes {
		switch n.Name {
		case "fldChar":
			i.field(n)
		case "t":
			i.write(n.Content())
		case "tab", "ptab":
			i.write("\t")
		case "br", "cr":
			i.write("\n")
		case "noBreakHyphen":
			i.write("-")
		case "sym":
			i.write(symbol(n.Attr("font"), n.Attr("char")))
		case "footnoteReference", "endnoteReference":
			i.note(n)
		case "commentReference":
			i.comment(n)
		case "drawing", "pict", "object":
			i.after = append(i.after, func() error { return i.w.graphic(n, "") })
		case "AlternateContent":
			i.run(chosen(n))
		case "ruby":
			i.walk(n.Child("rubyBase"))
			i.write("(")
			i.walk(n.Child("rt"))
			i.write(")")
		}
	}
}

// write adds text, unless it is the instruction of a field.
func (i *inline) write(text string) {
	for _, isInstruction := range i.fields {
		if isInstruction {
			return
		}
	}
	if i.at == script.OnLine {
		i.b.WriteString(text)
	} else {
		i.script.WriteString(text)
	}
}

// end ends the raised or lowered text.
func (i *inline) end() {
	i.b.WriteString(script.Write(i.at, i.script.String()))
	i.script.Reset()
	i.at = script.OnLine
}

// field follows the parts of a field: its instruction, then its result. A field that
// does not end in its paragraph ends there all the same, or a damaged one would
// swallow the document.
func (i *inline) field(n *markup.Node) {
	switch n.Attr("fldCharType") {
	case "begin":
		i.fields = append(i.fields, true)
		i.form = n.Child("ffData")
	case "separate":
		if last := len(i.fields) - 1; last >= 0 {
			i.fields[last] = false
		}
	case "end":
		if len(i.fields) > 0 {
			i.fields = i.fields[:len(i.fields)-1]
		}
		i.write(formValue(i.form))
		i.form = nil
	}
}

// formValue returns the value of a check box or a list of an older form. The value of
// a text field is the result of its field.
func formValue(n *markup.Node) string {
	if n == nil {
		return ""
	}
	if box := n.Child("checkBox"); box != nil {
		checked := box.Child("checked")
		if checked == nil {
			checked = box.Child("default")
		}
		if isOn(checked) {
			return "[x]"
		}
		return "[ ]"
	}
	if list := n.Child("ddList"); list != nil {
		entries := list.Children("listEntry")
		if at := number(list.Child("result"), number(list.Child("default"), 0)); at >= 0 && at < len(entries) {
			return value(entries[at])
		}
	}
	return ""
}

// chosen returns the alternative of an element that is read: the first that contains
// text or a picture in a form that this package knows.
func chosen(n *markup.Node) *markup.Node {
	if n == nil {
		return nil
	}
	for _, c := range n.Nodes {
		if (c.Name == "Choice" || c.Name == "Fallback") && isKnown(c) {
			return c
		}
	}
	return n.Child("Fallback")
}

func isKnown(n *markup.Node) bool {
	for _, c := range n.Nodes {
		switch c.Name {
		case "t", "blip", "imagedata", "relIds", "tbl", "textpath":
			return true
		case "chart":
			return c.Reference("id") != ""
		}
		if isKnown(c) {
			return true
		}
	}
	return false
}
