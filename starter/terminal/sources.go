package terminal

import (
	"fmt"
	"io"
	"strings"

	"github.com/cairn-rag/cairn/internal/client"
)

// Sources lists the passages that an answer cites: rank, document, page and box
// in PDF points, or the chunk where the format has no pages. An answer that
// cites nothing gets the passages it was given.
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

func documentName(s client.Source) string {
	if s.Removed {
		return "(removed)"
	}
	return s.DocumentName
}

// Place says where in its document a source is.
func Place(s client.Source) string {
	if s.Page == 0 || len(s.Boxes) == 0 {
		return "chunk " + s.ChunkID
	}
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
