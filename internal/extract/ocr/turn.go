package ocr

import (
	"context"
	"image"
	"regexp"
	"slices"
	"strconv"

	"github.com/cairn-rag/cairn/internal/extract/layout"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// reading is the words of a picture that was turned, in pixels of the turned picture.
type reading struct {
	words []word
	turn  int // quarter turns clockwise
}

// enoughLetters is from how many letters on a page is turned to see whether it reads
// better.
const enoughLetters = 20

// turned returns the best reading of a picture, given the reading of the picture as it is. It
// turns pictures that seem to lie on their side or head. If tesseract fails on a turned
// picture, the first reading counts.
func (t *Tesseract) turned(ctx context.Context, first reading, picture *image.Gray, perPoint float64) reading {
	best := first
	for _, turn := range t.turns(ctx, first.words, picture, perPoint) {
		words, err := t.recognise(ctx, turnedPicture(picture, turn), perPoint)
		if err != nil {
			return best
		}
		r := reading{words, turn}
		if r.better(best) {
			best = r
		}
		if sureness(best.words) >= sureOfText && !sideways(best.words) {
			break
		}
	}
	return best
}

// better reports whether a reading has more text, as far as tesseract is sure of it, or as
// much that is upright.
func (r reading) better(than reading) bool {
	own, other := certain(r.words), certain(than.words)
	if sideways(than.words) && !sideways(r.words) {
		own *= 1.25
	}
	return own > other
}

// certain returns the letters of words, each with the confidence above chance.
func certain(words []word) float64 {
	sum := 0.0
	for _, w := range words {
		sum += float64(letters(w.text)) * max(0, w.sure-40)
	}
	return sum
}

// turns returns the quarter turns clockwise that may make a picture upright, best first:
// none for a picture that reads well.
func (t *Tesseract) turns(ctx context.Context, words []word, picture *image.Gray, perPoint float64) []int {
	lies := sideways(words)
	if count(words) < enoughLetters || !lies && sureness(words) >= sureOfPage {
		return nil
	}
	if lies && sureness(words) >= sureOfText { // tesseract reads some such pages by itself
		if down := downwards(words); down > 0 {
			return []int{3, 1}
		}
		return []int{1, 3}
	}
	found, known := t.orientation(ctx, picture, perPoint)
	switch {
	case known && found == 0:
		return nil
	case known:
		return []int{found, (found + 2) % 4}
	case lies:
		return []int{1, 3}
	default:
		return []int{2}
	}
}

var rotate = regexp.MustCompile(`(?m)^Rotate: (0|90|180|270)\s*$`)

// orientation returns the quarter turns clockwise that make a picture upright, as
// tesseract detects them. known is false if there is too little text, or if its data for
// that are not installed.
func (t *Tesseract) orientation(ctx context.Context, picture *image.Gray, perPoint float64) (turn int, known bool) {
	out, err := t.run(ctx, picture, perPoint, "--psm", "0")
	m := rotate.FindStringSubmatch(out)
	if err != nil || m == nil {
		return 0, false
	}
	degrees, _ := strconv.Atoi(m[1]) // a number by its pattern
	return degrees / 90, true
}

// sideways reports whether most words of some letters are higher than wide.
func sideways(words []word) bool {
	high, all := 0, 0
	for _, w := range words {
		if letters(w.text) < 3 {
			continue
		}
		all++
		if w.bottom-w.top > w.right-w.left {
			high++
		}
	}
	return high > all/2
}

// downwards counts how many words stand below the word before in their line, less those
// that stand above it.
func downwards(words []word) int {
	n := 0
	for i := 1; i < len(words); i++ {
		switch before, w := words[i-1], words[i]; {
		case before.line != w.line:
		case w.top > before.top:
			n++
		case w.top < before.top:
			n--
		}
	}
	return n
}

// turnedPicture returns a picture turned clockwise by so many quarters.
func turnedPicture(picture *image.Gray, turn int) *image.Gray {
	from := picture.Bounds()
	width, height := from.Dx(), from.Dy()
	if turn == 0 {
		return picture
	}
	to := image.Rect(0, 0, height, width)
	if turn == 2 {
		to = image.Rect(0, 0, width, height)
	}
	out := image.NewGray(to)
	for y := range height {
		row := picture.Pix[picture.PixOffset(from.Min.X, from.Min.Y+y):]
		switch turn {
		case 1:
			for x := range width {
				out.Pix[x*out.Stride+height-1-y] = row[x]
			}
		case 2:
			turned := out.Pix[(height-1-y)*out.Stride : (height-1-y)*out.Stride+width]
			copy(turned, row[:width])
			slices.Reverse(turned)
		default:
			for x := range width {
				out.Pix[(width-1-x)*out.Stride+y] = row[x]
			}
		}
	}
	return out
}

// size returns the size of a page that is turned as the reading is.
func (r reading) size(page knowledge.PageSize) knowledge.PageSize {
	if r.turn%2 == 1 {
		page.Width, page.Height = page.Height, page.Width
	}
	return page
}

// onPage maps lines from the turned page to the page as it is displayed.
func (r reading) onPage(lines []layout.Line, page knowledge.PageSize) []layout.Line {
	if r.turn == 0 {
		return lines
	}
	for i := range lines {
		l := &lines[i]
		l.Turned, l.Words = (4-r.turn)%4, nil // words are of upright lines
		switch b := l.Box; r.turn {
		case 1:
			l.Box = knowledge.Box{X1: b.Y1, Y1: page.Height - b.X2, X2: b.Y2, Y2: page.Height - b.X1}
		case 2:
			l.Box = knowledge.Box{X1: page.Width - b.X2, Y1: page.Height - b.Y2, X2: page.Width - b.X1, Y2: page.Height - b.Y1}
		default:
			l.Box = knowledge.Box{X1: page.Width - b.Y2, Y1: b.X1, X2: page.Width - b.Y1, Y2: b.X2}
		}
	}
	return lines
}
