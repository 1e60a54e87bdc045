package citation

import (
	"cmp"
	"slices"
	"unicode"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// PageBox is a box on a page: points, origin at the top left of the page.
type PageBox struct {
	Page int           `json:"page_number"`
	Box  knowledge.Box `json:"bbox"`
}

// Passage is where a quotation stands: code points into the chunk's text,
// one box for each line that it touches, and the time of the segments of speech that it
// touches.
type Passage struct {
	Start, End int
	Boxes      []PageBox
	Time       knowledge.Seconds // zero, except of speech
}

// Locate finds the first place of a quotation in a chunk. White space, case and
// hyphens at the ends of lines do not matter.
func Locate(c knowledge.Chunk, quote string) (Passage, bool) {
	text, places := folded(c.Text)
	wanted, _ := folded(quote)
	i := indexRunes(text, wanted)
	if i < 0 {
		return Passage{}, false
	}
	p := Passage{Start: places[i], End: places[i+len(wanted)-1] + 1, Boxes: []PageBox{}}
	p.Time = c.Speech.During(p.Start, p.End)
	for _, line := range c.Lines {
		start, end := max(line.Start, p.Start), min(line.End, p.End)
		if start < end {
			p.Boxes = append(p.Boxes, PageBox{Page: line.Page, Box: line.Part(start, end)})
		}
	}
	return p, true
}

// Boxes returns one box a page around all lines of a chunk, in the order of pages.
func Boxes(c knowledge.Chunk) []PageBox {
	boxes := []PageBox{}
	for _, line := range c.Lines {
		i, found := slices.BinarySearchFunc(boxes, line.Page, func(b PageBox, page int) int { return cmp.Compare(b.Page, page) })
		if found {
			boxes[i].Box = boxes[i].Box.Union(line.Box)
			continue
		}
		boxes = slices.Insert(boxes, i, PageBox{Page: line.Page, Box: line.Box})
	}
	return boxes
}

// folded returns the characters of a text that matter for comparing, and where in
// the text each stands. A hyphen behind a letter does not matter: a line may end
// there, and whether the word has one without the line end cannot be told. One
// before a number is a minus and does.
func folded(text string) (runes []rune, places []int) {
	all := []rune(text)
	for i, r := range all {
		if unicode.IsSpace(r) || knowledge.Invisible(r) || isHyphen(r) && joins(all, i) {
			continue
		}
		runes = append(runes, unicode.ToLower(r))
		places = append(places, i)
	}
	return runes, places
}

func isHyphen(r rune) bool { return r == '-' || r == '\u2010' || r == '\u2011' }

// joins reports whether the hyphen at i stands behind a letter and, but for
// white space, before another or the end.
func joins(all []rune, i int) bool {
	if i == 0 || !unicode.IsLetter(all[i-1]) {
		return false
	}
	for i++; i < len(all); i++ {
		if !unicode.IsSpace(all[i]) {
			return unicode.IsLetter(all[i])
		}
	}
	return true
}

// indexRunes returns the first place of wanted in text, -1 = none.
func indexRunes(text, wanted []rune) int {
	if len(wanted) == 0 {
		return -1
	}
	for i := 0; i+len(wanted) <= len(text); i++ {
		j := 0
		for j < len(wanted) && text[i+j] == wanted[j] {
			j++
		}
		if j == len(wanted) {
			return i
		}
	}
	return -1
}
