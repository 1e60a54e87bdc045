package chunk

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

const (
	// contextShare is which part of ChunkSize the heading path may have, and the
	// header of a table: every chunk below them repeats them.
	contextShare = 4
	// maxName is how much of a document's name each chunk repeats, in code points.
	maxName = 200
	// maxHeading bounds a heading in a path, in code points: what is longer is a
	// paragraph that looks like one.
	maxHeading = 200
	// pathSeparator stands between two headings of a path.
	pathSeparator = " > "
)

// EmbeddingText is what is embedded and full text indexed for a chunk: where it
// stands, and what it says. It has at most half of ChunkSize and 200 code points
// more than the chunk's text.
func EmbeddingText(c knowledge.Chunk, name string) string {
	var b strings.Builder
	for _, context := range []string{first(name, maxName), strings.Join(c.HeadingPath, pathSeparator), c.Header} {
		if context != "" {
			b.WriteString(context)
			b.WriteByte('\n')
		}
	}
	b.WriteString(c.Text)
	return b.String()
}

// headings is the path of headings at a place in a document.
type headings struct {
	levels []int
	names  []string
}

func (h *headings) enter(b knowledge.Block) {
	level := max(b.Level, 1)
	n := len(h.levels)
	for n > 0 && h.levels[n-1] >= level {
		n--
	}
	name := first(strings.Join(strings.Fields(b.Text), " "), maxHeading)
	h.levels, h.names = append(h.levels[:n], level), append(h.names[:n], name)
}

// within gives the path in at most so many code points, separators included. The
// longest headings are cut first.
func (h *headings) within(most int) []string {
	if len(h.names) == 0 {
		return nil
	}
	most -= (len(h.names) - 1) * len(pathSeparator)
	lengths := make([]int, len(h.names))
	for i, name := range h.names {
		lengths[i] = utf8.RuneCountInString(name)
	}
	slices.Sort(lengths)
	longest := maxHeading
	for i, length := range lengths {
		if fair := most / (len(lengths) - i); length > fair {
			longest = fair
			break
		}
		most -= length
	}
	path := make([]string, len(h.names))
	for i, name := range h.names {
		path[i] = strings.TrimSpace(first(name, longest))
	}
	return path
}

// first gives the first n code points of a text.
func first(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}
