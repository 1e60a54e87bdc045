package ocr

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/cairn-rag/cairn/internal/extract/charset"
	"github.com/cairn-rag/cairn/internal/extract/layout"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

const (
	// sureOfPage is the confidence, 0..100, above which the words of a page are taken
	// as they are. On other pages, which may be photographs, only those above
	// sureOfWord count.
	sureOfPage = 60
	sureOfWord = 75
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

// parse reads the words from tesseract's table. It leaves out words without a letter
// or digit in lines of nothing else, which are drawings.
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
	return credible(words)
}

// credible leaves out words that are probably none.
func credible(words []word) []word {
	sum, weight := 0.0, 0.0
	for _, w := range words {
		n := float64(letters(w.text))
		sum, weight = sum+n*w.sure, weight+n
	}
	sure := weight > 0 && sum/weight >= sureOfPage
	var kept []word
	for start := 0; start < len(words); {
		end := start
		for end < len(words) && words[end].line == words[start].line {
			end++
		}
		line := slices.DeleteFunc(slices.Clone(words[start:end]), func(w word) bool { return !sure && (w.sure < sureOfWord || letters(w.text) < 2) })
		if slices.ContainsFunc(line, func(w word) bool { return letters(w.text) > 0 }) {
			kept = append(kept, line...)
		}
		start = end
	}
	return kept
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
