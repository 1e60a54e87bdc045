package ooxml

import (
	"fmt"
	"strings"

	"github.com/cairn-rag/cairn/internal/extract/markup"
	"github.com/cairn-rag/cairn/internal/extract/office"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// note is a footnote or an endnote, and the part that it is in.
type note struct {
	node *markup.Node
	part string
}

// readNotes reads the footnotes and endnotes.
func (w *word) readNotes() error {
	w.notes = map[string]note{}
	for _, kind := range []string{"footnote", "endnote"} {
		part := w.partOfKind(w.part, kind+"s")
		if part == "" {
			continue
		}
		root, err := w.tree(part)
		if err != nil {
			return err
		}
		for _, n := range root.Children(kind) {
			w.notes[kind+n.Attr("id")] = note{n, part}
		}
	}
	return nil
}

// note adds a mark to the text, and the note behind the paragraph.
func (i *inline) note(n *markup.Node) {
	key := strings.TrimSuffix(n.Name, "Reference") + n.Attr("id")
	found, ok := i.w.notes[key]
	if !ok {
		return
	}
	delete(i.w.notes, key)
	i.w.noteCount++
	mark := fmt.Sprintf("[^%d]", i.w.noteCount)
	i.end()
	i.write(mark)
	i.after = append(i.after, func() error {
		inner := *i.w
		inner.part = found.part
		text, after := inner.text(found.node)
		i.w.doc.Add(knowledge.BlockParagraph, mark+": "+strings.TrimSpace(text))
		return run(after)
	})
}

// readComments reads the comments as text that names their author and date.
func (w *word) readComments() error {
	w.comments = map[string]string{}
	part := w.partOfKind(w.part, "comments")
	if part == "" {
		return nil
	}
	root, err := w.tree(part)
	if err != nil {
		return err
	}
	for _, n := range root.Children("comment") {
		text, _ := w.text(n)
		w.comments[n.Attr("id")] = office.Comment(n.Attr("author"), n.Attr("date"), text)
	}
	return nil
}

// comment adds a comment behind the paragraph.
func (i *inline) comment(n *markup.Node) {
	text := i.w.comments[n.Attr("id")]
	i.after = append(i.after, func() error {
		i.w.doc.Add(knowledge.BlockParagraph, text)
		return nil
	})
}
