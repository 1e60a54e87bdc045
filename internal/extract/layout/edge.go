package layout

import (
	"cmp"
	"math"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// addMoving adds to the candidates for furniture what repeats at the edges of the text of
// pages, outside of the margins too: numbers of pages right below a text of any length,
// and headers that stand low. On at least three pages it is the outermost row that is not
// furniture already. A text that is not repeated is never one of them, nor is one that is
// larger.
func addMoving(lines []Line, candidates map[int]bool, largest float64) {
	open := map[spot][]*chain{}
	var all []*chain
	rows := map[int][]int{} // the row of a line, by its index
	start := 0
	for _, page := range pagesOf(lines) {
		for _, bottom := range []bool{false, true} {
			row := edgeRow(page, start, bottom, candidates)
			for _, i := range row {
				l := lines[i]
				if l.Size > largest || l.Role.Kind != "" || l.Role.Table != 0 || len(l.Text) > 100 {
					continue
				}
				rows[i] = row
				all = addToChain(open, all, spot{bottom: bottom, text: spelling(l.Text)}, lines, i, anyHeight)
			}
		}
		start += len(page)
	}
	moving := map[int]bool{}
	for _, c := range all {
		if c.pages >= repeated && c.isFurniture(lines) {
			for _, i := range c.lines {
				moving[i] = true
			}
		}
	}
	numbered := func(i int) bool { return slices.ContainsFunc(rows[i], func(j int) bool { return moving[j] }) }
	for _, c := range all { // a title beside the number of the page
		if c.pages >= repeated && !slices.ContainsFunc(c.lines, func(i int) bool { return !numbered(i) }) {
			for _, i := range c.lines {
				moving[i] = true
			}
		}
	}
	for i := range moving {
		candidates[i] = true
	}
}

// anyHeight is a difference of heights that all lines of pages have.
var anyHeight = math.Inf(1)

// edgeRow returns the indexes of the outermost row of a page that is not of candidates
// alone, none if the page has no other row behind it.
func edgeRow(page []Line, start int, bottom bool, candidates map[int]bool) []int {
	ordered := make([]int, len(page))
	for i := range ordered {
		ordered[i] = i
	}
	slices.SortFunc(ordered, func(a, b int) int {
		if bottom {
			a, b = b, a
		}
		return cmp.Compare(page[a].Box.Y1, page[b].Box.Y1)
	})
	for at := 0; at < len(ordered); {
		var row []int
		other := false
		first := at
		for at < len(ordered) && sameRow(page[ordered[first]], page[ordered[at]]) {
			row = append(row, start+ordered[at])
			other = other || !candidates[start+ordered[at]]
			at++
		}
		if !other {
			continue
		}
		if !slices.ContainsFunc(ordered[at:], func(i int) bool { return !candidates[start+i] }) {
			return nil
		}
		return row
	}
	return nil
}

// isFurniture reports whether a chain of rows at the edges of pages is furniture: in one
// place the same text, or one with the number of the page; in several places the number of
// the page alone, or within a longer text.
func (c *chain) isFurniture(lines []Line) bool {
	low, high := math.Inf(1), 0.0
	for _, i := range c.lines {
		low, high = min(low, lines[i].Box.Y1), max(high, lines[i].Box.Y1)
	}
	text := lines[c.lines[0]].Text
	letters := strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) {
			return r
		}
		return -1
	}, pageWord.ReplaceAllString(strings.ToLower(text), ""))
	switch {
	case high-low <= sameHeight && !c.counts:
		return !slices.ContainsFunc(c.lines, func(i int) bool { return !hasOtherText(lines, i) })
	case !c.counts:
		return false
	default:
		_, roman := romanNumber(text)
		return letters == "" || roman || len(letters) >= longTitle
	}
}

// longTitle is how many letters stand beside the number of a page in a header that cannot
// be one of the steps or figures that a document counts.
const longTitle = 12

var pageWord = regexp.MustCompile(`(?i)\b(?:page|pages|pg|p|seite|blatt|von|of|sur|de|di|pagina|página|sida|side|av|strona|z|стр|страница|из)\b|[页頁第共페이지쪽]`)

// hasOtherText reports whether a page has two or more lines that differ from one of it.
func hasOtherText(lines []Line, i int) bool {
	n := 0
	for j := i - 1; j >= 0 && lines[j].Page == lines[i].Page; j-- {
		n++
	}
	for j := i + 1; j < len(lines) && lines[j].Page == lines[i].Page; j++ {
		n++
	}
	return n >= 2
}

var romanLine = regexp.MustCompile(`^[^\pL\d]*([ivxlc]{1,7})[^\pL\d]*$`)

// romanNumber returns the number of a line that is a Roman numeral in small letters.
func romanNumber(text string) (n int, ok bool) {
	if strings.ContainsFunc(text, isNotRoman) {
		return 0, false
	}
	m := romanLine.FindStringSubmatch(text)
	if m == nil {
		return 0, false
	}
	values := map[byte]int{'i': 1, 'v': 5, 'x': 10, 'l': 50, 'c': 100}
	for i := range len(m[1]) {
		value := values[m[1][i]]
		if i+1 < len(m[1]) && values[m[1][i+1]] > value {
			value = -value
		}
		n += value
	}
	return n, n > 0
}

// isNotRoman reports whether a character is a letter of no Roman numeral, or a digit.
func isNotRoman(r rune) bool {
	return r >= '0' && r <= '9' || unicode.IsLetter(r) && !strings.ContainsRune("ivxlc", r)
}
