package layout

import (
	"math"
	"unicode/utf8"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// Line is one line of text on one page.
type Line struct {
	Text   string
	Page   int           // 1 = first
	Box    knowledge.Box // on the displayed page
	Turned int           // direction, in quarter turns clockwise
	Size   float64       // font size as displayed, 0 = not known
	Bold   bool
	Mono   bool // its letters have one width
	Role   Role
	// Words are the words of the text, in its order. They are needed only to find the
	// cells of a table; without them a line is in one cell.
	Words []Word

	upbox   knowledge.Box // Box turned upright
	heading heading       // that a bookmark names
	group   group         // of lines of code or of entries that are one block
	lexicon *lexicon      // words of the document, nil if no line ends in a hyphen
	claimed bool          // it is in a cell of a table that shows on the page
	stated  Role          // its role before it was claimed
}

// Word is a word of a line: its code points, and its extent along the line when that
// is turned upright.
type Word struct {
	Start, End int
	X1, X2     float64
}

// Role is what the file says of the part that a line has in the document. The zero
// Role means that it says nothing.
type Role struct {
	Kind    knowledge.BlockKind
	Level   int // of a heading
	Element int // lines of the same element are one block, 0 = not known
	// Paragraph is equal for lines of the same paragraph, 0 = not known. Some files
	// make a paragraph of each line, so lines of two may be one block.
	Paragraph int
	Table     int  // lines with the same number are of one table, 0 = none
	Row       int  // of a cell, 0 = first
	Column    int  // of a cell, 0 = first
	Rows      int  // that the cell covers, 0 and 1 = one
	Columns   int  // that the cell covers, 0 and 1 = one
	Header    bool // the cell names its row or column
}

// Upright turns a box so that text of the given direction (quarter turns
// clockwise) runs from left to right and its lines from top to bottom.
func Upright(b knowledge.Box, quarters int) knowledge.Box {
	switch quarters {
	case 1:
		return knowledge.Box{X1: b.Y1, Y1: -b.X2, X2: b.Y2, Y2: -b.X1}
	case 2:
		return knowledge.Box{X1: -b.X2, Y1: -b.Y2, X2: -b.X1, Y2: -b.Y1}
	case 3:
		return knowledge.Box{X1: -b.Y2, Y1: b.X1, X2: -b.Y1, Y2: b.X2}
	default:
		return b
	}
}

func height(b knowledge.Box) float64 { return b.Y2 - b.Y1 }

func width(b knowledge.Box) float64 { return b.X2 - b.X1 }

// Overlap returns the share of the shorter of two intervals that lies in the
// other, 0..1.
func Overlap(a1, a2, b1, b2 float64) float64 {
	shorter := math.Min(a2-a1, b2-b1)
	if shorter <= 0 {
		return 0
	}
	return math.Max(0, math.Min(a2, b2)-math.Max(a1, b1)) / shorter
}

// Beside reports whether b stands to the right of a.
func Beside(a, b Line) bool {
	x, y := Upright(a.Box, a.Turned), Upright(b.Box, b.Turned)
	return a.Page == b.Page && a.Turned == b.Turned && y.X1 >= x.X2-1 && Overlap(x.Y1, x.Y2, y.Y1, y.Y2) > .5
}

// wordTexts returns the texts of the words of a line.
func (l Line) wordTexts() []string {
	part := func(w Word) string { return l.Text[w.Start:w.End] }
	if utf8.RuneCountInString(l.Text) < len(l.Text) {
		runes := []rune(l.Text)
		part = func(w Word) string { return string(runes[w.Start:w.End]) }
	}
	texts := make([]string, len(l.Words))
	for i, w := range l.Words {
		texts[i] = part(w)
	}
	return texts
}

// boxOf returns the box around lines, of which there is one at least.
func boxOf(lines []Line) knowledge.Box {
	box := lines[0].Box
	for _, l := range lines[1:] {
		box = box.Union(l.Box)
	}
	return box
}

// part returns a line with the words from start to end.
func (l Line) part(start, end int) Line {
	words := l.Words[start:end]
	first := words[0].Start
	l.Text = string([]rune(l.Text)[first:words[len(words)-1].End])
	l.upbox.X1, l.upbox.X2 = words[0].X1, words[0].X2
	l.Words = make([]Word, len(words))
	for i, w := range words {
		l.upbox.X1, l.upbox.X2 = math.Min(l.upbox.X1, w.X1), math.Max(l.upbox.X2, w.X2)
		w.Start, w.End = w.Start-first, w.End-first
		l.Words[i] = w
	}
	l.Box = Upright(l.upbox, (4-l.Turned)&3)
	return l
}
