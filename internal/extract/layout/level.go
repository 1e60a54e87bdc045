package layout

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// levels assigns levels to headings: as bookmarks and tags state them, else by the size of
// the font and by numbers.
type levels struct {
	look  typography
	level int     // of the last heading that a bookmark names, 0 = none yet
	size  float64 // of its font
	found []found
}

// found is a heading of the document.
type found struct {
	index  int     // of its block
	size   float64 // of its font
	marked bool    // a bookmark names it
	depth  int     // of its number, 0 = none
}

// set corrects the level of a heading by its font size: below the last one that a
// bookmark names, unless its font is as large.
func (s *levels) set(b *knowledge.Block, first Line) {
	switch {
	case b.Kind != knowledge.BlockHeading:
	case first.heading.level > 0:
		s.level, s.size = first.heading.level, first.Size
	case s.level == 0 || first.Role.Level > 0:
	case first.Size >= s.size:
		b.Level = s.level
	default:
		b.Level = min(s.level+1, 6)
	}
}

// add notes a heading, whose block will have the given index.
func (s *levels) add(index int, b knowledge.Block, first Line) {
	if b.Kind == knowledge.BlockHeading && first.Role.Level == 0 {
		s.found = append(s.found, found{index: index, size: first.Size, marked: first.heading.level > 0, depth: depthOf(b.Text)})
	}
}

// settle corrects the levels when all headings are known.
func (s *levels) settle(blocks []knowledge.Block) {
	if s.look.stated || len(s.found) < 2 {
		return
	}
	s.raiseLarger(blocks)
	s.byCapitals(blocks)
	s.byLabel(blocks)
	s.byNumber(blocks)
}

// larger is how much larger a heading is than another one of a lower level, at least.
const larger = 1.08

// raiseLarger makes room above the bookmarks for headings in larger fonts than all that
// bookmarks name, if there are several: some programs write no bookmarks for headings of the
// first level. A single one is the title.
func (s *levels) raiseLarger(blocks []knowledge.Block) {
	most, sizes, count := 0.0, []float64(nil), 0
	for _, h := range s.found {
		if h.marked {
			most = max(most, h.size)
		}
	}
	for _, h := range s.found {
		if most > 0 && !h.marked && h.size >= larger*most {
			count++
			if !slices.Contains(sizes, rounded(h.size)) {
				sizes = append(sizes, rounded(h.size))
			}
		}
	}
	if count < 2 {
		return
	}
	slices.SortFunc(sizes, func(a, b float64) int { return cmp.Compare(b, a) })
	for _, h := range s.found {
		b := &blocks[h.index]
		if rank := slices.Index(sizes, rounded(h.size)); !h.marked && rank >= 0 {
			b.Level = min(rank+1, 6)
		} else {
			b.Level = min(b.Level+len(sizes), 6)
		}
	}
}

// byCapitals puts headings in the size of the body below others of that size that are
// written in capitals.
func (s *levels) byCapitals(blocks []knowledge.Block) {
	var capitals, others []int
	for _, h := range s.found {
		if h.marked || h.depth > 0 || h.size >= headingRatio*s.look.body {
			continue
		}
		if text := blocks[h.index].Text; strings.ContainsFunc(text, unicode.IsUpper) && !strings.ContainsFunc(text, unicode.IsLower) {
			capitals = append(capitals, h.index)
		} else {
			others = append(others, h.index)
		}
	}
	if len(capitals) == 0 || len(others) == 0 {
		return
	}
	for _, i := range others {
		blocks[i].Level = min(blocks[i].Level+1, 6)
	}
}

// labelled matches a heading that begins with what it is: Item 7A., Note 12, Chapter 3.
var labelled = regexp.MustCompile(`(?i)^(?:item|note|chapter|section|article|schedule|annex|appendix)\s+(?:\d{1,3}[a-z]?|[ivxlc]+|[a-z])(?:[\s.:)–—-]|$)`)

// byLabel puts headings in the size of the body below those of their size and level that
// begin with a label.
func (s *levels) byLabel(blocks []knowledge.Block) {
	level := 7 // of the headings with a label
	plain := func(h found) bool { return !h.marked && h.depth == 0 && h.size < headingRatio*s.look.body }
	for _, h := range s.found {
		if plain(h) && labelled.MatchString(blocks[h.index].Text) {
			level = min(level, blocks[h.index].Level)
		}
	}
	for _, h := range s.found {
		if b := &blocks[h.index]; plain(h) && b.Level >= level && !labelled.MatchString(b.Text) {
			b.Level = min(b.Level+1, 6)
		}
	}
}

// byNumber sets the levels of headings with numbers by the depth of these: 1.1 is below 1.
// A level that a bookmark states stays.
func (s *levels) byNumber(blocks []knowledge.Block) {
	first, last, base := 0, 0, 7
	stated := map[int]int{} // level by depth
	for _, h := range s.found {
		if h.depth == 0 {
			continue
		}
		if first == 0 || h.depth < first {
			first = h.depth
		}
		last = max(last, h.depth)
		if h.marked {
			stated[h.depth] = blocks[h.index].Level
		}
	}
	for _, h := range s.found {
		if h.depth == first {
			base = min(base, blocks[h.index].Level)
		}
	}
	if first == last {
		return
	}
	for _, h := range s.found {
		if h.depth == 0 || h.marked {
			continue
		}
		level, ok := stated[h.depth]
		if !ok {
			level = base + h.depth - first
		}
		blocks[h.index].Level = min(level, 6)
	}
}

// numbered matches the number of a heading.
var numbered = regexp.MustCompile(`^(?:§\s*)?((?:\d{1,2}|[A-Z])(?:\.\d{1,3}){0,5})\.?\)?\s+[\pL"“„(]`)

// depthOf returns how many parts the number of a heading has, 0 if it has none. A letter
// alone is a word.
func depthOf(text string) int {
	m := numbered.FindStringSubmatch(text)
	if m == nil || len(m[1]) == 1 && unicode.IsUpper(rune(m[1][0])) {
		return 0
	}
	return strings.Count(m[1], ".") + 1
}
