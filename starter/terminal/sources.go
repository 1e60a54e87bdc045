package terminal

import (
	"fmt"
	"io"
	"strings"

	"github.com/cairn-rag/cairn/internal/client"
)

// Sources writes the passages that an answer cites, a line each: the rank, the
// document, and the place in it. The place is the pages and boxes in PDF points;
// in a format without pages it is the headings and the lines, and in one without
// lines the first words. Of a page of the web it is the address. Where the answer cites nothing, Sources writes the
// passages that the model was given.
func Sources(out io.Writer, sources []client.Source) error {
	cited := make([]client.Source, 0, len(sources))
	for _, s := range sources {
		if s.UsedInResponse {
			cited = append(cited, s)
		}
	}
	title := "Sources"
	if len(cited) == 0 {
		cited, title = sources, "Nothing is cited. Passages that were found"
	}
	if len(cited) == 0 {
		_, err := fmt.Fprintln(out, "No passages were found.")
		return err
	}
	rows := make([][]string, 0, len(cited))
	for _, s := range cited {
		rows = append(rows, []string{fmt.Sprintf("[%d]", s.Rank), documentName(s), Place(s)})
	}
	if _, err := fmt.Fprintln(out, title); err != nil {
		return err
	}
	return columns(out, "  ", rows)
}

// documentName returns the document's name and, in a format without pages, the
// headings above the passage.
func documentName(s client.Source) string {
	switch {
	case s.Removed:
		return "(removed)"
	case onPages(s):
		return s.DocumentName
	}
	return strings.Join(append([]string{s.DocumentName}, s.Heading...), headingSeparator)
}

const headingSeparator = " › "

// onWeb reports whether a source is a page of the web.
func onWeb(s client.Source) bool { return s.ChunkID == "" && s.URL != "" }

func onPages(s client.Source) bool { return s.Page > 0 && len(s.Boxes) > 0 }

// Place returns where in its document a source is, below its headings. It is ""
// for one that was removed.
func Place(s client.Source) string {
	switch {
	case s.Removed:
		return ""
	case onWeb(s):
		return line(s.URL)
	case onPages(s):
		return pages(s)
	case s.Lines[0] == 0:
		return firstWords(s.Text)
	case s.Lines[0] == s.Lines[1]:
		return fmt.Sprintf("line %d", s.Lines[0])
	}
	return fmt.Sprintf("lines %d-%d", s.Lines[0], s.Lines[1])
}

func pages(s client.Source) string {
	places := make([]string, 0, len(s.Boxes))
	for _, b := range s.Boxes {
		page := b.Page
		if page == 0 {
			page = s.Page
		}
		places = append(places, fmt.Sprintf("page %d, box %.0f,%.0f %.0f,%.0f", page, b.Box.X1, b.Box.Y1, b.Box.X2, b.Box.Y2))
	}
	return strings.Join(places, "; ")
}

// firstWords returns the beginning of a passage, by which a reader finds it.
func firstWords(text string) string {
	return fmt.Sprintf("“%s”", Shorten(line(text), 40))
}
