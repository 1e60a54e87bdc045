package layout

import (
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	maxHeading   = 200  // code points
	headingRatio = 1.12 // of the font size of the body
)

// typography describes the typography of a document; isHeading and level use it.
type typography struct {
	body     float64   // most frequent font size
	bold     bool      // most of the text is bold
	headings []float64 // larger font sizes, largest first
	stated   bool      // the file states which lines are headings
}

// leastStated is the share of the headings that a file states, of the lines that look like
// headings, below which it states only its title or a few of them.
const leastStated = .25

func typographyOf(lines []Line) typography {
	var look typography
	weight := map[float64]int{}
	bold, all := 0, 0
	for _, l := range lines {
		if l.Size == 0 { // recognised in a picture
			continue
		}
		weight[rounded(l.Size)] += len(l.Text)
		all += len(l.Text)
		if l.Bold {
			bold += len(l.Text)
		}
	}
	most := 0
	for size, w := range weight {
		if w > most || w == most && size < look.body {
			look.body, most = size, w
		}
	}
	for size := range weight {
		if size >= headingRatio*look.body {
			look.headings = append(look.headings, size)
		}
	}
	slices.Sort(look.headings)
	slices.Reverse(look.headings)
	look.bold = bold > all/2
	look.stated = look.statesHeadings(lines)
	return look
}

// statesHeadings reports whether the file states which lines are headings. A program that
// makes a PDF of a web page states the headings of the page, and many pages have a
// heading for the title alone and lines in bold for all others.
func (look typography) statesHeadings(lines []Line) bool {
	stated, alike, last := 0, 0, 0
	for i, l := range lines {
		switch {
		case l.Role.Level > 0:
			if l.Role.Element != last {
				stated++
			}
			last = l.Role.Element
		case l.Role.Table == 0 && l.Role.Kind == "" && look.isHeading(lines[i:i+1], l.Text):
			alike++
		}
	}
	return stated > 0 && float64(stated) >= leastStated*float64(alike)
}

func rounded(size float64) float64 { return math.Round(size*2) / 2 }

// isHeading reports whether the lines of a block look like a heading: either up to
// three lines larger than the body, or where the body is not bold a single bold line, or
// up to three with a number or a label.
func (look typography) isHeading(lines []Line, text string) bool {
	if look.stated || len(lines) > 3 || utf8.RuneCountInString(text) > maxHeading || !strings.ContainsFunc(text, unicode.IsLetter) {
		return false
	}
	first := lines[0]
	if first.Size == 0 {
		return false
	}
	if first.Size >= headingRatio*look.body {
		return true
	}
	end, _ := utf8.DecodeLastRuneInString(text)
	return first.Bold && !look.bold && first.Size >= .95*look.body && (len(lines) == 1 || depthOf(text) > 0 || labelled.MatchString(text)) && !strings.ContainsRune(".,;:", end)
}

// level returns the level of a heading by its font size, 1..6. Bold text in the
// body's size ranks last.
func (look typography) level(first Line) int {
	rank := slices.Index(look.headings, rounded(first.Size))
	if rank < 0 {
		rank = len(look.headings)
	}
	return min(rank+1, 6)
}
