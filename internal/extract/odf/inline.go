package odf

import (
	"fmt"
	"strings"

	"github.com/cairn-rag/cairn/internal/extract/markup"
	"github.com/cairn-rag/cairn/internal/extract/office"
	"github.com/cairn-rag/cairn/internal/extract/script"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// inline returns the text of a paragraph, and the actions that add what follows it:
// notes, comments, and what is anchored in it.
func (r *reader) inline(n *markup.Node) (string, []func() error) {
	i := inline{r: r}
	i.walk(n)
	return i.b.String(), i.after
}

type inline struct {
	r     *reader
	b     strings.Builder
	after []func() error

	at     script.Position // of the text that is being read
	look   office.Look     // of the text that is being read
	isBold bool            // all of the text so far
	size   float64         // of the largest text so far
}

func (i *inline) walk(parent *markup.Node) {
	for _, n := range parent.Nodes {
		switch n.Name {
		case "":
			i.write(n.Text)
		case "span":
			outer, line := i.look, i.at
			i.look = i.r.styles.look("text", n.Attr("style-name"), outer)
			i.at = i.r.styles.position(n.Attr("style-name"), line)
			i.walk(n)
			i.look, i.at = outer, line
		case "s":
			i.b.WriteByte(' ')
		case "tab":
			i.b.WriteByte('\t')
		case "line-break":
			i.b.WriteByte('\n')
		case "note":
			i.note(n)
		case "annotation":
			i.after = append(i.after, func() error {
				i.r.doc.Add(knowledge.BlockParagraph, i.r.comment(n))
				return nil
			})
		case "ruby":
			i.walk(n.Child("ruby-base"))
			i.b.WriteString("(" + n.Child("ruby-text").Content() + ")")
		case "control":
			i.b.WriteString(i.r.controls[n.Attr("control")])
		case "bookmark", "annotation-end", "soft-page-break", "change", "change-start", "change-end", "tracked-changes", "event-listeners":
		case "frame", "custom-shape", "g", "rect", "ellipse", "circle", "line", "polygon", "polyline", "path", "connector", "caption", "text-box":
			i.after = append(i.after, func() error { return i.r.graphic(n, "") })
		default: // a link, a field, …
			i.walk(n)
		}
	}
}

// write adds text as it stands in the file, where a line end is a space.
func (i *inline) write(text string) {
	if strings.TrimSpace(text) != "" {
		i.isBold, i.size = i.isBold && i.look.Bold, max(i.size, i.look.Size)
	}
	i.b.WriteString(script.Write(i.at, strings.ReplaceAll(text, "\n", " ")))
}

// note adds a mark to the text, and the note behind the paragraph.
func (i *inline) note(n *markup.Node) {
	i.r.notes++
	mark := fmt.Sprintf("[^%d]", i.r.notes)
	i.b.WriteString(mark)
	i.after = append(i.after, func() error {
		i.r.doc.Add(knowledge.BlockParagraph, mark+": "+strings.TrimSpace(i.r.plain(n.Child("note-body"))))
		return nil
	})
}

// comment returns the text of a comment.
func (r *reader) comment(n *markup.Node) string {
	return office.Comment(n.Child("creator").Content(), n.Child("date").Content(), r.plain(n))
}

// plain returns the text of all paragraphs in a container, one a line, without what
// is anchored in them.
func (r *reader) plain(n *markup.Node) string {
	var lines []string
	r.lines(n, &lines)
	return strings.Join(lines, "\n")
}

func (r *reader) lines(n *markup.Node, lines *[]string) {
	if n == nil {
		return
	}
	for _, c := range n.Nodes {
		switch c.Name {
		case "p", "h":
			text, _ := r.inline(c)
			*lines = append(*lines, text)
		case "annotation", "tracked-changes":
		default:
			r.lines(c, lines)
		}
	}
}

// readControls keeps the texts of form controls, which stand where a drawing shows
// them.
func (r *reader) readControls(n *markup.Node) {
	for _, c := range n.Nodes {
		text := c.Attr("current-value")
		if text == "" {
			text = c.Attr("label")
		}
		if text == "" {
			text = c.Attr("value")
		}
		if id := c.Attr("id"); id != "" && text != "" {
			r.controls[id] = text
		}
		r.readControls(c)
	}
}
