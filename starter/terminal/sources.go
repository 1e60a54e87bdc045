package terminal

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/cairn-rag/cairn/internal/client"
)

// Sources lists the passages that an answer cites. A passage has two lines: its rank and
// the document with the headings above it; then the place, the document's external id and
// the passage's id. If the answer cites nothing, Sources lists the passages that the
// model was given. With boxes, the place has those on the pages, in PDF points.
func Sources(out io.Writer, sources []client.Source, boxes bool) error {
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
	lines := []string{title}
	for _, s := range cited {
		lines = append(lines, entry(out, fmt.Sprintf("  [%d]  ", s.Rank), documentName(s), identity(s, boxes))...)
	}
	_, err := fmt.Fprintln(out, strings.Join(lines, "\n"))
	return err
}

// entry returns the lines of a source: texts behind a mark, each on lines of its own.
func entry(out io.Writer, mark string, texts ...string) []string {
	var lines []string
	width := wrapWidth(out, len(mark))
	for _, text := range texts {
		if text == "" {
			continue
		}
		for _, part := range Wrap(Clean(text), width) {
			lines = append(lines, mark+part)
			mark = strings.Repeat(" ", len(mark))
		}
	}
	return lines
}

// documentName returns the document's name and the headings above the passage.
func documentName(s client.Source) string {
	if s.Removed {
		return "(removed)"
	}
	return strings.Join(append([]string{s.DocumentName}, s.Heading...), headingSeparator)
}

const headingSeparator = " › "

// identity returns the place of a source, and the ids of its document and its passage.
func identity(s client.Source, boxes bool) string {
	place := Place(s)
	if boxes && onPages(s) {
		place = boxesOf(s)
	}
	parts := []string{}
	if place != "" {
		parts = append(parts, place)
	}
	if s.ExternalID != "" {
		parts = append(parts, "external id "+s.ExternalID)
	}
	if s.ChunkID != "" && !s.Removed {
		parts = append(parts, "chunk "+s.ChunkID)
	}
	return strings.Join(parts, "; ")
}

// onWeb reports whether a source is a page of the web.
func onWeb(s client.Source) bool { return s.ChunkID == "" && s.URL != "" }

func onPages(s client.Source) bool { return s.Page > 0 && len(s.Boxes) > 0 }

// Place returns where in its document a source is, below its headings: its pages, its
// cells, when it is said, or its lines. In a format that has none of these it is the first
// words, and of a page of the web it is the address. It is "" for a source that was removed.
func Place(s client.Source) string {
	switch {
	case s.Removed:
		return ""
	case onWeb(s):
		return line(s.URL)
	case s.StartTime != nil && s.EndTime != nil:
		return clock(*s.StartTime) + "-" + clock(*s.EndTime)
	case s.Place != "":
		return s.Place
	}
	var places []string
	if s.Page > 0 {
		places = append(places, span("page", s.Page, lastPage(s)))
	}
	if s.Lines[0] > 0 {
		places = append(places, span("line", s.Lines[0], s.Lines[1]))
	}
	if len(places) == 0 {
		return firstWords(s.Text)
	}
	return strings.Join(places, ", ")
}

// span names one thing by its number, or several by the first and the last.
func span(thing string, first, last int) string {
	if last <= first {
		return fmt.Sprintf("%s %d", thing, first)
	}
	return fmt.Sprintf("%ss %d-%d", thing, first, last)
}

func lastPage(s client.Source) int {
	last := s.Page
	for _, b := range s.Boxes {
		last = max(last, b.Page)
	}
	return last
}

// clock writes a time in a recording.
func clock(seconds float64) string {
	whole := time.Duration(seconds) * time.Second
	hours, minutes := int(whole.Hours()), int(whole.Minutes())%60
	if hours > 0 {
		return fmt.Sprintf("%d:%02d:%02d", hours, minutes, int(whole.Seconds())%60)
	}
	return fmt.Sprintf("%d:%02d", minutes, int(whole.Seconds())%60)
}

func boxesOf(s client.Source) string {
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
