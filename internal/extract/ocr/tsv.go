package ocr

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/cairn-rag/cairn/internal/extract/charset"
	"github.com/cairn-rag/cairn/internal/extract/layout"
	"github.com/cairn-rag/cairn/internal/extract/legible"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

const (
	// sureOfPage is the confidence, 0..100, above which the words of a page are taken
	// as they are. On other pages, which may be photographs, only those above
	// sureOfWord count.
	sureOfPage = 60
	sureOfWord = 75
	// sureOfText is the confidence above which the words of a page are of a language.
	sureOfText = 80
	// fewLetters is how many letters tesseract finds in a picture that shows no text.
	fewLetters = 30
	// largeText is how much higher than the others of its page the lines of a heading
	// are.
	largeText = 1.5
)

// word is one word that tesseract found, with its box in pixels.
type word struct {
	text                     string
	line                     [3]int // numbers of the block, the paragraph and the line
	left, top, right, bottom float64
	sure                     float64 // confidence, 0..100
}

// parse reads the words from tesseract's table.
func parse(table string) []word {
	const columns, wordLevel = 12, "5"
	var words []word
	for row := range strings.Lines(table) {
		cells := strings.Split(strings.TrimRight(row, "\r\n"), "\t")
		if len(cells) != columns || cells[0] != wordLevel {
			continue
		}
		text := strings.Join(strings.Fields(charset.Clean(strings.ToValidUTF8(cells[11], ""))), " ")
		var numbers [9]float64 // page, block, paragraph, line, word, left, top, width, height
		for i := range numbers {
			numbers[i], _ = strconv.ParseFloat(cells[1+i], 64) // tesseract writes numbers
		}
		sure, err := strconv.ParseFloat(cells[10], 64)
		if text == "" || err != nil {
			continue
		}
		words = append(words, word{
			text: text, line: [3]int{int(numbers[1]), int(numbers[2]), int(numbers[3])}, sure: sure,
			left: numbers[5], top: numbers[6], right: numbers[5] + numbers[7], bottom: numbers[6] + numbers[8],
		})
	}
	return words
}

// credible leaves out words that are probably none: on a page that tesseract is not sure
// of those that it is not sure of, and words without a letter or digit in lines of nothing
// else, which are drawings. readable is false if the page seems to show text and no words of
// a language are among it.
func credible(words []word) (kept []word, readable bool) {
	sure := sureness(words)
	for start := 0; start < len(words); {
		end := start
		for end < len(words) && words[end].line == words[start].line {
			end++
		}
		line := slices.DeleteFunc(slices.Clone(words[start:end]), func(w word) bool {
			return sure < sureOfPage && (w.sure < sureOfWord || !wordLike(w.text))
		})
		if slices.ContainsFunc(line, func(w word) bool { return letters(w.text) > 0 }) {
			kept = append(kept, line...)
		}
		start = end
	}
	switch all := count(words); {
	case all < fewLetters || sure >= sureOfText:
		return kept, true
	case sure < sureOfPage && 5*count(kept) < all, sure >= sureOfPage && !isText(kept):
		return nil, false
	case sure < sureOfPage:
		return kept, false
	default:
		return kept, true
	}
}

// sureness returns the mean confidence of the letters of words.
func sureness(words []word) float64 {
	sum, weight := 0.0, 0.0
	for _, w := range words {
		n := float64(letters(w.text))
		sum, weight = sum+n*w.sure, weight+n
	}
	return sum / max(weight, 1)
}

// count returns the number of letters and digits in words.
func count(words []word) int {
	n := 0
	for _, w := range words {
		n += letters(w.text)
	}
	return n
}

func isText(words []word) bool {
	var texts []string
	for _, w := range words {
		texts = append(texts, w.text)
	}
	return legible.Words(texts)
}

// wordLike reports whether a text can be a word or a number that tells something: not the
// two letters that it finds in any drawing.
func wordLike(text string) bool {
	n := 0
	for _, r := range text {
		switch {
		case unicode.IsLetter(r) && !unicode.In(r, unicode.Latin, unicode.Greek, unicode.Cyrillic), unicode.IsDigit(r):
			return letters(text) > 1
		case unicode.IsLetter(r):
			n++
		}
	}
	return n > 2
}

func letters(s string) int {
	n := 0
	for _, r := range s {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			n++
		}
	}
	return n
}

// lines makes lines of words.
func (t *Tesseract) lines(words []word, perPoint float64, size knowledge.PageSize) []layout.Line {
	var lines []layout.Line
	var last [3]int
	for _, w := range words {
		box := knowledge.Box{
			X1: max(0, w.left/perPoint), Y1: max(0, w.top/perPoint),
			X2: min(size.Width, w.right/perPoint), Y2: min(size.Height, w.bottom/perPoint),
		}
		if box.X1 >= box.X2 || box.Y1 >= box.Y2 {
			continue
		}
		n := len([]rune(w.text))
		if len(lines) > 0 && w.line == last {
			l := &lines[len(lines)-1]
			start := len([]rune(l.Text)) + 1
			l.Text += " " + w.text
			l.Box = l.Box.Union(box)
			l.Words = append(l.Words, layout.Word{Start: start, End: start + n, X1: box.X1, X2: box.X2})
			continue
		}
		if len(lines) == 0 || w.line[0] != last[0] || w.line[1] != last[1] {
			t.elements++
		}
		lines = append(lines, layout.Line{
			Text: w.text, Page: size.Page, Box: box, Role: layout.Role{Element: t.elements},
			Words: []layout.Word{{End: n, X1: box.X1, X2: box.X2}},
		})
		last = w.line
	}
	t.markItems(lines)
	markHeadings(lines)
	return lines
}

// markItems makes elements of the items of a list that tesseract takes to be one
// paragraph.
func (t *Tesseract) markItems(lines []layout.Line) {
	before := 0
	for i := range lines {
		own := lines[i].Role.Element
		switch {
		case own == before && layout.IsItem(lines[i].Text):
			t.elements++
			lines[i].Role.Element = t.elements
		case own == before:
			lines[i].Role.Element = lines[i-1].Role.Element
		}
		before = own
	}
}

// markHeadings makes headings of paragraphs of one or two lines that are much higher
// than the others of the page.
func markHeadings(lines []layout.Line) {
	var heights []float64
	for _, l := range lines {
		heights = append(heights, l.Box.Y2-l.Box.Y1)
	}
	slices.SortFunc(heights, cmp.Compare)
	for start := 0; start < len(lines); {
		end, low := start, lines[start].Box.Y2-lines[start].Box.Y1
		for end < len(lines) && lines[end].Role.Element == lines[start].Role.Element {
			low = min(low, lines[end].Box.Y2-lines[end].Box.Y1)
			end++
		}
		if end-start <= 2 && len(lines) > 4 && low >= largeText*heights[len(heights)/2] && letters(lines[start].Text) > 2 {
			for i := range lines[start:end] {
				lines[start+i].Role.Kind, lines[start+i].Role.Level = knowledge.BlockHeading, 2
			}
		}
		start = end
	}
}
