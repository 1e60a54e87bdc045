package layout

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

const (
	// codeGap is the gap between two lines of code, in heights of a line, that a few empty
	// lines leave.
	codeGap = 4
	// codeSigns are frequent in code and rare in prose.
	codeSigns = "{}()[]<>=;_/\\$#|&%*+:\"`"
)

// markCode sets the role of lines of code: successive lines in a font whose letters have
// one width, in a document of another. Each run of them is a group.
func markCode(lines []Line) {
	mono, all := 0, 0
	for _, l := range lines {
		all += len(l.Text)
		if l.Mono {
			mono += len(l.Text)
		}
	}
	if mono == 0 || 2*mono > all {
		return
	}
	for start := 0; start < len(lines); {
		end := start
		for end < len(lines) && isMono(lines[end]) && (end == start || continuesCode(lines[end-1], lines[end])) {
			end++
		}
		if run := lines[start:end]; len(run) > 0 && isCode(run) {
			mark(run, knowledge.BlockCode)
		}
		start = max(end, start+1)
	}
}

func isMono(l Line) bool {
	return l.Mono && l.Turned == 0 && l.Role.Table == 0 && (l.Role.Kind == "" || l.Role.Kind == knowledge.BlockCode || l.Role.Kind == knowledge.BlockParagraph)
}

// continuesCode reports whether a line continues the code of the one before.
func continuesCode(last, next Line) bool {
	if math.Abs(last.Size-next.Size) > .1*last.Size || next.Page != last.Page {
		return false
	}
	tall := height(next.Box)
	gap := next.Box.Y1 - last.Box.Y2
	return Beside(last, next) || gap < codeGap*tall && gap > -.6*tall
}

// isCode reports whether a run of lines is code: more than a word or a name in such a
// font, and with signs of code if it stands on one line.
func isCode(run []Line) bool {
	signs := 0
	for _, l := range run {
		if strings.ContainsAny(l.Text, codeSigns) {
			signs++
		}
	}
	return signs > 0 && (len(run) > 1 || strings.Contains(run[0].Text, " ")) || len(run) > 2
}

// mark makes a group of successive lines.
func mark(run []Line, kind knowledge.BlockKind) {
	group := run[0].number()
	for i := range run {
		run[i].Role, run[i].group = Role{Kind: kind}, group
	}
}

// number returns a number that no other line has, above 0.
func (l Line) number() group {
	return group{page: l.Page, x: l.Box.X1, y: l.Box.Y1}
}

// group is the place of the first line of a group, zero if a line is in none.
type group struct {
	page int
	x, y float64
}

// codeBlock returns the block of lines of code, with their line ends and indentation.
func codeBlock(lines []Line) knowledge.Block {
	b := knowledge.Block{Kind: knowledge.BlockCode}
	left, wide := math.Inf(1), widthOfLetter(lines)
	for _, l := range lines {
		left = min(left, l.Box.X1)
	}
	var text strings.Builder
	at := 0
	rows := rowsOf(lines)
	pitch := pitchOf(rows)
	for i, row := range rows {
		if i > 0 {
			n := 1
			if pitch > 0 && row[0].Page == rows[i-1][0].Page {
				n = max(1, min(3, int(math.Round((row[0].Box.Y1-rows[i-1][0].Box.Y1)/pitch))))
			}
			text.WriteString(strings.Repeat("\n", n))
			at += n
		}
		s, indent := inGrid(row, left, wide)
		text.WriteString(s)
		n := utf8.RuneCountInString(s)
		b.Lines = append(b.Lines, knowledge.Line{Start: at + indent, End: at + n, Page: row[0].Page, Box: boxOf(row)})
		at += n
	}
	b.Text = text.String()
	return b
}

// rowsOf returns the rows of lines, each from left to right.
func rowsOf(lines []Line) [][]Line {
	var rows [][]Line
	for start := 0; start < len(lines); {
		end := start + 1
		for end < len(lines) && lines[end].Page == lines[start].Page && sameRow(lines[start], lines[end]) {
			end++
		}
		row := slices.Clone(lines[start:end])
		slices.SortStableFunc(row, func(a, b Line) int { return cmp.Compare(a.Box.X1, b.Box.X1) })
		rows = append(rows, row)
		start = end
	}
	return rows
}

// pitchOf returns the least distance from a row to the next, 0 if there is one row.
func pitchOf(rows [][]Line) float64 {
	least := math.Inf(1)
	for i := 1; i < len(rows); i++ {
		if d := rows[i][0].Box.Y1 - rows[i-1][0].Box.Y1; rows[i][0].Page == rows[i-1][0].Page && d > 0 {
			least = min(least, d)
		}
	}
	if math.IsInf(least, 1) {
		return 0
	}
	return least
}

// widthOfLetter returns the width of a letter in a font with one width, in points: the
// median of the lines. A line with spaces that it does not have in its text is wider.
func widthOfLetter(lines []Line) float64 {
	var widths []float64
	for _, l := range lines {
		widths = append(widths, width(l.Box)/float64(utf8.RuneCountInString(l.Text)))
		for _, w := range l.Words {
			widths = append(widths, (w.X2-w.X1)/float64(w.End-w.Start))
		}
	}
	slices.Sort(widths)
	return widths[len(widths)/2]
}

// inGrid returns the text of a row with spaces for the gaps before its words, and how many
// spaces it begins with.
func inGrid(row []Line, left, wide float64) (text string, indent int) {
	var b strings.Builder
	at := 0
	put := func(s string, x float64) {
		column := 0
		if wide > 0 {
			column = int(math.Round((x - left) / wide))
		}
		if at > 0 {
			column = max(column, at+1)
		} else {
			column = min(max(column, 0), maxIndent)
			indent = column
		}
		column = min(column, at+maxIndent)
		b.WriteString(strings.Repeat(" ", column-at))
		at = column
		b.WriteString(s)
		at += utf8.RuneCountInString(s)
	}
	for _, l := range row {
		if len(l.Words) == 0 {
			put(l.Text, l.Box.X1)
			continue
		}
		for i, text := range l.wordTexts() {
			put(text, l.Words[i].X1)
		}
	}
	return b.String(), indent
}

// maxIndent is the largest number of spaces before a line of code.
const maxIndent = 100
