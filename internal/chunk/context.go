package chunk

import (
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

const (
	// contextShare is the divisor of ChunkSize for the length of a heading path. Every
	// chunk below it repeats it.
	contextShare = 4
	// captionShare is the divisor of ChunkSize for the length of the caption of a
	// table. The header of a table may be as long as a chunk, because cells without
	// the name of their column mean nothing.
	captionShare = 8
	// maxName is the length in code points to which each chunk repeats a
	// document's name, and its title.
	maxName = 200
	// maxHeading bounds a heading in a path, in code points: a longer one is a
	// paragraph that looks like a heading.
	maxHeading = 200
	// pathSeparator joins the headings of a path.
	pathSeparator = " > "
)

// EmbeddingText returns the text that is embedded and full-text indexed for a
// chunk: what names the document, the heading path, the table header, the sentence
// of a model that places it, and the chunk's text. The first three exceed the
// chunk's text by at most one and a quarter of ChunkSize and 400 code points. It returns the text of a
// step of the project instead, if one gave it.
func EmbeddingText(c knowledge.Chunk) string {
	if c.Embedded != "" {
		return c.Embedded
	}
	var b strings.Builder
	for _, context := range contextsOf(c) {
		if context != "" {
			b.WriteString(context)
			b.WriteByte('\n')
		}
	}
	b.WriteString(c.Text)
	return b.String()
}

func contextsOf(c knowledge.Chunk) [4]string {
	return [4]string{c.Title, strings.Join(c.HeadingPath, pathSeparator), c.Header, c.Context}
}

// names are a document's name and title.
type names struct{ name, both, title string }

// newNames returns the names within the limit. A title that is the name, with or
// without the extension of a file, is left out.
func newNames(name, title string, l limit) names {
	n := names{name: l.first(first(name, maxName), nameShare)}
	title = l.first(first(strings.Join(strings.Fields(title), " "), maxName), nameShare)
	if n.both = n.name; title != "" && !strings.EqualFold(title, name) && !strings.EqualFold(title, strings.TrimSuffix(name, path.Ext(name))) {
		n.title, n.both = title, strings.TrimPrefix(n.name+"\n"+title, "\n")
	}
	return n
}

// of returns the names for a chunk. Below a heading that is the document's title,
// the name is enough.
func (n names) of(headings []string) string {
	if len(headings) > 0 && strings.EqualFold(headings[0], n.title) {
		return n.name
	}
	return n.both
}

// contexts bounds the heading paths and table headers of a document. Those of the
// block before are kept, because most blocks have the same.
type contexts struct {
	size     int // ChunkSize
	limit    limit
	headings headings
	path     []string
	given    string // the header last bounded
	bounded  string
}

func newContexts(size int, l limit) *contexts { return &contexts{size: size, limit: l} }

// enter sets the path to the path of a heading.
func (c *contexts) enter(b knowledge.Block) {
	c.headings.enter(b)
	for most := c.size / contextShare; ; most /= 2 {
		if c.path = c.headings.within(most); c.limit.holds(strings.Join(c.path, pathSeparator), pathShare) {
			return
		}
	}
}

// header returns the first cells of a table's header that are within the bounds.
func (c *contexts) header(given string) string {
	if given == c.given {
		return c.bounded
	}
	c.given = given
	for most := c.size; ; most /= 2 {
		if c.bounded = knowledge.HeaderWithin(given, most); c.limit.holds(c.bounded, headerShare) {
			return c.bounded
		}
	}
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
// shortens the longest headings first. It returns no path if the separators leave no
// room.
func (h *headings) within(most int) []string {
	most -= (len(h.names) - 1) * len(pathSeparator)
	if most < len(h.names) {
		return nil
	}
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
