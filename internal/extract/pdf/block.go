package pdf

import (
	"math"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

const (
	maxHeading   = 200 // code points
	headingRatio = 1.12
)

var item = regexp.MustCompile(`^(?:[•◦▪‣●○■□–—·*-]|\(?\d{1,3}[.)]|\(?[a-z][.)])\s+\S`)

// blocks groups lines into paragraphs, lists and headings.
func blocks(lines []line) []knowledge.Block {
	body, headings := sizes(lines)
	var out []knowledge.Block
	for start := 0; start < len(lines); {
		end := start + 1
		for end < len(lines) && follows(lines[start], lines[end-1], lines[end]) {
			end++
		}
		out = appendBlock(out, block(lines[start:end], body, headings))
		start = end
	}
	return out
}

// appendBlock adds a block; items of a list that stand one after the other
// become one list.
func appendBlock(out []knowledge.Block, b knowledge.Block) []knowledge.Block {
	if len(out) == 0 || b.Kind != knowledge.BlockList || out[len(out)-1].Kind != knowledge.BlockList {
		return append(out, b)
	}
	last := &out[len(out)-1]
	offset := utf8.RuneCountInString(last.Text) + 1
	last.Text += "\n" + b.Text
	for _, l := range b.Lines {
		l.Start += offset
		l.End += offset
		last.Lines = append(last.Lines, l)
	}
	return out
}

// follows reports whether next goes on with the block that began with first.
func follows(first, last, next line) bool {
	if next.turned != last.turned || math.Abs(next.size-last.size) > .1*last.size || next.bold != last.bold && isItem(next) {
		return false
	}
	if next.page != last.page {
		return continues(last, next)
	}
	a, b := last.upbox, next.upbox
	tall := math.Max(height(a), height(b))
	if overlap(a.Y1, a.Y2, b.Y1, b.Y2) > .5 { // the same row
		return b.X1-a.X2 < 30*tall
	}
	gap := b.Y1 - a.Y2
	return !isItem(next) && next.bold == last.bold && gap < .6*tall && gap > -.8*tall && overlap(a.X1, a.X2, b.X1, b.X2) > .1
}

// continues reports whether a paragraph goes on over the end of a page: it
// breaks off in mid sentence there.
func continues(last, next line) bool {
	end, _ := utf8.DecodeLastRuneInString(last.text)
	begin, _ := utf8.DecodeRuneInString(next.text)
	return next.page == last.page+1 && unicode.IsLower(begin) && (unicode.IsLower(end) || end == ',' || last.hyphen) && len(last.text) > 20
}

func isItem(l line) bool { return item.MatchString(l.text) }

// block joins lines to the text of one block.
func block(lines []line, body float64, headings []float64) knowledge.Block {
	b := knowledge.Block{Kind: knowledge.BlockParagraph}
	var text strings.Builder
	at := 0 // code points so far
	for i, l := range lines {
		s := l.text
		if i+1 < len(lines) && joins(l, lines[i+1]) {
			s = strings.TrimSuffix(s, "-")
		}
		if i > 0 && !joins(lines[i-1], l) && spaced(lines[i-1].text, s) {
			text.WriteByte(' ')
			at++
		}
		text.WriteString(s)
		n := utf8.RuneCountInString(s)
		b.Lines = append(b.Lines, knowledge.Line{Start: at, End: at + n, Page: l.page, Box: l.box})
		at += n
	}
	b.Text = text.String()
	switch {
	case isItem(lines[0]) && len(lines) < 40 && lines[0].size < headingRatio*body:
		b.Kind = knowledge.BlockList
	case isHeading(lines, b.Text, body):
		b.Kind = knowledge.BlockHeading
		b.Level = level(lines[0], headings)
	}
	return b
}

// joins reports whether a word was broken at the end of l and goes on in next.
func joins(l, next line) bool {
	before, broken := strings.CutSuffix(l.text, "-")
	if !broken || before == "" {
		return false
	}
	end, _ := utf8.DecodeLastRuneInString(before)
	begin, _ := utf8.DecodeRuneInString(next.text)
	return unicode.IsLetter(end) && unicode.IsLower(begin)
}

// spaced reports whether a space belongs between two lines: not in scripts that
// have none, and not after a hyphen that stays.
func spaced(before, after string) bool {
	end, _ := utf8.DecodeLastRuneInString(before)
	begin, _ := utf8.DecodeRuneInString(after)
	wide := func(r rune) bool {
		return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer)
	}
	return !(wide(end) && wide(begin)) && !(end == '-' && len(before) > 1 && unicode.IsLetter(begin) && !strings.HasSuffix(before, " -"))
}

func isHeading(lines []line, text string, body float64) bool {
	if len(lines) > 3 || utf8.RuneCountInString(text) > maxHeading || !strings.ContainsFunc(text, unicode.IsLetter) {
		return false
	}
	if lines[0].size >= headingRatio*body {
		return true
	}
	end, _ := utf8.DecodeLastRuneInString(text)
	return lines[0].bold && lines[0].size >= .95*body && len(lines) == 1 && !strings.ContainsRune(".,;:", end)
}

// sizes gives the font size of most of the text, and the larger ones that
// headings have, largest first.
func sizes(lines []line) (body float64, headings []float64) {
	weight := map[float64]int{}
	for _, l := range lines {
		weight[rounded(l.size)] += len(l.text)
	}
	most := 0
	for s, w := range weight {
		if w > most || w == most && s < body {
			body, most = s, w
		}
	}
	for s := range weight {
		if s >= headingRatio*body {
			headings = append(headings, s)
		}
	}
	slices.Sort(headings)
	slices.Reverse(headings)
	return body, headings
}

func rounded(size float64) float64 { return math.Round(size*2) / 2 }

// level ranks a heading by its size; bold text of the body's size comes last.
func level(l line, headings []float64) int {
	rank := slices.Index(headings, rounded(l.size))
	if rank < 0 {
		rank = len(headings)
	}
	return min(rank+1, 6)
}
