package layout

import "github.com/cairn-rag/cairn/internal/knowledge"

// levels assigns a level to headings that no bookmark names, among those that one names.
type levels struct {
	look  typography
	level int     // of the last heading that a bookmark names, 0 = none yet
	size  float64 // of its font
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
