package pdf

import (
	"math"
	"regexp"
	"strconv"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// margin is the share of a page's height, at its top and at its bottom, in
// which page numbers are recognised.
const margin = .15

var loneNumber = regexp.MustCompile(`^[-–—]? ?(\d{1,5}) ?[-–—]?$`)

// numberPlace is the position of a page's number, and the difference between
// that number and the page's index in the file.
type numberPlace struct {
	bottom bool
	offset int
}

// withoutPageNumbers removes page numbers, which would interrupt paragraphs
// that continue on the next page. Page numbers are lone numbers that stand
// further out than all other lines and count up with the pages. If the text
// consists only of such numbers, it keeps them.
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

// pageNumbers returns the indices of the lines that are page numbers.
func pageNumbers(lines []line, sizes []knowledge.PageSize) map[int]bool {
	found := map[int]bool{}
	before := map[numberPlace]int{} // the last candidate in each place
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
			at, ok := numberPlaceOf(lines[i], sizes[p].Height, first, last)
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

// extent returns the end of the topmost line of a page and the beginning of the
// lowest.
func extent(lines []line) (first, last float64) {
	first, last = math.Inf(1), math.Inf(-1)
	for _, l := range lines {
		first, last = math.Min(first, l.box.Y2), math.Max(last, l.box.Y1)
	}
	return first, last
}

// numberPlaceOf returns the place of a lone number in a margin. ok is false for
// any other line, and for a number with a line further out.
func numberPlaceOf(l line, pageHeight, first, last float64) (at numberPlace, ok bool) {
	m := loneNumber.FindStringSubmatch(l.text)
	if m == nil {
		return numberPlace{}, false
	}
	n, err := strconv.Atoi(m[1])
	if err != nil {
		return numberPlace{}, false
	}
	at = numberPlace{bottom: l.box.Y1 > pageHeight/2, offset: n - l.page}
	if at.bottom {
		return at, l.box.Y1 > (1-margin)*pageHeight && last < l.box.Y2
	}
	return at, l.box.Y2 < margin*pageHeight && first > l.box.Y1
}

func sameHeight(a, b line) bool {
	return a.page != b.page && overlap(a.box.Y1, a.box.Y2, b.box.Y1, b.box.Y2) > .5
}
