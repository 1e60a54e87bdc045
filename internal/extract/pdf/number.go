package pdf

import (
	"math"
	"regexp"
	"strconv"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// margin is the part of a page at its top and at its bottom in which its number
// may stand.
const margin = .15

var lone = regexp.MustCompile(`^[-–—]? ?(\d{1,5}) ?[-–—]?$`)

// place is where a page has its number, and by how much that differs from the
// page's place in the file.
type place struct {
	bottom bool
	offset int
}

// withoutPageNumbers leaves out the numbers of pages, which would stand in the
// middle of what goes on over the end of a page: lone numbers outside of all
// other lines that count up with the pages. A text of nothing else keeps them.
func withoutPageNumbers(lines []line, sizes []knowledge.PageSize) []line {
	numbers := pageNumbers(lines, sizes)
	if len(numbers) == 0 || len(numbers) == len(lines) {
		return lines
	}
	kept := make([]line, 0, len(lines))
	for i, l := range lines {
		if !numbers[i] {
			kept = append(kept, l)
		}
	}
	return kept
}

// pageNumbers gives the indices of the lines that are the number of their page.
func pageNumbers(lines []line, sizes []knowledge.PageSize) map[int]bool {
	found := map[int]bool{}
	before := map[place]int{} // the last candidate in each place
	for start, p := 0, 0; start < len(lines); p++ {
		for sizes[p].Page != lines[start].page {
			p++
		}
		end := start
		for end < len(lines) && lines[end].page == lines[start].page {
			end++
		}
		first, last := extent(lines[start:end])
		for i := start; i < end; i++ {
			at, ok := placeOf(lines[i], sizes[p].Height, first, last)
			if !ok {
				continue
			}
			if j, again := before[at]; again && sameHeight(lines[j], lines[i]) {
				found[i], found[j] = true, true
			}
			before[at] = i
		}
		start = end
	}
	return found
}

// extent gives where the first line of a page ends and where its last begins.
func extent(lines []line) (first, last float64) {
	first, last = math.Inf(1), math.Inf(-1)
	for _, l := range lines {
		first, last = math.Min(first, l.box.Y2), math.Max(last, l.box.Y1)
	}
	return first, last
}

// placeOf gives the place of a lone number in a margin. ok is false for any
// other line, and where something stands further out.
func placeOf(l line, pageHeight, first, last float64) (at place, ok bool) {
	m := lone.FindStringSubmatch(l.text)
	if m == nil {
		return place{}, false
	}
	n, err := strconv.Atoi(m[1])
	if err != nil {
		return place{}, false
	}
	at = place{bottom: l.box.Y1 > pageHeight/2, offset: n - l.page}
	if at.bottom {
		return at, l.box.Y1 > (1-margin)*pageHeight && last < l.box.Y2
	}
	return at, l.box.Y2 < margin*pageHeight && first > l.box.Y1
}

func sameHeight(a, b line) bool {
	return a.page != b.page && overlap(a.box.Y1, a.box.Y2, b.box.Y1, b.box.Y2) > .5
}
