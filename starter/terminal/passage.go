package terminal

import (
	"io"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/cairn-rag/cairn/internal/client"
)

// The marks of a quotation where nothing can be shown in another way.
const (
	quoteBegin = ">>>"
	quoteEnd   = "<<<"
)

// The places of a style in a text that is still to be wrapped. Clean has taken such
// characters out of the text itself, and they have no width.
const (
	styleBegin = "\x01"
	styleEnd   = "\x02"
)

var selected = ansi.NewStyle().Bold().Reverse(true)

// ChunkPlace returns the document of a passage with the headings above it, and below it
// the place, the document's id and the passage's id.
func ChunkPlace(c client.Chunk) string {
	s := client.Source{
		ChunkID: c.ID, DocumentName: c.Metadata.Filename, Heading: c.Heading,
		Page: c.Page, Boxes: c.Boxes, Place: c.Place, StartTime: c.StartTime, EndTime: c.EndTime,
	}
	parts := []string{"document " + c.DocumentID, "chunk " + c.ID}
	if c.Page > 0 || c.Place != "" || c.StartTime != nil {
		parts = append([]string{Place(s)}, parts...)
	}
	return line(documentName(s)) + "\n" + line(strings.Join(parts, "; "))
}

// Passage writes a text with the code points from start to end marked. If end is 0 it
// marks nothing.
func Passage(out io.Writer, text string, start, end int) error {
	runes := []rune(text)
	end = min(end, len(runes))
	start = min(start, end)
	before, quotation, after := Clean(string(runes[:start])), Clean(string(runes[start:end])), Clean(string(runes[end:]))
	screen, _ := out.(Screen)
	switch {
	case quotation == "":
	case screen.Colours:
		quotation = styleBegin + quotation + styleEnd
	default:
		quotation = quoteBegin + quotation + quoteEnd
	}
	before, rest, _ := strings.Cut(Wrapped(out, before+quotation+after), styleBegin)
	quotation, after, _ = strings.Cut(rest, styleEnd)
	lines := strings.Split(quotation, "\n")
	for i := range lines {
		lines[i] = coloured(out, selected, lines[i]) // so that the space behind a line is not
	}
	quotation = strings.Join(lines, "\n")
	_, err := io.WriteString(out, before+quotation+after+"\n")
	return err
}
