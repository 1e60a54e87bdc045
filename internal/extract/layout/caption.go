package layout

import (
	"math"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/cairn-rag/cairn/internal/extract/table"
)

// maxCaptionLines is how many lines at the end of a paragraph are the caption of the
// table below at most.
const maxCaptionLines = 3

// captionLines returns how many of the last lines of a paragraph are the caption of
// the table right below it, such as its unit or its period, and not the end of the
// last sentence: they stand below the end of a sentence, or begin at another place
// than the line above them. The paragraph keeps a line.
func captionLines(lines []Line) int {
	count := 0
	for n := 1; n <= maxCaptionLines && n < len(lines); n++ {
		l, before := lines[len(lines)-n], lines[len(lines)-n-1]
		if !table.IsCaption(l.Text) || l.Role.Element != 0 && l.Role.Element == before.Role.Element {
			break
		}
		begin, _ := utf8.DecodeRuneInString(l.Text)
		end, _ := utf8.DecodeLastRuneInString(strings.TrimRight(before.Text, `"'”’»)]`))
		moved := math.Abs(l.upbox.X1-before.upbox.X1) > height(l.upbox)
		if !unicode.IsLower(begin) && (moved || strings.ContainsRune(".!?:。！？", end)) {
			count = n
		}
	}
	return count
}

// tables finds the tables of a document. It keeps the last answers, because a place is
// asked about more than once.
type tables struct {
	lines   []Line
	answers [maxCaptionLines + 1]answer
}

type answer struct {
	end   int // of the line that was asked about, 0 = none
	rows  []row
	count int
}

// at returns the rows of the table that begins with a line, and the number of lines in
// them, or none if no table begins there.
func (t *tables) at(start int) (rows []row, count int) {
	if start == len(t.lines) {
		return nil, 0
	}
	a := &t.answers[start%len(t.answers)]
	if a.end != start+1 {
		a.end = start + 1
		a.rows, a.count = tableAt(t.lines[start:])
	}
	return a.rows, a.count
}

// below reports whether a table begins with a line, or below it and other lines that can
// be the caption of the table.
func (t *tables) below(start int) bool {
	for i := start; i < min(len(t.lines), start+maxCaptionLines); i++ {
		if _, n := t.at(i); n > 0 {
			return true
		}
		if !table.IsCaption(t.lines[i].Text) {
			return false
		}
	}
	return false
}
