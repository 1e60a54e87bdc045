package chunk

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

const (
	// contextShare is the divisor of ChunkSize for the length of a heading path
	// and of a table header. Every chunk below them repeats them.
	contextShare = 4
	// maxName is the length in code points to which each chunk repeats a
	// document's name.
	maxName = 200
	// maxHeading bounds a heading in a path, in code points: a longer one is a
	// paragraph that looks like a heading.
	maxHeading = 200
	// pathSeparator joins the headings of a path.
	pathSeparator = " > "
)

// EmbeddingText returns the text that is embedded and full-text indexed for a
// chunk: the document's name, the heading path, the table header, and the
// chunk's text. It exceeds the chunk's text by at most half of ChunkSize and
// 200 code points.
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

// headings is the path of headings at a position in a document.
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

// within returns the path in at most most code points, separators included. It
// shortens the longest headings first.
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

// first returns the first n code points of a text.
func first(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}
