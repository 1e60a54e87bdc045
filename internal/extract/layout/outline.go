package layout

import (
	"math"
	"regexp"
	"strings"
	"unicode"
)

// Bookmark is an entry of a document's outline.
type Bookmark struct {
	Title string
	Level int // 1 = outermost
	Page  int // 1 = first, 0 = none
	// Top is the distance of its target from the top of the page, NaN if it is not
	// known.
	Top float64
}

// heading is the heading that a bookmark makes of successive lines.
type heading struct {
	level int // 0 = none
	mark  int // number of the bookmark, 1 = first
}

// maxWrapped is on how many lines a heading may stand.
const maxWrapped = 4

// markOutline makes headings of the lines that bookmarks name on their pages.
func markOutline(lines []Line, outline []Bookmark) {
	if len(outline) == 0 {
		return
	}
	pages := map[int]spelled{}
	for _, page := range pagesOf(lines) {
		pages[page[0].Page] = spelled{lines: page}
	}
	for i, mark := range outline {
		title, page := essence(mark.Title), pages[mark.Page]
		if title == "" || len(page.lines) == 0 {
			continue
		}
		page.spell()
		pages[mark.Page] = page
		found := page.named(title, mark.Top)
		for j := range found {
			found[j].heading = heading{level: min(max(mark.Level, 1), 6), mark: i + 1}
		}
	}
}

// spelled is the lines of a page with their letters, which are the letters of essence for
// the first line of a heading, and all letters for the next.
type spelled struct {
	lines       []Line
	first, next []string
}

func (p *spelled) spell() {
	if p.first != nil {
		return
	}
	for _, l := range p.lines {
		first := essence(l.Text)
		if l.group != (group{}) || !strings.ContainsFunc(first, unicode.IsLetter) {
			first = "" // the number of a heading, or an entry of the contents
		}
		p.first, p.next = append(p.first, first), append(p.next, letters(strings.ToLower(l.Text)))
	}
}

// named returns the successive lines with the title that are nearest to the target,
// nil if there are none. Lines that are headings already do not count.
func (p spelled) named(title string, top float64) []Line {
	var found []Line
	nearest := math.Inf(1)
	for i, l := range p.lines {
		text := ""
		for n := i; n < len(p.lines) && n < i+maxWrapped && len(text) < len(title) && p.lines[n].heading.level == 0; n++ {
			if n == i {
				text = p.first[n]
			} else {
				text += p.next[n]
			}
			distance := math.Abs(l.Box.Y1 - top)
			if math.IsNaN(top) {
				distance = -l.Size // a heading is larger than a mention of it
			}
			if text == title && distance < nearest {
				found, nearest = p.lines[i:n+1], distance
			}
		}
	}
	return found
}

var numbering = regexp.MustCompile(`^[\s(§]*(?:(?:chapter|section|part|appendix|kapitel|abschnitt|teil|anhang)\s+)?(?:[\divxlc]+|[a-z])(?:[.)\-–:]\d*)+\s*|^\s*\d+\s+`)

// essence returns the letters and digits of a heading without its number, in lower
// case, because bookmarks often leave the number out.
func essence(s string) string {
	s = strings.ToLower(s)
	if rest := s[len(numbering.FindString(s)):]; strings.ContainsFunc(rest, unicode.IsLetter) {
		s = rest
	}
	return letters(s)
}

// letters returns the letters and digits of a text.
func letters(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return r
		}
		return -1
	}, s)
}
