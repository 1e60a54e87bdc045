package layout

import (
	"cmp"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

const (
	// margin is the share of a page's height, at its top and at its bottom, in
	// which headers and footers are found.
	margin = .2
	// repeated is on how many pages a text must stand, unless it contains the
	// number of the page.
	repeated = 3
	// maxSkipped is how many pages may lie between two with the same header: left
	// and right pages may have different ones.
	maxSkipped = 2
	// sameHeight is how far the places of a repeated text may differ, in points.
	sameHeight = 4
)

var number = regexp.MustCompile(`\d{1,9}`)

// placeholder stands for a number. No line has it: text is cleaned of control characters.
const placeholder = "\x00"

// chain is a text that is repeated in the same place, with the numbers in it that
// are the same or count up with the pages.
type chain struct {
	lines  []int // index of each line
	pages  int
	counts bool // it contains a number that counts up
}

// place of a chain's text on its pages.
type spot struct {
	bottom bool
	text   string // with placeholder for numbers
}

// furnish sets the role of headers and footers: texts in the margins that pages
// repeat in the same place, and page numbers. They are not larger than the body, and
// nothing stands further out on the page. If the document consists only of such
// lines, it has none.
func furnish(lines []Line, sizes []knowledge.PageSize) {
	heights := map[int]float64{}
	for _, s := range sizes {
		heights[s.Page] = s.Height
	}
	largest := headingRatio * typographyOf(lines).body
	candidates := repeatedLines(lines, heights, largest)
	addMoving(lines, candidates, largest)
	keepTables(lines, candidates)
	var found []int
	start := 0
	for _, page := range pagesOf(lines) {
		found = append(found, outermost(page, start, candidates)...)
		start += len(page)
	}
	if len(found) == len(lines) {
		return
	}
	for _, i := range found {
		lines[i].Role, lines[i].group = Role{Kind: knowledge.BlockHeader}, group{}
		if lines[i].Box.Y1 > heights[lines[i].Page]/2 {
			lines[i].Role.Kind = knowledge.BlockFooter
		}
	}
}

// repeatedLines returns which lines in the margins are repeated, or are furniture
// by their role. Larger ones are left out.
func repeatedLines(lines []Line, heights map[int]float64, largest float64) map[int]bool {
	found, open := map[int]bool{}, map[spot][]*chain{}
	var all []*chain
	for i, l := range lines {
		found[i] = l.Role.Kind.IsFurniture()
		at, ok := spotOf(l, heights[l.Page])
		if !ok || l.Size > largest || l.Role.Kind != "" && l.group == (group{}) {
			continue
		}
		all = addToChain(open, all, at, lines, i, sameHeight)
	}
	for _, c := range all {
		if c.pages >= repeated || c.counts && c.pages >= 2 {
			for _, i := range c.lines {
				found[i] = true
			}
		}
	}
	return found
}

// addToChain adds a line to an open chain of its spot whose last line is at most so many
// points higher or lower, or to a new one, and returns all chains. Chains that ended too many
// pages before are not open: the amounts of the tables of a report are all of one spot.
func addToChain(open map[spot][]*chain, all []*chain, at spot, lines []Line, i int, off float64) []*chain {
	open[at] = slices.DeleteFunc(open[at], func(c *chain) bool {
		return lines[i].Page-lines[c.lines[len(c.lines)-1]].Page > maxSkipped
	})
	for _, c := range open[at] {
		if c.add(lines, i, off) {
			return all
		}
	}
	own := &chain{lines: []int{i}, pages: 1}
	open[at] = append(open[at], own)
	return append(all, own)
}

// spelling returns a text in small letters with placeholder for its numbers.
func spelling(text string) string {
	if _, ok := romanNumber(text); ok {
		return placeholder + "roman"
	}
	text = strings.ToLower(text)
	if !strings.ContainsAny(text, "0123456789") {
		return text
	}
	return number.ReplaceAllString(text, placeholder)
}

// spotOf returns the spot of a line in a margin. ok is false for other lines.
func spotOf(l Line, pageHeight float64) (at spot, ok bool) {
	at.bottom = l.Box.Y1 > pageHeight/2
	if at.bottom && l.Box.Y1 <= (1-margin)*pageHeight || !at.bottom && l.Box.Y2 >= margin*pageHeight || len(l.Text) > 300 {
		return spot{}, false
	}
	at.text = spelling(l.Text)
	return at, true
}

// add adds a line if it repeats the last one of the chain on a page soon after, at most so
// many points higher or lower.
func (c *chain) add(lines []Line, i int, off float64) bool {
	last, next := lines[c.lines[len(c.lines)-1]], lines[i]
	distance := next.Page - last.Page
	if distance < 1 || distance > maxSkipped || math.Abs(next.Box.Y1-last.Box.Y1) > off {
		return false
	}
	counts := false
	before, after := numbers(last.Text), numbers(next.Text)
	if len(before) != len(after) {
		return false
	}
	for j := range before {
		switch after[j] - before[j] {
		case 0:
		case distance:
			counts = true
		default:
			return false
		}
	}
	if c.pages > 1 && c.counts != counts {
		return false
	}
	c.lines, c.pages, c.counts = append(c.lines, i), c.pages+1, counts
	return true
}

func numbers(text string) []int {
	if n, ok := romanNumber(text); ok {
		return []int{n}
	}
	var list []int
	for _, digits := range number.FindAllString(text, -1) {
		n, _ := strconv.Atoi(digits) // at most nine digits
		list = append(list, n)
	}
	return list
}

// outermost returns the candidates of a page, whose first line has the given index,
// that have no other line further out. It leaves out a row of several cells right
// above another, which is the header of a table that continues on each page.
func outermost(page []Line, start int, candidates map[int]bool) []int {
	byHeight := make([]int, len(page))
	for i := range byHeight {
		byHeight[i] = i
	}
	slices.SortFunc(byHeight, func(a, b int) int { return cmp.Compare(page[a].Box.Y1, page[b].Box.Y1) })
	found := accepted(page, byHeight, start, candidates)
	slices.Reverse(byHeight)
	for _, i := range accepted(page, byHeight, start, candidates) {
		if !slices.Contains(found, i) {
			found = append(found, i)
		}
	}
	return found
}

// accepted returns the candidates among lines that are ordered from the edge of the
// page, up to the first row with another line.
func accepted(page []Line, ordered []int, start int, candidates map[int]bool) []int {
	var found []int
	for at := 0; at < len(ordered); {
		end := at + 1
		for end < len(ordered) && sameRow(page[ordered[at]], page[ordered[end]]) {
			end++
		}
		row := ordered[at:end]
		if slices.ContainsFunc(row, func(i int) bool { return !candidates[start+i] }) || headsTable(page, row, ordered[end:]) {
			break
		}
		for _, i := range row {
			found = append(found, start+i)
		}
		at = end
	}
	return found
}

func sameRow(a, b Line) bool { return Overlap(a.Box.Y1, a.Box.Y2, b.Box.Y1, b.Box.Y2) > .5 }

// headsTable reports whether a row of two or more cells stands right above a row
// with at least as many.
func headsTable(page []Line, row, rest []int) bool {
	if len(row) < 2 || len(rest) < len(row) {
		return false
	}
	above, below := page[row[0]], page[rest[0]]
	if gap := below.Box.Y1 - above.Box.Y2; gap < 0 || gap > 1.5*height(above.Box) {
		return false
	}
	n := 1
	for n < len(rest) && sameRow(page[rest[0]], page[rest[n]]) {
		n++
	}
	return n >= len(row)
}
