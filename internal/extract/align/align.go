// Package align adds to the blocks of a document the pages and line boxes of a PDF that
// another program made of it. The text stays as it was read from the document: the
// words of each block are found again on the lines of the PDF.
package align

import (
	"regexp"
	"slices"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

const (
	// A block gets the lines on which at least minShare of its words were found.
	// Shorter blocks need all words.
	minShare = .8
	short    = 3
	// candidates is how many places in the PDF are tried for a block.
	candidates = 40
	// early is how many words at the beginning of a block can find its place.
	early = 8
)

// Align sets the pages of a layout, and the lines of the blocks that are found in the
// PDF, and adds the text that is in drawings only. It returns the share of the words
// of the document that have a line.
func Align(layout *knowledge.Layout, pdf knowledge.Layout) float64 {
	layout.Pages = pdf.Pages
	a := newAligner(pdf)
	share := a.align(layout)
	a.addDrawings(layout, pdf)
	return share
}

// Lines sets the lines of the blocks that are found in the PDF.
func Lines(layout *knowledge.Layout, pdf knowledge.Layout) { newAligner(pdf).align(layout) }

// align sets the lines of the blocks that are found. It returns the share of the words
// that have a line.
func (a *aligner) align(layout *knowledge.Layout) float64 {
	words, found := 0, 0
	for i := range layout.Blocks {
		b := &layout.Blocks[i]
		own := wordsOf(b.Text, unprinted(*b))
		markNotes(b.Text, own)
		words += len(own)
		if m := a.place(own); m != nil {
			b.Lines = a.lines([]rune(b.Text), own, m)
			found += len(own)
		}
	}
	if words == 0 {
		return 0
	}
	return float64(found) / float64(words)
}

// slideNumber begins the headings of slides, which do not show it.
var slideNumber = regexp.MustCompile(`^Slide \d+(?: \(hidden\))?(?:: |$)`)

// unprinted returns how many code points at the beginning of a block are not on the
// page.
func unprinted(b knowledge.Block) int {
	if b.Kind != knowledge.BlockHeading {
		return 0
	}
	return len(slideNumber.FindString(b.Text)) // it is ASCII
}

// aligner knows the words of the PDF.
type aligner struct {
	words  []placed
	at     map[string][]int // the places of each word, in order
	used   []bool
	cursor int // place behind the last block that was found
	skip   int // the most words of a block that are skipped
}

// placed is a word of the PDF on a line.
type placed struct {
	word
	lines []knowledge.Line // of its block
	runes []rune           // the text of its block
}

func newAligner(pdf knowledge.Layout) *aligner {
	a := &aligner{at: map[string][]int{}, skip: skipInBlock}
	for _, b := range pdf.Blocks {
		if len(b.Lines) == 0 {
			continue
		}
		runes := []rune(b.Text)
		for _, w := range wordsOf(b.Text, 0) {
			a.at[w.text] = append(a.at[w.text], len(a.words))
			a.words = append(a.words, placed{w, b.Lines, runes})
		}
	}
	a.used = make([]bool, len(a.words))
	return a
}

// place returns for each word of a block its place in the PDF, -1 for a word that is
// not there. It returns nil if too few are.
func (a *aligner) place(own []word) []int {
	anchor := a.anchor(own)
	if anchor < 0 {
		return nil
	}
	var best []int
	most, all := 0, 0
	for _, w := range own {
		if !w.isMark {
			all++
		}
	}
	for _, at := range a.near(own[anchor].text) {
		if a.used[at] {
			continue
		}
		if m, n := a.match(own, anchor, at); n > most {
			best, most = m, n
			if n == all {
				break
			}
		}
	}
	if most < needed(all) {
		return nil
	}
	for _, at := range best {
		if at >= 0 {
			a.used[at] = true
			a.cursor = at + 1
		}
	}
	return best
}

// anchor returns the index of the early word of a block that is rarest in the PDF, -1
// if none is there.
func (a *aligner) anchor(own []word) int {
	best := -1
	for i, w := range own[:min(len(own), early)] {
		if n := len(a.at[w.text]); n > 0 && (best < 0 || n < len(a.at[own[best].text])) {
			best = i
		}
	}
	return best
}

// near returns the places of a word: those behind the cursor first, then those before
// it, the nearest first.
func (a *aligner) near(text string) []int {
	all := a.at[text]
	i, _ := slices.BinarySearch(all, a.cursor)
	behind := all[i:min(len(all), i+candidates)]
	before := slices.Clone(all[max(0, i-candidates):i])
	slices.Reverse(before)
	return append(slices.Clone(behind), before...)
}
