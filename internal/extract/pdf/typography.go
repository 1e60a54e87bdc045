package pdf

import (
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// typography describes the typography of a document; isHeading and level use it.
type typography struct {
	body     float64   // most frequent font size
	bold     bool      // most of the text is bold
	headings []float64 // larger font sizes, largest first
}

func typographyOf(lines []line) typography {
	var l typography
	weight := map[float64]int{}
	bold, all := 0, 0
	for _, ln := range lines {
		weight[rounded(ln.size)] += len(ln.text)
		all += len(ln.text)
		if ln.bold {
			bold += len(ln.text)
		}
	}
	most := 0
	for size, w := range weight {
		if w > most || w == most && size < l.body {
			l.body, most = size, w
		}
	}
	for size := range weight {
		if size >= headingRatio*l.body {
			l.headings = append(l.headings, size)
		}
	}
	slices.Sort(l.headings)
	slices.Reverse(l.headings)
	l.bold = bold > all/2
	return l
}

func rounded(size float64) float64 { return math.Round(size*2) / 2 }

// isHeading reports whether the lines of a block are a heading: either up to
// three lines larger than the body, or a single bold line where the body is not
// bold.
func (l typography) isHeading(lines []line, text string) bool {
	if len(lines) > 3 || utf8.RuneCountInString(text) > maxHeading || !strings.ContainsFunc(text, unicode.IsLetter) {
		return false
	}
	first := lines[0]
	if first.size >= headingRatio*l.body {
		return true
	}
	end, _ := utf8.DecodeLastRuneInString(text)
	return first.bold && !l.bold && first.size >= .95*l.body && len(lines) == 1 && !strings.ContainsRune(".,;:", end)
}

// level returns the level of a heading by its font size, 1..6. Bold text in the
// body's size ranks last.
func (l typography) level(first line) int {
	rank := slices.Index(l.headings, rounded(first.size))
	if rank < 0 {
		rank = len(l.headings)
	}
	return min(rank+1, 6)
}
